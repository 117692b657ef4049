"""Every public name has an example, and every example runs."""

import doctest
import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import torpor

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(torpor.__path__, "torpor.")
    if not info.name.endswith("._core")
)


@pytest.mark.parametrize("name", ["torpor", *MODULES])
def test_the_examples_run(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def public_objects(module: ModuleType) -> list[tuple[str, object]]:
    names = [name for name in getattr(module, "__all__", []) if not name.startswith("_")]
    objects = [(name, getattr(module, name)) for name in names]
    return [
        (name, item)
        for name, item in objects
        if (inspect.isclass(item) or inspect.isfunction(item)) and item.__module__ == module.__name__
    ]


@pytest.mark.parametrize(
    "name", [name for name in MODULES if not name.startswith("torpor.cli") and "._" not in name]
)
def test_every_public_name_has_an_example(name: str) -> None:
    module = importlib.import_module(name)
    missing = [
        item_name for item_name, item in public_objects(module) if ">>>" not in (inspect.getdoc(item) or "")
    ]
    assert missing == []


def test_there_are_modules_to_look_at() -> None:
    assert len(MODULES) > 15
