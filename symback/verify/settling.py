"""The end of a comparison: each row's verdict, what was covered, in which region."""

from __future__ import annotations

import linecache
import math

from .proving import REGIONS
from .result import Branch, Coverage, Row
from .running import Running
from .state import Region

__all__ = ["Settling"]


class Settling(Running):
    """Gives the rows their verdicts."""

    def settle(self) -> None:
        """Give every row its verdict from what was found."""
        for name, row in self.rows.items():
            if row.verdict == "refuted":
                continue
            self.float_finding(name, row)
            if row.verdict == "refuted":
                continue
            count = self.checked.get(name, 0)
            proofs = self.proofs_of(name)
            if name in self.small:
                row.verdict = "agrees"
                row.difference = self.small[name][0]
                row.how = (
                    f"{count or self.tried} points; constants differ by rounding only "
                    f"({self.small[name][0]:.0e})"
                )
            elif proofs and all(proofs) and len(self.regions) <= REGIONS:
                row.verdict = "proved"
                row.how = max(proofs, key=len)
                if len(proofs) > 1:
                    row.how += f", in {len(proofs)} regions"
            elif count:
                row.verdict = "agrees"
                row.how = row.how or f"{self.digits} digits at {count} points"
                done = sum(map(bool, proofs))
                if done:
                    row.how += f"; proved in {done} of {len(self.regions)} regions"
            elif not row.how:
                row.how = self.reason or "no point could be compared"
            if self.nowhere and row.verdict in ("proved", "agrees"):
                row.verdict = "undecided"
                row.how = f"{self.nowhere}; elsewhere: {row.how}"
            self.other_sizes(row)
            self.held_back(row)

    def other_sizes(self, row: Row) -> None:
        """Take back what the small sizes may not say of the caller's."""
        if row.verdict not in ("proved", "agrees") or not self.shrunk.sizes:
            return
        wrong = any(not w.agrees for w in self.result.witnesses)
        seen = bool(self.witnessed) and not wrong
        if self.detour or self.real_only:
            # Directions at the real sizes say that it is right there, at one point.
            reason = self.detour or "other branches run at your sizes"
            row.verdict = "agrees" if seen else "undecided"
            row.how = reason + (", but directions agree" if seen else "")
        elif not seen:
            row.verdict = "undecided"
            row.how += "; at the small sizes, and nothing at yours was compared"
        elif self.witnessed != "90 digits" or self.unsure:
            row.verdict = "agrees"
            row.how += "; at the small sizes"

    def held_back(self, row: Row) -> None:
        """Take back what unreached branches, memory or float64 leave open."""
        if row.verdict == "proved" and self.unreached:
            row.verdict = "agrees"
            row.how += "; a branch of the gradient was not reached"
        if row.verdict in ("proved", "agrees") and self.stateful:
            row.verdict = "undecided"
            row.how += "; it changes what it reads"
        if row.verdict in ("proved", "agrees") and row.float_doubt:
            true, got = row.float_doubt
            row.verdict = "undecided"
            row.how = f"in float64 it is {got:.9g}, exactly {true:.9g}; {row.how}"

    def proofs_of(self, name: str) -> list[str]:
        found = []
        for region in self.regions:
            if name in region.traced.names:
                i = region.traced.names.index(name)
                found.append(region.proofs[i] if region.proofs else "")
        return found

    def float_finding(self, name: str, row: Row) -> None:
        """Refute an entry whose float64 run gives NaN where the truth is a number."""
        if self.shrunk.sizes:
            return
        got = self.float_gradient.get(name)
        if got is None or not math.isnan(got):
            return
        if any(k.name == name for k in self.result.kinks):
            return
        if not self.function_runs(self.values):
            self.result.findings.append(
                f"{name}: NaN in float64, as the value of the function itself"
            )
            return
        row.verdict, row.got = "refuted", got
        row.how = "NaN in float64, where the function is finite"

    def coverage(self) -> Coverage:
        """Return which of the user's comparisons were seen which way."""
        seen: dict[tuple[str, int], set[bool]] = {}
        for region in self.regions:
            for c in region.traced.tape.conditions:
                if c.side == "function" and c.asked not in ("==", "!="):
                    seen.setdefault((c.file, c.line), set()).add(c.answer)
        branches = tuple(
            Branch(file, line, linecache.getline(file, line).strip(), tuple(sorted(v)))
            for (file, line), v in sorted(seen.items())
        )
        return Coverage(branches, self.tried, len(self.regions))

    def describe(self, region: Region) -> tuple[str, ...]:
        """Return the conditions of a region as text, the user's first."""
        texts: dict[str, None] = {}
        for c in region.traced.tape.conditions:
            if c.side == "function" and c.relation != "!=":
                texts.setdefault(c.text())
            if len(texts) >= 40:
                break
        return tuple(texts)

    def open_rows(self) -> str:
        proved = sum(r.verdict == "proved" for r in self.rows.values())
        return f"{proved} of {len(self.rows)} entries proved"
