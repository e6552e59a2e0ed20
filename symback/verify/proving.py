"""Is it right everywhere in a region?  By identity test and by expansion."""

from __future__ import annotations

from .concolic import Concolic
from .deadline import TimedOut, interrupting
from .elements import SymbolicValueError
from .identity import prove
from .judging import Judging
from .state import Region, Step

__all__ = ["REGIONS", "STATEMENTS", "Proving"]

REGIONS = 12
"""Regions proved at most; further points are compared by digits only."""

STATEMENTS = ", statement by statement"
"""Said of proofs whose derivative was taken definition by definition."""

EXPAND_LIMIT = 600
"""Operations of a difference up to which its numerator is expanded."""


class Proving(Judging):
    """Proves what no point has refuted."""

    def prove_regions(self, step: Step) -> None:
        for number, region in enumerate(self.regions[:REGIONS], 1):
            step(f"proving region {number} of {len(self.regions)}")
            self.prove_region(region)

    def prove_region(self, region: Region) -> None:
        open_rows = [
            i
            for i, n in enumerate(region.traced.names)
            if self.rows[n].verdict != "refuted" and n not in self.small
        ]
        region.proofs = [""] * len(region.traced.names)
        pairs = [(region.symbolic[i], region.traced.gradient[i]) for i in open_rows]
        if not pairs or self.result.failure:
            return
        self.identities(region, open_rows, pairs, region.way)
        rest = [i for i in open_rows if not region.proofs[i]]
        if rest and not region.way:
            # Written out, SymPy has moved things around; definitions stay as they are.
            from .expressions import chain_gradient

            traced = region.traced
            chain = chain_gradient(traced.loss, traced.inputs)
            pairs_left = [(chain[i], traced.gradient[i]) for i in rest]
            self.identities(region, rest, pairs_left, STATEMENTS)
        for i, (s, g) in zip(open_rows, pairs, strict=True):
            self.clock.check()
            if not region.proofs[i] and s.size + g.size <= EXPAND_LIMIT:
                region.proofs[i] = _expanded(s, g, min(5.0, self.clock.left / 2))

    def identities(
        self,
        region: Region,
        which: list[int],
        pairs: list[tuple[Concolic, Concolic]],
        way: str,
    ) -> None:
        """Note which entries the identity test proves."""
        found = prove(pairs, self.clock.share(10.0, 0.6))
        for i, identity in zip(which, found, strict=True):
            if identity.proved and identity.trials == 0:
                region.proofs[i] = "the same expression" + way
            elif identity.proved:
                error = max(identity.error, 1e-300)
                region.proofs[i] = f"identity test, error < {error:.0e}" + way


def _expanded(s: Concolic, g: Concolic, seconds: float) -> str:
    """Prove a difference zero by expanding its numerator, under a deadline."""
    import sympy as sp

    try:
        with interrupting(seconds):
            difference = s.expr - g.expr
            if difference == 0:
                return "the same expression"
            if sp.expand(sp.numer(sp.together(difference))) == 0:
                return "expanded numerator"
    except (TimedOut, SymbolicValueError, RecursionError, ValueError, TypeError):
        return ""
    return ""
