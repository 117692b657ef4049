"""The direction of dependencies, read from the include and import lines."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ALLOWED = {
    "base": set(),
    "engine": {"base"},
    "board": {"base"},
    "ftrace": {"base"},
    "replicate": {"base"},
    "sched": {"base", "engine", "board"},
    "idle": {"base", "engine", "board", "ftrace"},
    "freezer": {"base", "engine", "board", "sched"},
    "dpm": {"base", "engine", "board", "sched"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def included_folders(path: Path) -> set[str]:
    names = INCLUDE.findall(path.read_text(encoding="utf-8"))
    return {name.split("/")[1] for name in names if name.startswith("torpor/") and name.count("/") >= 2}


def sources(folder: Path) -> list[Path]:
    return sorted(path for pattern in ("*.hpp", "*.cpp", "*.hpp.in") for path in folder.rglob(pattern))


def test_every_folder_has_a_place_in_the_order() -> None:
    assert {path.name for path in (ROOT / "cpp/torpor").iterdir() if path.is_dir()} == set(ALLOWED)


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_a_folder_includes_only_what_stands_below_it(folder: str) -> None:
    files = sources(ROOT / "cpp/torpor" / folder)
    assert files
    wrong = {
        str(path.relative_to(ROOT)): sorted(included_folders(path) - ALLOWED[folder] - {folder})
        for path in files
    }
    assert {path: folders for path, folders in wrong.items() if folders} == {}


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_a_library_links_what_it_may_include(folder: str) -> None:
    text = (ROOT / "cpp/torpor" / folder / "CMakeLists.txt").read_text(encoding="utf-8")
    depends = re.search(r"DEPENDS([^)]*?)(?:SOURCES|\))", text)
    named = set(depends.group(1).split()) if depends else set()
    assert named <= ALLOWED[folder]


def test_nothing_under_cpp_includes_python() -> None:
    wrong = [
        path.name
        for path in sources(ROOT / "cpp")
        for name in INCLUDE.findall(path.read_text(encoding="utf-8"))
        if name.startswith("pybind11") or name.lower() == "python.h"
    ]
    assert wrong == []


def test_one_header_opens_the_door_to_pybind11() -> None:
    doors = {
        path.name
        for path in sources(ROOT / "python/bindings")
        if any(name.startswith("pybind11/") for name in INCLUDE.findall(path.read_text(encoding="utf-8")))
    }
    assert doors == {"pybind.hpp"}


def imported_modules(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


# Who may import whom in the package; the command line stands on top, and the families do not see each other.
FAMILIES = ("torpor.idle", "torpor.freezer", "torpor.dpm")
UPPER = (*FAMILIES, "torpor.experiments", "torpor.cli")
PYTHON_FORBIDDEN = {
    "board": UPPER,
    "importers": (*UPPER, "torpor.board"),
    "idle": ("torpor.freezer", "torpor.dpm", "torpor.experiments", "torpor.cli"),
    "freezer": ("torpor.idle", "torpor.dpm", "torpor.experiments", "torpor.cli"),
    "dpm": ("torpor.idle", "torpor.freezer", "torpor.experiments", "torpor.cli"),
    "experiments": ("torpor.cli",),
    "tables.py": ("torpor.",),
    "stats.py": ("torpor.",),
    "files.py": (*UPPER, "torpor.board"),
    "report.py": (*UPPER, "torpor.board"),
    "_checks.py": (*UPPER, "torpor.board"),
    "_replicates.py": (*UPPER, "torpor.board"),
    "_truth_file.py": (*UPPER, "torpor.board"),
    "distributions.py": (*UPPER, "torpor.board"),
    "policy_table.py": (*UPPER, "torpor.board"),
    "summary.py": (*UPPER, "torpor.board"),
    "plot.py": ("torpor.freezer", "torpor.dpm", "torpor.cli"),
}


@pytest.mark.parametrize("module", sorted(PYTHON_FORBIDDEN))
def test_a_module_imports_only_what_stands_below_it(module: str) -> None:
    path = ROOT / "python/torpor" / module
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert files
    wrong = {
        (path.name, name)
        for path in files
        for name in imported_modules(path)
        if name.startswith(PYTHON_FORBIDDEN[module])
    }
    assert wrong == set()


def test_the_command_line_does_not_reach_into_the_extension() -> None:
    wrong = [
        path.name
        for path in (ROOT / "python/torpor/cli").glob("*.py")
        if any(name.startswith("torpor._core") for name in imported_modules(path))
    ]
    assert wrong == []
