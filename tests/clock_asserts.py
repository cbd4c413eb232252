"""Test code → the lines whose `assert` depends on how fast the machine is.

    clock_asserts(ast.parse("assert perf_counter() - began < 1"))   → [1]

Found are comparisons of a clock's reading, of a difference of readings, and of what was assigned,
collected or returned from one. A loop that waits for something and gives up at a late hour is no
measurement: `assert time.monotonic() < late` is allowed inside `while`. What is handed to a call
is that call's affair: `forget(items, time.time())` compares what it returns.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["clock_asserts"]

_KINDS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
_CLOCKS = {
    "time": frozenset({*_KINDS, *(f"{kind}_ns" for kind in _KINDS), "clock_gettime"}),
    "os": frozenset({"times"}),
    "resource": frozenset({"getrusage"}),
    "timeit": frozenset({"timeit", "repeat", "default_timer"}),
}
_PASSING = frozenset({"min", "max", "sum", "abs", "round", "float", "int", "sorted", "median"})
_PASSING |= {"mean", "fmean", "total_seconds"}


def clock_asserts(tree: ast.Module) -> list[int]:
    """The lines of such asserts, in order."""
    return sorted(_Readings(tree).asserts())


class _Readings:
    """What holds a clock's reading in a file: names of modules, functions and values."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._modules: dict[str, str] = {}
        self._clocks: set[str] = set()
        self._held: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for name in node.names:
                    if name.name in _CLOCKS:
                        self._modules[name.asname or name.name] = name.name
            elif isinstance(node, ast.ImportFrom) and node.module in _CLOCKS:
                known = _CLOCKS[node.module]
                self._clocks |= {n.asname or n.name for n in node.names if n.name in known}
        before = -1 if self._modules or self._clocks else 0
        while before != len(self._held):  # a name may be taken from another that stands below it
            before = len(self._held)
            for node in ast.walk(tree):
                self._held |= set(self._holding(node))

    def asserts(self) -> Iterator[int]:
        waiting = {
            id(inner)
            for loop in ast.walk(self._tree)
            if isinstance(loop, ast.While)
            for inner in ast.walk(loop)
        }
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Assert):
                for compared in ast.walk(node.test):
                    if isinstance(compared, ast.Compare):
                        sides = (compared.left, *compared.comparators)
                        patient = id(node) in waiting and not any(map(_differs, sides))
                        if not patient and any(map(self._reads, sides)):
                            yield node.lineno
                            break

    def _holding(self, node: ast.AST) -> Iterator[str]:
        """Names that hold a reading because of this line."""
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            if node.value is not None and self._reads(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (name for target in targets for name in _names(target))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            returned = (each.value for each in ast.walk(node) if isinstance(each, ast.Return))
            if any(value is not None and self._reads(value) for value in returned):
                yield f"{node.name}()"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("append", "extend") and any(map(self._reads, node.args)):
                yield from _names(node.func.value)
        elif isinstance(node, ast.For | ast.comprehension) and self._reads(node.iter):
            yield from _names(node.target)

    def _reads(self, value: ast.expr) -> bool:
        """Whether a value is a clock's reading or made from one."""
        match value:
            case ast.Name() | ast.Attribute():
                return any(name in self._held for name in _names(value))
            case ast.BinOp(left=left, right=right):
                return self._reads(left) or self._reads(right)
            case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
                return self._reads(inner)
            case ast.Starred(value=inner) | ast.NamedExpr(value=inner):
                return self._reads(inner)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return any(map(self._reads, parts))
            case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part):
                return self._reads(part)
            case ast.IfExp(body=one, orelse=other):
                return self._reads(one) or self._reads(other)
            case ast.Call(func=called):
                return self._is_clock(called) or self._passes(value)
        return False

    def _is_clock(self, called: ast.expr) -> bool:
        match called:
            case ast.Name(id=name):
                return name in self._clocks or f"{name}()" in self._held
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                known = _CLOCKS.get(self._modules.get(module, ""), frozenset())
                return name in known or f"{name}()" in self._held
        return False

    def _passes(self, call: ast.Call) -> bool:
        """Whether a call hands a reading on, as `min` and `round` do."""
        match call.func:
            case ast.Name(id=name):
                return name in _PASSING and any(map(self._reads, call.args))
            case ast.Attribute(value=of, attr=name):
                return name in _PASSING and (self._reads(of) or any(map(self._reads, call.args)))
        return False


def _names(value: ast.expr) -> Iterator[str]:
    """`began`, `self.began`, and what a tuple holds."""
    match value:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(attr=name):
            yield f".{name}"
        case ast.Subscript(value=inner) | ast.Starred(value=inner):
            yield from _names(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _names(part)


def _differs(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Sub) for node in ast.walk(value))
