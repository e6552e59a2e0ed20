"""From nodes to statements: what runs, in which order, and which variables it sets."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..errors import Span
from ..graph import UNDEFINED, Arg, Block, Node, Value, leaves
from ..passes.kinds import Kinds
from .expressions import Expressions
from .inline import Plan
from .tree import (
    Break,
    Do,
    For,
    If,
    Move,
    Names,
    Pair,
    Return,
    Set,
    Statement,
    Variable,
    While,
    mask_of,
)
from .walk import Loops

__all__ = ["Builder"]


class Builder:
    """Builds the statements of a graph, with a variable for each value that needs one.

    After `build`, `statements` is the body, `variables` are all variables, and `starts`
    maps each top-level node to the index of its first statement.
    """

    def __init__(self, loops: Loops, plan: Plan, kinds: Kinds, scalars: str) -> None:
        self.graph = loops.graph
        self.loops = loops
        self.plan = plan
        self.names = Names()
        self.kinds = kinds
        self.variables: list[Variable] = []
        self.numbers: dict[Value, int] = {}
        self.statements: list[Statement] = []
        self.starts: list[int] = []
        self.depth = 0
        self.expressions = Expressions(
            self.names, plan, self.kinds, self.number, scalars
        )

    def build(self) -> None:
        """Build the statements of the whole graph."""
        for param in self.graph.params:
            self.numbers[param.value] = self._new(param.name, 3)
        for node in self.graph.block.nodes:
            self.starts.append(len(self.statements))
            self._node(node, self.statements)
        self.starts.append(len(self.statements))
        result = self.graph.result
        span = self._span_of(result)
        self.statements.append(Return(self.expressions.arg(result), span))
        for value, item in self.loops.taken.items():
            item = self.plan.resolve(item)
            if value in self.numbers and isinstance(item, Value):
                self.variables[self.numbers[value]].like = self.numbers.get(item)

    def number(self, value: Value) -> int:
        """Return the number of the variable that holds a value."""
        if value not in self.numbers:
            name = value.name
            rank = 0 if name is None else 1 if name.endswith(("_bar", "_dot")) else 2
            self.numbers[value] = self._new(name, rank)
        return self.numbers[value]

    def _new(self, name: str | None, rank: int) -> int:
        self.variables.append(Variable(name, rank))
        return len(self.variables) - 1

    def _span_of(self, arg: Arg) -> Span | None:
        """Return the place of an expression that is printed where it is used."""
        value = self.plan.resolve(arg)
        if isinstance(value, Value) and value in self.plan.inlined:
            return self._span(self.plan.nodes[value])
        return None

    def _span(self, node: Node) -> Span | None:
        """Return a node's place, or that of the first part printed inside it."""
        if node.span is not None:
            return node.span
        for value in node.inputs:
            span = self._span_of(value)
            if span is not None:
                return span
        return None

    # Blocks

    def _block(
        self, block: Block, collected: Sequence[tuple[int, Arg]] = ()
    ) -> list[Statement]:
        """Return the statements of a nested block.

        Items to collect are appended to their lists (variable, item) as soon as they
        exist, so that they need not outlive the next assignment; tuples of items at the
        end, or at the beginning when they are of before the iteration.
        """
        body: list[Statement] = []
        waiting = [(number, self.plan.resolve(item)) for number, item in collected]
        made = {v for node in block.nodes for v in node.outs}
        last = []
        for number, item in waiting:
            if made.isdisjoint(leaves(item)):
                self._append(number, item, None, body)
            elif isinstance(item, tuple):
                last.append((number, item))
        for node in block.nodes:
            self._node(node, body)
            for number, item in waiting:
                if isinstance(item, Value) and item in node.outs:
                    self._append(number, item, node.span, body)
        for number, item in last:
            self._append(number, item, None, body)
        return body

    def _append(
        self, number: int, item: Arg, span: Span | None, body: list[Statement]
    ) -> None:
        append = ast.Attribute(self.names.variable(number), "append", ast.Load())
        call = ast.Call(append, [self.expressions.arg(item)], [])
        body.append(Do(ast.Expr(call), span))

    def _used(self, value: Value) -> bool:
        return self.plan.uses[value] > 0

    def _node(self, node: Node, body: list[Statement]) -> None:
        if node in self.plan.dead:
            return
        if node.outs and all(
            out in self.plan.inlined or out in self.plan.same for out in node.outs
        ):
            return
        if node.op == "if" and node not in self.plan.branches:
            self._if(node, body)
        elif node.op == "for":
            self._for(node, body)
        elif node.op == "while":
            self._while(node, body)
        elif node.op in ("setitem", "index_add", "list_append", "list_pop"):
            self._mutation(node, body)
        elif node.op == "assert":
            condition, *message = map(self.expressions.arg, node.args)
            text = message[0] if message else None
            if isinstance(text, ast.Constant) and text.value is None:
                text = None
            body.append(Do(ast.Assert(condition, text), node.span))
        elif node.op in ("set_attribute", "set_item"):
            owner, key, value = node.args
            place: ast.expr
            if node.op == "set_item":
                place = self.expressions.subscript(
                    self.expressions.arg(owner), key, ast.Store()
                )
            else:
                place = ast.Attribute(self.expressions.arg(owner), key, ast.Store())
            stored = ast.Assign([place], self.expressions.arg(value))
            body.append(Do(stored, node.span))
        elif node.op == "raise":
            body.append(Do(ast.Raise(self.expressions.arg(node.args[0])), node.span))
        else:
            value = self.expressions.node(node)
            span = self._span(node)
            if not any(map(self._used, node.outs)):
                body.append(Do(ast.Expr(value), span))
                return
            targets = [
                self.number(out) if self._used(out) else None for out in node.outs
            ]
            scalar = all(map(self.kinds.is_scalar, (*node.outs, *node.args[:1])))
            body.append(Set(targets, value, span, scalar))

    def _mutation(self, node: Node, body: list[Statement]) -> None:
        """Take the first argument over and change it in place."""
        arg = self.expressions.arg
        changed = node.args[0]
        target = self.number(node.outs[0])
        span = self._span(node)
        pair = Pair(target, arg(changed), self._span_of(changed) or span)
        body.append(Move([pair], first=True))

        def name() -> ast.expr:
            return self.names.variable(target)

        if node.op == "list_pop":
            pop = ast.Call(ast.Attribute(name(), "pop", ast.Load()), [], [])
            item = node.outs[1]
            if self._used(item):
                body.append(Set([self.number(item)], pop, span))
            else:
                body.append(Do(ast.Expr(pop), span))
            return
        if node.op == "list_append":
            append = ast.Attribute(name(), "append", ast.Load())
            call = ast.Call(append, [arg(node.args[1])], [])
            body.append(Do(ast.Expr(call), span))
            return
        _, index, value = node.args
        index = self.plan.resolve(self.expressions.index(changed, index))
        store: ast.Name | ast.Subscript
        store = self.expressions.subscript(name(), index, ast.Store())
        made: ast.stmt
        if (
            node.op == "index_add"
            and index is Ellipsis
            and self.kinds.is_array(changed)
        ):
            # All entries of an array: `x += v` where `x[...] += v` would say the same.
            store = self.names.variable(target, store=True)
        if node.op == "setitem":
            made = ast.Assign([store], arg(value))
        elif self._adds_in_place(changed, index, value):
            made = ast.AugAssign(store, ast.Add(), arg(value))
        elif self.kinds.is_list(changed) or self.kinds.is_integer(index):
            # `l[i] += v` would add into an array that others may hold, too.
            read = self.expressions.subscript(name(), index)
            made = ast.Assign([store], ast.BinOp(read, ast.Add(), arg(value)))
        else:
            at = self.expressions.dotted("np.add.at")
            parts = [name(), self.expressions.arg(index), arg(value)]
            made = ast.Expr(ast.Call(at, parts, []))
        body.append(Do(made, span))

    def _adds_in_place(self, changed: Arg, index: Arg, value: Arg) -> bool:
        """Return whether ``x[i] += v`` adds to what x holds, once for each index."""
        if self.kinds.is_list(changed):
            return self.kinds.is_scalar(value)
        if self.kinds.is_integer(index):
            # Of a list, this would change the item; nothing else is a list here.
            return self.kinds.is_array(changed)
        known = index.type if isinstance(index, Value) else None
        mask = known is not None and known.kind == "array" and known.dtype == "bool"
        return mask or self.kinds.is_basic(index)

    # Control flow

    def _is_scalar(self, value: Arg) -> bool:
        """Return whether a value is a number made from a number."""
        value = self.plan.resolve(value)
        if not isinstance(value, Value) or value not in self.plan.inlined:
            return False
        first = self.plan.nodes[value].args[:1]
        return all(map(self.kinds.is_scalar, (value, *first)))

    def _pairs(
        self, targets: Sequence[int | None], values: Sequence[Arg]
    ) -> list[Pair]:
        return [
            Pair(
                target,
                None if value is UNDEFINED else self.expressions.arg(value),
                self._span_of(value),
                self._is_scalar(value),
            )
            for target, value in zip(targets, values, strict=True)
            if target is not None
        ]

    def _if(self, node: Node, body: list[Statement]) -> None:
        test = self.expressions.arg(node.args[0])
        outs = [self.number(out) if self._used(out) else None for out in node.outs]
        then, orelse = (
            [*self._block(block), Move(self._pairs(outs, block.results))]
            for block in node.blocks
        )
        catch = None
        if "catch" in node.kwargs:
            names = [self._exception(name) for name in node.kwargs["catch"]]
            catch = names[0] if len(names) == 1 else ast.Tuple(names, ast.Load())
        body.append(If(test, then, orelse, self._span(node), catch))

    def _exception(self, name: str) -> ast.expr:
        """Return the name of an exception class."""
        if name.startswith("builtins."):
            return self.names.builtin(name.removeprefix("builtins."))
        return self.expressions.dotted(name)

    def _carry(self, node: Node, body: list[Statement]) -> list[int]:
        """Give each carried value one variable, and set those before the loop."""
        inits = node.args[-1]
        outs = node.outs[: len(inits)]
        carried = []
        for position, out in enumerate(outs):
            parameters = [b.params[len(b.params) - len(inits) + position]
                          for b in node.blocks]  # fmt: skip
            named = next((v for v in (*parameters[::-1], out) if v.name), parameters[0])
            number = self.number(named)
            self.numbers.update(dict.fromkeys((*parameters, out), number))
            carried.append(number)
        body.append(Move(self._pairs(carried, inits)))
        return carried

    def _collected(self, node: Node, body: list[Statement]) -> list[tuple[int, Arg]]:
        """Begin the lists that a loop collects in; return them with their items."""
        count = len(node.args[-1])
        results = node.blocks[-1].results[1 if node.kwargs.get("breaks") else 0 :]
        found: list[tuple[int, Arg]] = []
        for out, item in zip(node.outs[count:], results[count:], strict=True):
            if not self._used(out):
                continue
            number = self.number(out)
            variable = self.variables[number]
            if variable.name is None:
                base = getattr(self.plan.resolve(item), "name", None)
                variable.name = f"{base}_saved" if base else "saved"
                variable.rank = 1
            body.append(Set([number], ast.List([], ast.Load())))
            found.append((number, item))
        return found

    def _finish(
        self, node: Node, carried: list[int], lists: list[tuple[int, Arg]]
    ) -> list[Statement]:
        """Return the body of a loop with what ends each iteration."""
        block = node.blocks[-1]
        breaks = bool(node.kwargs.get("breaks"))
        body = self._block(block, lists)
        nexts = block.results[breaks : breaks + len(carried)]
        test = self.expressions.arg(block.results[0]) if breaks else None
        params = block.params[len(block.params) - len(carried) :]
        moving = [
            number
            for number, param, new in zip(carried, params, nexts, strict=True)
            if self.plan.resolve(new) is not param
        ]
        if test is not None and self.names.used(test) & mask_of(moving):
            # The flag is of the old values: read it before they move on.
            number = self._new("stop", 1)
            body.append(Set([number], test, self._span_of(block.results[0])))
            test = self.names.variable(number)
        body.append(Move(self._pairs(carried, nexts)))
        if test is not None and block.results[0] is not False:
            body.append(Break(None if block.results[0] is True else test))
        return body

    def _for(self, node: Node, body: list[Statement]) -> None:
        (start, stop, step), elements, _ = node.args
        reverse = bool(node.kwargs.get("reverse"))
        block = node.blocks[0]
        index, *walked = block.params[: 1 + len(elements)]
        arg, builtin = self.expressions.arg, self.names.builtin
        bounds = [start, stop, step]
        if not isinstance(step, Value) and step == 1:
            bounds.pop()
            if not isinstance(start, Value) and start == 0:
                bounds = [stop]
        lists = [
            (param, items)
            for param, items in zip(walked, elements, strict=True)
            if any(map(self._used, self.loops.targets(param)))
        ]
        iters: list[ast.expr] = []
        targets: list[int | list[int]] = []
        whole = bool(lists) and bool(node.kwargs.get("whole"))
        if self._used(index) and whole:
            self.numbers[index] = self._new(index.name or "ijk"[min(self.depth, 2)], 1)
            targets.append(self.numbers[index])
        elif self._used(index) or not lists:
            iters.append(self.expressions.call(builtin("range"), bounds, {}))
            name = index.name or "ijk"[min(self.depth, 2)]
            if self._used(index):
                number = self._new(name, 2 if index.name else 1)
            else:
                number = self._new("_", -1)
            self.numbers[index] = number
            targets.append(number)
        for param, items in lists:
            iters.append(arg(items))
            if param in self.loops.unpacked:
                targets.append(
                    [
                        self._new("_", -1)
                        if value is None or not self._used(value)
                        else self.number(value)
                        for value in self.loops.unpacked[param]
                    ]
                )
            else:
                targets.append(self.number(param))
        if reverse:
            iters = [ast.Call(builtin("reversed"), [i], []) for i in iters]
        walk = iters[0]
        if self._used(index) and whole:
            walk = ast.Call(builtin("enumerate"), iters, [])
        elif len(iters) > 1:
            walk = ast.Call(builtin("zip"), iters, [])
        carried = self._carry(node, body)
        collected = self._collected(node, body)
        self.depth += 1
        inner = self._finish(node, carried, collected)
        self.depth -= 1
        body.append(For(targets, walk, inner, self._span(node)))

    def _while(self, node: Node, body: list[Statement]) -> None:
        carried = self._carry(node, body)
        collected = self._collected(node, body)
        condition = node.blocks[0]
        head = self._block(condition)
        test = self.expressions.arg(condition.results[0])
        inner = self._finish(node, carried, collected)
        body.append(While(head, test, inner, self._span(node)))
