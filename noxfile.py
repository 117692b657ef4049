"""The same entry points for people and for CI: ``nox`` runs all tests, ``nox -s NAME`` one check."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).parent
PACKAGES = {  # Debian package -> a file that it brings
    "libgtest-dev": "/usr/include/gtest/gtest.h",
    "libbenchmark-dev": "/usr/include/benchmark/benchmark.h",
    "clang-format": "/usr/bin/clang-format",
    "clang": "/usr/bin/clang++",
}
CXX_TOOLS = ("cmake>=3.25", "ninja")
JOBS = str(os.cpu_count() or 1)

nox.options.sessions = ["tests"]
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True


def bring_packages(session: nox.Session, *names: str) -> None:
    """Install the system packages that are lacking: by apt-get as root on Debian, else say which and fail."""
    lacking = [name for name in names if not Path(PACKAGES[name]).exists()]
    if not lacking:
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *lacking]):
            subprocess.run(["apt-get", *command], check=True, env=environment, stdout=subprocess.DEVNULL)
    else:
        session.error(f"install {', '.join(lacking)} (as Debian names them) and try again")


def cmake(session: nox.Session, preset: str, *packages: str) -> Path:
    """Configure and build one preset of CMakePresets.json; return its build folder."""
    bring_packages(session, "libgtest-dev", *packages)
    session.install(*CXX_TOOLS)
    session.run("cmake", "--preset", preset, silent=True)
    session.run("cmake", "--build", "--preset", preset, "-j", JOBS)
    return ROOT / "build" / preset


def wheel(python: Path) -> Path:
    """Build the package, unless the wheel of an earlier session is newer than every source."""
    folder = ROOT / "build" / "wheel"
    inputs = [ROOT / "CMakeLists.txt", ROOT / "pyproject.toml", ROOT / "README.md"]
    inputs += [
        path for name in ("cmake", "cpp", "python") for path in (ROOT / name).rglob("*") if path.is_file()
    ]
    newest = max(path.stat().st_mtime for path in inputs if "__pycache__" not in path.parts)
    for built in folder.glob("*.whl"):
        if built.stat().st_mtime > newest:
            return built
        built.unlink()
    subprocess.run([python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT], check=True)
    (built,) = folder.glob("*.whl")
    return built


def install(session: nox.Session, extras: str = "", *others: str) -> None:
    """Install the package, rebuilt from this tree, with what else the session needs."""
    built = wheel(Path(session.bin) / "python")
    session.run("pip", "uninstall", "-q", "-y", "torpor", silent=True)
    session.install(f"torpor{extras} @ {built.as_uri()}", *others)


@nox.session
def tests(session: nox.Session) -> None:
    """C++ unit tests under CTest; pytest with the doctests of every public name; notebooks, top to bottom."""
    cmake(session, "release", "libbenchmark-dev")
    session.run("ctest", "--preset", "release", "-j", JOBS)
    install(session, "[test]")
    session.run("pytest", "tests/python", "notebooks", *session.posargs)


@nox.session
def sanitizers(session: nox.Session) -> None:
    """C++ unit tests under the address, undefined-behaviour and thread sanitizers."""
    for preset in ("asan-ubsan", "tsan"):
        folder = cmake(session, preset)
        # Whole programs: a process for every test would take most of the time here.
        for program in sorted((folder / "tests").glob("cpp/*/torpor_*_test")):
            session.run(str(program), "--gtest_brief=1", external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Formatters, linters, type check, stubs against fresh ones; ``nox -s lint -- write`` rewrites these."""
    bring_packages(session, "clang-format")
    install(session, "[plot]", "ruff>=0.9", "mypy>=1.11", "pandas-stubs", "pybind11-stubgen>=2.5")
    sources = [
        str(path)
        for folder in ("cpp", "python", "tests", "benchmarks")
        for pattern in ("*.hpp", "*.cpp")
        for path in sorted((ROOT / folder).rglob(pattern))
    ]
    session.run("clang-format", "--dry-run", "-Werror", *sources, external=True, log=False)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    check_stubs(session)
    session.run("mypy")


def check_stubs(session: nox.Session) -> None:
    """Compare python/torpor/_core.pyi with what the built extension gives."""
    target = ROOT / "python" / "torpor" / "_core.pyi"
    out = Path(session.create_tmp())
    session.run("pybind11-stubgen", "torpor._core", "--output-dir", str(out), silent=True)
    fresh = out / "torpor" / "_core.pyi"
    session.run("ruff", "format", "--quiet", "--config", str(ROOT / "pyproject.toml"), str(fresh))
    # The compiler and the version of this build are no part of the interface.
    fresh.write_text(
        re.sub(r"^(__(compiler|version)__: str) = .*$", r"\1", fresh.read_text(), flags=re.MULTILINE)
    )
    if "write" in session.posargs:
        shutil.copy(fresh, target)
    elif fresh.read_text() != target.read_text():
        session.run("diff", str(target), str(fresh), external=True, success_codes=[0, 1])
        session.error("python/torpor/_core.pyi is stale: nox -s lint -- write")


@nox.session
def clang(session: nox.Session) -> None:
    """The C++ code and its tests under the other compiler, warnings as errors."""
    cmake(session, "clang", "clang", "libbenchmark-dev")
    session.run("ctest", "--preset", "clang", "-j", JOBS)


@nox.session
def bench(session: nox.Session) -> None:
    """Every benchmark once, briefly: they check their answers before they time anything."""
    folder = cmake(session, "release", "libbenchmark-dev")
    for program in sorted((folder / "benchmarks").glob("torpor_*_bench")):
        session.run(str(program), "--benchmark_min_time=0.01", external=True)
    install(session, "", "simpy>=4.1")
    for script in sorted((ROOT / "benchmarks" / "python").glob("*.py")):
        session.run("python", str(script), "--quick")


@nox.session
def oldest(session: nox.Session) -> None:
    """The Python tests at the lower bounds of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = [*project["dependencies"], *project["optional-dependencies"]["plot"]]
    constraints = Path(session.create_tmp()) / "constraints.txt"
    constraints.write_text("".join(f"{line.replace('>=', '==')}\n" for line in bounds))
    install(session, "[test]", "-c", str(constraints))
    # Old releases meet deprecations of newer ones below them.
    session.run("pytest", "-q", "-W", "ignore::DeprecationWarning", "tests/python")
