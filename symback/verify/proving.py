"""Is it right everywhere in a region?  By identity test and by expansion."""

from __future__ import annotations

from .concolic import Concolic, Condition
from .crossing import across
from .deadline import TimedOut, interrupting
from .elements import SymbolicValueError
from .identity import prove
from .judging import Judging
from .state import Region, Step

__all__ = ["REGIONS", "Proving"]

REGIONS = 12
"""Regions proved at most; further points are compared by digits only."""

FLIPS = 6
"""Signs that a proof takes whose other side is tried."""

EXPAND_LIMIT = 600
"""Operations of a difference up to which its numerator is expanded."""


class Proving(Judging):
    """Proves what no point has refuted."""

    def prove_regions(self, step: Step) -> None:
        """Prove region by region; a sign that a proof takes splits a region in two."""
        number = 0
        self.proving = True
        while number < min(len(self.regions), REGIONS):
            region = self.regions[number]
            number += 1
            step(f"proving region {number} of {len(self.regions)}")
            if region.proofs:
                continue
            if self.prove_region(region):
                self.other_signs(region)

    def prove_region(self, region: Region) -> bool:
        """Prove what is open; return whether a proof has taken signs from digits."""
        open_rows = [
            i
            for i, n in enumerate(region.traced.names)
            if self.rows[n].verdict != "refuted" and n not in self.small
        ]
        region.proofs = [""] * len(region.traced.names)
        pairs = [(region.symbolic[i], region.traced.gradient[i]) for i in open_rows]
        if not pairs or self.result.failure:
            return False
        texts, assumed = self.identities(pairs)
        for which in range(len(region.traced.others)):
            # The other text of the same gradient is right, too, or nothing is proved.
            other = region.traced.others[which]
            more = [(region.symbolic[i], other[i]) for i in open_rows]
            again, signs = self.identities(more)
            texts = [t and a for t, a in zip(texts, again, strict=True)]
            assumed |= signs
        for i, text, (s, g) in zip(open_rows, texts, pairs, strict=True):
            region.proofs[i] = text
            self.clock.check()
            if (
                not text
                and s.size + g.size <= EXPAND_LIMIT
                and not region.traced.others
            ):
                region.proofs[i] = _expanded(s, g, min(5.0, self.clock.left / 2))
        return self.take_signs(region, assumed)

    def take_signs(self, region: Region, assumed: set[int]) -> bool:
        """Make the signs that a proof takes from digits conditions of its region."""
        tape = region.traced.tape
        zero = tape.lift(0)
        nodes = tape.nodes
        known = {(c.left.index, c.right.index) for c in region.conditions}
        new = [
            Condition(
                nodes[i],
                ">" if nodes[i].value > 0 else "<",
                zero,
                ">",
                bool(nodes[i].value > 0),
                False,
                "proof",
                "",
                0,
            )
            for i in sorted(assumed)
            if (i, zero.index) not in known and not nodes[i].constant
        ]
        region.conditions = [*region.conditions, *new]
        return bool(new)

    def other_signs(self, region: Region) -> None:
        """Give points that a proof does not speak for regions of their own."""
        inside: list[dict[str, float]] = []
        outside: list[dict[str, float]] = []
        for numbers in region.visited:
            (inside if region.holds(numbers) else outside).append(numbers)
        region.visited, region.points = inside, len(inside)
        for condition in [c for c in region.conditions if c.side == "proof"][:FLIPS]:
            if len(self.regions) + len(outside) >= REGIONS:
                break
            other = across(condition, region.numbers)
            if other is not None:
                outside.append(other)
        for numbers in outside:
            self.clock.check()
            self.try_numbers(region, numbers)

    def try_numbers(self, region: Region, numbers: dict[str, float]) -> bool:
        """Compare at other inputs; whoever knows the order of things says how."""
        raise NotImplementedError

    def identities(
        self, pairs: list[tuple[Concolic, Concolic]]
    ) -> tuple[list[str], set[int]]:
        """Return how each entry is proved, and the nodes whose sign that takes."""
        texts = []
        assumed: set[int] = set()
        for identity in prove(pairs, self.clock):
            assumed |= identity.assumed
            if not identity.proved:
                texts.append("")
            elif identity.trials == 0:
                texts.append("the same expression")
            else:
                error = max(identity.error, 1e-300)
                texts.append(f"identity test, error < {error:.0e}")
        return texts, assumed


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
