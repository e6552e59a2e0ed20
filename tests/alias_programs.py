"""Random programs of names that share: choices, views of views, lists, swaps, loops.

`program(seed)` writes the text of a function `loss(x, c)` of two arrays of three.
"""

from __future__ import annotations

import random

__all__ = ["program"]

HEADER = "import numpy as np\n\n\n"


class Writer:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.n = 0

    def emit(self, d, t):
        self.lines.append("    " * d + t)

    def fresh(self, p):
        self.n += 1
        return f"{p}{self.n}"

    def num(self):
        return repr(round(self.r.uniform(0.2, 0.9), 2))

    def one(self, S):
        return self.r.choice(S["a"])

    def cond(self, S):
        r = self.r
        c = [
            f"x[{r.randrange(3)}] > {self.num()}",
            f"{r.choice(S['a'])}[{r.randrange(3)}] > {self.num()}",
        ]
        if S["k"]:
            c += [
                f"{r.choice(S['k'])} > {r.randrange(2)}",
                f"{r.choice(S['k'])} == 1",
            ] * 2
        return r.choice(c)

    def index(self, S):
        r = self.r
        if S["k"] and r.random() < 0.6:
            return r.choice(S["k"])
        return r.choice(
            [
                "0",
                "1",
                "2",
                "-1",
                f"int(x[{r.randrange(3)}] > {self.num()})",
                "int(np.argmax(x))",
            ]
        )

    def number(self, S):
        r = self.r
        return r.choice(
            [
                f"x[{r.randrange(3)}]",
                f"{r.choice(S['a'])}[{self.index(S)}]",
                f"x[{r.randrange(3)}] * {self.num()}",
                f"np.sin({r.choice(S['a'])}[{r.randrange(3)}])",
            ]
        )

    def fresh_array(self, S):
        r = self.r
        a = r.choice(S["a"])
        return r.choice(
            [
                f"{a} * {self.num()}",
                f"np.sin({a})",
                f"{a} + {self.num()} * x",
                f"{a}.copy()",
                "np.zeros(3)",
                f"np.array([{self.number(S)}, {self.num()}, {self.number(S)}])",
            ]
        )

    def ref(self, S):
        """An expression that refers to an array of length 3 that there is."""
        r = self.r
        a, b = r.choice(S["a"]), r.choice(S["a"])
        c = [
            a,
            f"({a} if {self.cond(S)} else {b})",
            f"({a} if {self.cond(S)} else {b})",
            f"{a}[::-1]",
            f"{a}[:]",
        ]
        if S["M"]:
            M = r.choice(S["M"])
            c += [
                f"{M}[{self.index(S)}]",
                f"{M}[:, {self.index(S)}]",
                f"{M}.T[{self.index(S)}]",
                f"{M}.reshape(-1)[3:6]",
                f"{M}.ravel()[::3]",
                f"np.swapaxes({M}, 0, 1)[1]",
            ]
        if S["L"]:
            L = r.choice(S["L"])
            c += [f"{L}[{self.index(S)}]"] * 3 + [f"max({L}, key=lambda r: np.sum(r))"]
        if S["D"]:
            c += [f"{r.choice(S['D'])}['{r.choice('uv')}']"]
        return r.choice(c)

    def write(self, S, d):
        r = self.r
        a = r.choice(S["a"])
        t = r.choice(S["a"] + [a])
        v = self.number(S)
        forms = [
            f"{a}[{self.index(S)}] = {v}",
            f"{a}[{self.index(S)}] += {v}",
            f"{a} += {self.num()} * {t}",
            f"{a} *= {self.num()}",
            f"{a}[1:] = {t}[:-1].copy() * {self.num()}",
            f"{a}[:] = {self.fresh_array(S)}",
            f"np.multiply({a}, {self.num()}, out={a})",
            f"{a}[[0, -1]] = {v}",
        ]
        if S["M"]:
            M = r.choice(S["M"])
            forms += [
                f"{M}[{self.index(S)}] = {a}",
                f"{M}[{self.index(S)}] += {v}",
                f"{M}.T[{self.index(S)}] *= {self.num()}",
                f"{M} *= {self.num()}",
                f"{M}.ravel()[1] = {v}",
            ]
        if S["L"]:
            L = r.choice(S["L"])
            forms += [
                f"{L}[{self.index(S)}] += {v}",
                f"{L}[{self.index(S)}][{r.randrange(3)}] = {v}",
                f"{L}[{self.index(S)}] = {a}",
                f"{L}[{self.index(S)}] = {self.fresh_array(S)}",
            ] * 2
        if S["D"]:
            D = r.choice(S["D"])
            k = r.choice("uv")
            forms += [
                f"{D}['{k}'] = {a}",
                f"{D}['{k}'] *= {self.num()}",
                f"{D}['{k}'][1] = {v}",
            ]
        self.emit(d, r.choice(forms))

    def statement(self, S, d, loop):
        r = self.r
        c = r.random()
        if c < 0.30:
            self.write(S, d)
        elif c < 0.42:
            n = self.fresh("w")
            self.emit(d, f"{n} = {self.ref(S)}")
            S["a"] = S["a"] + [n]
        elif c < 0.47:
            n = self.fresh("w")
            self.emit(d, f"{n} = {self.fresh_array(S)}")
            S["a"] = S["a"] + [n]
        elif c < 0.56:
            name = r.choice(S["a"])
            made = self.ref(S) if r.random() < 0.6 else self.fresh_array(S)
            self.emit(d, f"{name} = {made}")
        elif c < 0.60 and len(S["a"]) > 1:
            p, q = r.sample(S["a"], 2)
            self.emit(d, f"{p}, {q} = {q}, {p}")
        elif c < 0.65:
            n = self.fresh("L")
            k = r.choice([2, 3])
            items = ", ".join(
                r.choice([r.choice(S["a"]), self.fresh_array(S)]) for _ in range(3)
            )
            self.emit(d, f"{n} = [{items}]")
            S["L"] = S["L"] + [n]
        elif c < 0.68:
            n = self.fresh("D")
            self.emit(
                d, f"{n} = {{'u': {r.choice(S['a'])}, 'v': {self.fresh_array(S)}}}"
            )
            S["D"] = S["D"] + [n]
        elif c < 0.71:
            n = self.fresh("M")
            self.emit(
                d,
                f"{n} = np.outer({self.one(S)}, {self.one(S)}) + {self.num()}",
            )
            S["M"] = S["M"] + [n]
        elif c < 0.74 and S["M"]:
            n = self.fresh("M")
            M, N = r.choice(S["M"]), r.choice(S["M"])
            either = f"({M} if {self.cond(S)} else {N})"
            views = [f"{M}.T", M, f"{M}[::-1]", f"{M}.T.copy()", either]
            self.emit(d, f"{n} = {r.choice(views)}")
            S["M"] = S["M"] + [n]
        elif c < 0.77 and len(S["L"]) > 0:
            n = self.fresh("L")
            self.emit(
                d, f"{n} = {r.choice(S['L'])} if {self.cond(S)} else {r.choice(S['L'])}"
            )
            S["L"] = S["L"] + [n]
        elif c < 0.88 and d < 4:
            self.emit(d, f"if {self.cond(S)}:")
            self.block(S, d + 1, loop)
            if r.random() < 0.5:
                self.emit(d, "else:")
                self.block(S, d + 1, loop)
        elif c < 0.97 and d < 3:
            k = self.fresh("i")
            T = dict(S)
            if r.random() < 0.75:
                self.emit(d, f"for {k} in range(3):")
            else:
                self.emit(d, f"for {k} in range(len(x)):")
            T["k"] = T["k"] + [k]
            self.block(T, d + 1, True)
        elif loop and d > 1:
            self.emit(d, f"if {self.cond(S)}:")
            self.emit(d + 1, r.choice(["break", "continue"]))
        else:
            self.write(S, d)

    def block(self, S, d, loop):
        T = dict(S)
        for _ in range(self.r.randrange(1, 4)):
            self.statement(T, d, loop)

    def function(self):
        S = {"a": ["a", "b"], "M": [], "L": [], "D": [], "k": []}
        self.emit(1, "a, b = x * 1.0, x * 0.5 + 0.1")
        for _ in range(self.r.randrange(4, 9)):
            self.statement(S, 1, False)
        terms = [
            f"{0.3 + 0.1 * j:.1f} * np.sum(np.sin({a}) * c)"
            for j, a in enumerate(S["a"])
        ]
        terms += [f"np.sum(np.sin({M}))" for M in S["M"]]
        terms += [f"sum(np.sum(np.cos(e) * c) for e in {L})" for L in S["L"]]
        terms += [
            f"np.sum({D}['u'] * c) + np.sum(np.sin({D}['v']) * c)" for D in S["D"]
        ]
        self.emit(1, "return " + " + ".join(terms))
        return HEADER + "def loss(x, c):\n" + "\n".join(self.lines) + "\n"


def program(seed: int) -> str:
    """Return the text of a module that defines `loss(x, c)`."""
    return Writer(seed).function()
