"""The server uses uvicorn by its public names only, so that another version of uvicorn may be taken."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest
import uvicorn

from jackpot_service import server

ROOM: Final = sorted(Path(server.__file__).parent.glob("*.py"))
UVICORN: Final = Path(uvicorn.__file__).parent


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def names_in(tree: ast.AST) -> Iterator[str]:
    """All private names that a piece of code defines, sets or reads as a member of anything."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield from filter(is_private, [name])
            case ast.Attribute(attr=name) | ast.Name(id=name, ctx=ast.Store()):
                yield from filter(is_private, [name])


def imported_from_uvicorn(tree: ast.AST) -> Iterator[str]:
    """Each part of each name that a piece of code imports from uvicorn."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for name in names:
                    if name.name.split(".")[0] == "uvicorn":
                        yield from name.name.split(".")
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == "uvicorn":
                yield from (*module.split("."), *(name.name for name in names))


def parents(class_: type) -> list[type]:
    return [parent for parent in class_.__mro__ if parent.__module__.split(".")[0] == "uvicorn"]


def children_of_uvicorn(module: ModuleType) -> Iterator[type]:
    for _, class_ in inspect.getmembers(module, inspect.isclass):
        if class_.__module__ == module.__name__ and parents(class_):
            yield class_


CHILDREN: Final = [
    child for path in ROOM for child in children_of_uvicorn(import_module(f"{server.__name__}.{path.stem}"))
]


def test_the_classes_that_have_parents_in_uvicorn_are_found() -> None:
    assert {child.__name__ for child in CHILDREN} == {"Connection", "Supervisor"}


@pytest.mark.parametrize("child", CHILDREN)
def test_no_private_name_of_a_class_is_one_of_its_parents_in_uvicorn(child: type) -> None:
    own = set(names_in(ast.parse(inspect.getsource(child))))
    theirs = {name for parent in parents(child) for name in names_in(ast.parse(inspect.getsource(parent)))}
    there = {name for parent in parents(child) for name in filter(is_private, dir(parent))}
    assert own
    assert theirs
    assert own & (theirs | there) == set()


@pytest.mark.parametrize("path", ROOM, ids=lambda path: path.stem)
def test_no_private_name_of_uvicorns_is_imported_or_read_of_anything_else(path: Path) -> None:
    theirs = {name for file in UVICORN.rglob("*.py") for name in names_in(ast.parse(file.read_text(encoding="utf-8")))}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    }
    assert [name for name in imported_from_uvicorn(tree) if is_private(name)] == []
    assert read & theirs == set()
