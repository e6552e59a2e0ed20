"""Random programs by the thousand: how many are right, refused, caught or wrong.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \\
        python tests/bench/random_programs.py --count 1000 --seed 0 [--keep FOLDER]

prints the tally and, of each fault, the shortest program that still shows it; with
`--keep` they are written into a folder, a file each.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.random_judge import Verdict, judge, still
from tests.random_minimise import minimised
from tests.random_programs import Program, program

FAULTS = ("witness", "wrong", "alarm", "crash", "hang")


def report(found: Program, verdict: Verdict, folder: Path | None) -> None:
    if verdict.kind != "hang":
        found = minimised(found, lambda p: still(p, verdict))
    body = found.text[found.text.index("def loss(") :]
    why = verdict.why.replace("\n", "\n# ")
    text = f"# {verdict.kind}, seed {found.seed}: {why}\n# {found.shared or ''}\n{body}"
    print(f"\n{text}", flush=True)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{verdict.kind}_{found.seed}.py").write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--quick", action="store_true", help="minimise nothing")
    given = parser.parse_args()
    tally: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    checked = 0
    start = time.perf_counter()
    for seed in range(given.seed, given.seed + given.count):
        made = program(seed)
        verdict = judge(made)
        tally[verdict.kind] += 1
        checked += verdict.checked
        if verdict.kind == "refused":
            reasons[re.sub(r"`[^`]*`|\d+", "_", verdict.why)[:110]] += 1
        if verdict.kind in FAULTS:
            if given.quick:
                print(seed, verdict.kind, verdict.why[:300], flush=True)
            else:
                report(made, verdict, given.keep)
    seconds = time.perf_counter() - start
    print(f"\n{given.count} programs, {checked} entries checked, {seconds:.0f} s")
    for kind, count in tally.most_common():
        print(f"{count:6} {kind}")
    for reason, count in reasons.most_common(25):
        print(f"{count:8} refused: {reason}")


if __name__ == "__main__":
    main()
