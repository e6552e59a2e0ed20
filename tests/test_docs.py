"""What README.md and docs/ show is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages import outputs, portable, rewritten, timeless

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

LINK = re.compile(r"\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_shows_what_its_code_prints(page: Path, request: pytest.FixtureRequest):
    if request.config.getoption("--update-golden"):
        page.write_text(rewritten(page), encoding="utf-8")
    same = timeless if page.name == "README.md" else portable
    for block, printed in list(outputs(page)):
        assert same(printed) == same(block.body)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path):
    text = page.read_text(encoding="utf-8")
    targets = [m["target"] for m in LINK.finditer(text) if "://" not in m["target"]]
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_readme_shows_function_source_and_comparison_in_one_screen():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    screen = "\n".join(text.splitlines()[:75])
    assert "@symback.differentiable" in screen
    assert "def loss_value_and_grad(" in screen
    assert "proved (4 proved)" in screen
