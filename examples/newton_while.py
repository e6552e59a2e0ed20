"""Differentiate through Newton iterations that stop when they have converged.

The volatility that an option's price implies is the root of the Black-Scholes formula.
Its derivative by the price is known: one over the option's vega.
"""

from __future__ import annotations

import math

import symback


def normal_cdf(z):
    return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))


def normal_pdf(z):
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def d_plus(spot, strike, years, rate, sigma):
    drift = (rate + 0.5 * sigma**2) * years
    return (math.log(spot / strike) + drift) / (sigma * math.sqrt(years))


@symback.differentiable(wrt=("price", "spot"))
def implied_volatility(price, spot, strike, years, rate):
    sigma = 0.5
    step = 1.0
    while abs(step) > 1e-12:
        d1 = d_plus(spot, strike, years, rate, sigma)
        d2 = d1 - sigma * math.sqrt(years)
        discounted = strike * math.exp(-rate * years)
        value = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
        vega = spot * normal_pdf(d1) * math.sqrt(years)
        step = (value - price) / vega
        sigma -= step
    return sigma


def main() -> None:
    at = (11.94, 100.0, 95.0, 0.75, 0.02)
    print(implied_volatility.backward_source)
    print(implied_volatility.check(*at))

    sigma, (by_price, by_spot) = implied_volatility.value_and_grad_fn(*at)
    d1 = d_plus(*at[1:], sigma)
    vega = at[1] * normal_pdf(d1) * math.sqrt(at[3])
    print(f"volatility {sigma:.6f}")
    print(f"by price {by_price:.12f}, 1/vega       {1.0 / vega:.12f}")
    print(f"by spot  {by_spot:.12f}, -delta/vega {-normal_cdf(d1) / vega:.12f}")
    assert math.isclose(by_price, 1.0 / vega, rel_tol=1e-9)
    assert math.isclose(by_spot, -normal_cdf(d1) / vega, rel_tol=1e-9)


if __name__ == "__main__":
    main()
