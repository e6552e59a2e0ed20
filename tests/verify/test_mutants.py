"""Programs with one thing changed: none that differs is called proved."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator

import pytest

from tests.verify.models import MODELS, compared


class Mutate(ast.NodeTransformer):
    """Changes the n-th place that can be changed: + and −, × and ÷, powers, signs."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = 0
        self.done = False

    def mine(self) -> bool:
        self.seen += 1
        self.done = self.done or self.seen - 1 == self.number
        return self.seen - 1 == self.number

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        swaps = {
            ast.Add: ast.Sub,
            ast.Sub: ast.Add,
            ast.Mult: ast.Div,
            ast.Div: ast.Mult,
        }
        if type(node.op) in swaps and self.mine():
            node.op = swaps[type(node.op)]()
        elif isinstance(node.op, ast.Pow) and self.mine():
            node.right = ast.Constant(3)
        elif isinstance(node.op, (ast.Mult, ast.Add, ast.Sub)) and self.mine():
            return node.left
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return node.operand if self.mine() else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return node.value if node.attr == "T" and self.mine() else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, float) and self.mine():
            return ast.Constant(node.value * 1.0001)
        return node


def mutants(source: str) -> Iterator[str]:
    for number in itertools.count():
        mutate = Mutate(number)
        tree = mutate.visit(copy.deepcopy(ast.parse(source)))
        if not mutate.done:
            return
        yield ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize(
    "name", ["tiny", "cross_entropy", "layer_norm", "rosenbrock", "cosine", "gaussian"]
)
def test_no_wrong_mutant_is_proved(name: str) -> None:
    model = MODELS[name]
    verdicts: dict[str, int] = {}
    for source in itertools.islice(mutants(model.source), 0, None, 3):
        found = compared(model, source, points=4)
        verdicts[found.verdict] = verdicts.get(found.verdict, 0) + 1
        # A mutant of what the gradient does not use is right, and may be proved.
        if found.verdict == "proved":
            assert all(w.agrees for w in found.witnesses), source
            assert all(w.difference < 1e-40 for w in found.witnesses), source
    assert verdicts.get("refuted", 0) >= 0.6 * sum(verdicts.values()), verdicts
    assert verdicts.get("undecided", 0) == 0
