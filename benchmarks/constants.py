"""Every number that a room of the library goes by: found in the source, changed where it is in use, put back.

A number stands at the top of a module, alone or in a tuple, or is the default of a field of a class.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import eigenwell

ROOMS = ("paths", "flow", "ends", "learning", "identification")
SHARE = 0.5
"""Numbers between this and one are shares close to one: what is halved and doubled is what they leave out."""


@dataclass(frozen=True)
class Constant:
    """A number: its module, the class it is a default of or "", its name, its place in a tuple or -1, what it is for."""

    module: str
    owner: str
    name: str
    place: int
    value: float
    reason: str

    def __str__(self) -> str:
        inside = f".{self.owner}" if self.owner else ""
        return f"{self.module}{inside}.{self.name}" + (f"[{self.place}]" if self.place >= 0 else "")

    def times(self, factor: float) -> float:
        """The value that is tried."""
        if factor and SHARE < self.value < 1:
            return 1 - factor * (1 - self.value)
        if isinstance(self.value, int):
            return max(1, round(factor * self.value)) if factor else 0
        return factor * self.value


def constants(rooms: tuple[str, ...] = ROOMS) -> list[Constant]:
    """All of them, in the order of the source."""
    root = Path(eigenwell.__file__).parent
    files = [p for room in rooms for p in (*sorted((root / room).glob("*.py")), root / f"{room}.py") if p.is_file()]
    return [one for path in files for one in _in_file(path, ".".join(path.relative_to(root).with_suffix("").parts))]


def _in_file(path: Path, module: str) -> Iterator[Constant]:
    text = path.read_text(encoding="utf-8")
    for body, owner in ((ast.parse(text).body, ""), *_classes(ast.parse(text))):
        for node, below in zip(body, [*body[1:], None], strict=True):
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if not isinstance(node, ast.AnnAssign if owner else (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            if not _is_number(node.value) or (owner and isinstance(node.value, ast.Tuple)):
                continue
            reason = _reason(node, below, text.splitlines())
            value = eval(compile(ast.Expression(node.value), str(path), "eval"))
            pairs = zip(target.elts, value, strict=True) if isinstance(target, ast.Tuple) else [(target, value)]
            for one, number in pairs:  # A, B = 1, 2
                for k, part in enumerate(number) if isinstance(number, tuple) else [(-1, number)]:
                    yield Constant(module, owner, one.id, k, part, reason)


def _classes(tree: ast.Module) -> list[tuple[list[ast.stmt], str]]:
    return [(node.body, node.name) for node in tree.body if isinstance(node, ast.ClassDef)]


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Tuple) and bool(node.elts) and all(map(_is_number, node.elts))


def _reason(node: ast.stmt, below: ast.stmt | None, lines: list[str]) -> str:
    """The text below it, else the comment behind it, else the comment above it."""
    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
        return " ".join(below.value.value.split())
    behind = lines[node.end_lineno - 1][node.end_col_offset :].strip()
    if behind.startswith("#"):
        return behind.lstrip("# ")
    above = []
    for line in reversed(lines[: node.lineno - 1]):
        if not line.strip().startswith("#"):
            break
        above.insert(0, line.strip().lstrip("# "))
    return " ".join(above)


@contextmanager
def changed(constant: Constant, value: float) -> Iterator[None]:
    """Within this the library goes by another value, wherever the constant was imported to or is a default."""
    undo = list(_fields(constant, value) if constant.owner else _names(constant, value))
    forget()
    try:
        yield
    finally:
        for put_back in reversed(undo):
            put_back()
        forget()


def loaded() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.startswith("eigenwell.") and module]


def forget() -> None:
    """Whatever was computed or compiled by the value before."""
    for module in loaded():
        for value in list(vars(module).values()):
            if callable(getattr(value, "cache_clear", None)):
                value.cache_clear()
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


def _names(constant: Constant, value: float) -> Iterator[Any]:
    home = importlib.import_module(f"eigenwell.{constant.module}")
    old = getattr(home, constant.name)
    new = value if constant.place < 0 else (*old[: constant.place], value, *old[constant.place + 1 :])
    for module in loaded():
        tree = _tree(module)
        imported = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] == constant.module.split(".")[-1]
            for alias in node.names
            if alias.name == constant.name
        }
        for name in imported | ({constant.name} if module is home else set()):
            if vars(module).get(name) is not old and vars(module).get(name) != old:
                continue
            yield _put(module, name, new)
            yield from _defaults(module, tree, name, new)


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _put(place: Any, name: str, value: Any) -> Any:
    """Sets it, and gives the function that sets it back; an object may be frozen, its class and modules are not."""
    frozen = is_dataclass(place) and not isinstance(place, type)
    set_to = partial(object.__setattr__ if frozen else setattr, place, name)
    before = getattr(place, name)
    set_to(value)
    return partial(set_to, before)


def _defaults(module: ModuleType, tree: ast.Module, name: str, value: Any) -> Iterator[Any]:
    """Defaults of functions of the module that are this name: they were bound when the function was made."""
    owners = [(tree.body, module), *((body, getattr(module, owner, None)) for body, owner in _classes(tree))]
    for body, owner in owners:
        for node in body:
            function = inspect.getattr_static(owner, node.name, None) if isinstance(node, ast.FunctionDef) else None
            function = getattr(function, "__func__", inspect.unwrap(function) if callable(function) else function)
            if not isinstance(function, FunctionType):
                continue
            places = [k for k, d in enumerate(node.args.defaults) if isinstance(d, ast.Name) and d.id == name]
            if places and function.__defaults__:
                new = list(function.__defaults__)
                for k in places:
                    new[k] = value
                yield _put(function, "__defaults__", tuple(new))
            keys = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            named = {arg.arg: value for arg, d in keys if isinstance(d, ast.Name) and d.id == name}
            if named:
                yield _put(function, "__kwdefaults__", {**(function.__kwdefaults__ or {}), **named})


def _fields(constant: Constant, value: float) -> Iterator[Any]:
    """The default in the class, in its constructor, and in every object of it that modules hold with that value."""
    kind = getattr(importlib.import_module(f"eigenwell.{constant.module}"), constant.owner)
    yield _put(kind, constant.name, value)
    parameters = list(inspect.signature(kind.__init__).parameters.values())
    given = [p.name for p in parameters if p.default is not p.empty and p.kind is not p.KEYWORD_ONLY]
    if constant.name in given and kind.__init__.__defaults__:
        new = list(kind.__init__.__defaults__)
        new[given.index(constant.name)] = value
        yield _put(kind.__init__, "__defaults__", tuple(new))
    elif constant.name in (kind.__init__.__kwdefaults__ or {}):
        yield _put(kind.__init__, "__kwdefaults__", kind.__init__.__kwdefaults__ | {constant.name: value})
    seen: set[int] = set()
    for module in loaded():
        for held in vars(module).values():
            if type(held) is kind and id(held) not in seen and getattr(held, constant.name) == constant.value:
                seen.add(id(held))
                yield _put(held, constant.name, value)
