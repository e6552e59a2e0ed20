"""A file imports only from lower rows of the design, and heavy packages wait."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "symback"

ROWS = {
    "errors": 0,
    "runtime": 0,
    "noise": 0,
    "signature": 0,
    "own": 0,
    "stop": 0,
    "structure": 0,
    "operation": 1,
    "graph": 1,
    "types": 1,
    "sizes": 1,
    "source": 1,
    "assumptions": 1.5,
    "infer": 1.5,  # lowering infers types while it builds
    "inference": 1.5,
    "interpret": 1.5,
    "operations": 2,
    "lower": 2,
    "transform": 3,
    "passes": 4,
    "emit": 5,
    "run": 6,
    "verify": 7,
    "show": 7,
    "api": 8,
    "adapters": 8,
    "cli": 8,
    "demo": 8,
    "__init__": 9,
    "__main__": 9,
}
"""The first part of a module's name below symback, and its row of the design."""

ONLY_IN = {"sympy": {"verify"}, "mpmath": {"verify"}, "astor": {"source"}}
"""Packages that few rooms may import."""

WITNESSES_DO_NOT_SEE = {"operations", "transform"}
"""What verify/ must not import, or its witnesses would share a mistake."""

TRANSFORMS_DO_NOT_SEE = {"lower"}
"""Transforms know graphs and rules as graphs: neither texts nor what lowers them."""

PUBLIC_NAME = "__init__"


class Import(NamedTuple):
    file: str  # as symback/run/cache.py
    line: int
    room: str  # of the importing file, a key of ROWS
    module: str  # the imported one, in full
    names: tuple[str, ...]  # what is imported from it


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports() -> Iterator[Import]:
    """Give each import of each file, those inside functions and types included."""
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        package = path.relative_to(ROOT).parent.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(name, node.lineno, room_of(path), alias.name, ())
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else ()
                module = ".".join([*base, *filter(None, [node.module])])
                names = tuple(alias.name for alias in node.names)
                yield Import(name, node.lineno, room_of(path), module, names)


def imported_rooms(found: Import) -> list[str]:
    """Return the rooms of symback that an import reaches, none for other packages."""
    parts = found.module.split(".")
    if parts[0] != "symback":
        return []
    if len(parts) > 1:
        return [parts[1]]
    # `from symback import x` is a room's name, or a public name of the package.
    return [n if n in ROWS else PUBLIC_NAME for n in found.names] or [PUBLIC_NAME]


def is_allowed(found: Import, room: str) -> bool:
    if room == PUBLIC_NAME and found.names == ("__version__",):
        return True  # set before anything is imported, and printed into what is emitted
    if room == PUBLIC_NAME and found.room == "demo":
        return True  # the demo is written as a user writes
    if found.room == "verify" and room in WITNESSES_DO_NOT_SEE:
        return False
    if found.room == "transform" and room in TRANSFORMS_DO_NOT_SEE:
        return False
    return ROWS[room] <= ROWS[found.room]


def test_every_file_has_a_row():
    assert sorted({room_of(path) for path in files()} - ROWS.keys()) == []


def test_imports_go_downwards():
    wrong = [
        f"{found.file}:{found.line} imports {found.module} {' '.join(found.names)}"
        for found in imports()
        for room in imported_rooms(found)
        if not is_allowed(found, room)
    ]
    assert wrong == []


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run_time_imports() -> dict[str, set[str]]:
    """Return for each file the files that it imports, wherever in it."""
    paths = {module_of(path): path for path in files()}
    found: dict[str, set[str]] = {}
    for module, path in paths.items():
        found[module] = set()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        package = path.relative_to(ROOT).parent.parts
        for node in ast.walk(tree):
            # An import for types only is none when it runs.
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = []
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = [*package[: len(package) - node.level + 1]]
                home = ".".join([*base, *filter(None, [node.module])])
                full = {f"{home}.{alias.name}" for alias in node.names}
                found[module] |= {m if m in paths else home for m in full}
    return {m: {d for d in ds if d in paths} - {m} for m, ds in found.items()}


def circles(graph: dict[str, set[str]]) -> set[str]:
    """Return the files that reach themselves through their imports."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for other in graph[todo.pop()] - seen:
                seen.add(other)
                todo.append(other)
        return seen

    return {module for module in graph if module in reached(module)}


def test_no_file_reaches_itself_through_its_imports():
    found = circles(run_time_imports())
    assert {m for m in found if not m.startswith("symback.verify")} == set()


def test_a_circle_would_be_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {"b", "c"}


@pytest.mark.parametrize("package", sorted(ONLY_IN))
def test_few_rooms_import(package: str):
    rooms = {f.room for f in imports() if f.module.split(".")[0] == package}
    assert rooms <= ONLY_IN[package]


def test_transforms_see_no_syntax():
    assert "transform" not in {f.room for f in imports() if f.module == "ast"}


def test_a_wrong_import_would_be_found():
    def found(room: str, module: str, *names: str) -> bool:
        one = Import("x.py", 1, room, module, names)
        return all(is_allowed(one, r) for r in imported_rooms(one))

    assert found("emit", "symback.graph", "Graph")
    assert found("emit", "symback", "__version__")
    assert found("emit", "numpy")
    assert not found("graph", "symback.emit", "emit")
    assert not found("graph", "symback", "emit")
    assert not found("emit", "symback", "grad")
    assert not found("verify", "symback.operations.registry", "RULES")
    assert not found("verify", "symback.transform", "vjp")
    assert not found("transform", "symback.lower", "Lowerer")


def imported_by(statement: str) -> set[str]:
    """Return the modules that a new Python holds after a statement."""
    code = f"import sys; {statement}; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return set(done.stdout.split())


HEAVY = {"sympy", "mpmath", "astor", "scipy", "rich", "pygments", "IPython"}


@pytest.mark.parametrize(
    "statement", ["import symback; symback.grad", "import symback.cli"]
)
def test_heavy_packages_wait_until_they_are_used(statement: str):
    assert imported_by(statement) & HEAVY == set()


def test_the_pytest_plugin_brings_nothing_heavy():
    """Every run of pytest loads it, in projects that use no gradient at all, too."""
    plugin = imported_by("import pytest, symback.adapters.pytest_plugin")
    assert (plugin - imported_by("import pytest")) & {*HEAVY, "numpy"} == set()
