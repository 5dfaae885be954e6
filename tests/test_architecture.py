"""The folder tree is the architecture: these tests hold its directions (docs/architecture.md)."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("fastrag_site", "chats", "retrieval")
LINE_LIMIT = 350
# The parts of fastrag_site that may know the apps: it is the composition root.
COMPOSITION = {"settings", "urls", "asgi", "health", "checks", "docs_pages", "management"}


def modules(package: str) -> Iterator[Path]:
    for path in sorted((ROOT / package).rglob("*.py")):
        if "migrations" not in path.parts:
            yield path


def imports(path: Path) -> Iterator[str]:
    """Every absolute module name that a file imports, at any depth of nesting."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def offenders(paths: Iterator[Path], *forbidden: str) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imports(path)
        if any(name == bad or name.startswith(f"{bad}.") for bad in forbidden)
    ]


def test_retrieval_never_imports_chats() -> None:
    assert offenders(modules("retrieval"), "chats") == []


def test_the_rcp_sdk_imports_no_django_and_nothing_of_ours_outside_itself() -> None:
    paths = list(modules("retrieval/rcp"))
    assert offenders(iter(paths), "django", "rest_framework", "fastrag_site", "chats") == []
    ours = {name for path in paths for name in imports(path) if name.startswith("retrieval")}
    assert {name for name in ours if not f"{name}.".startswith("retrieval.rcp.")} <= {"retrieval"}


def test_the_rcp_sdk_is_importable_without_settings() -> None:
    code = "from retrieval import rcp; import sys; assert 'django' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={"PATH": ""}, check=True)


def test_the_leaves_of_fastrag_site_import_no_app() -> None:
    leaves = (
        path
        for path in modules("fastrag_site")
        if path.relative_to(ROOT / "fastrag_site").parts[0].removesuffix(".py") not in COMPOSITION
    )
    assert offenders(leaves, "chats", "retrieval") == []


def test_only_settings_read_the_environment() -> None:
    readers = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in modules(package)
        if any(
            isinstance(node, ast.Attribute)
            and node.attr in {"environ", "getenv"}
            and isinstance(node.value, ast.Name)
            and node.value.id == "os"
            for node in ast.walk(ast.parse(path.read_text()))
        )
    ]
    # asgi.py only says where the settings are; a child process passes its environment on.
    assert set(readers) <= {"fastrag_site/asgi.py"}


def test_modules_import_each_other_without_circles() -> None:
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for package in PACKAGES
        for path in modules(package)
    }
    graph = {
        name: {target for target in top_level_imports(path) if target in names and target != name}
        for name, path in names.items()
    }
    assert find_circle(graph) is None


def top_level_imports(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def find_circle(graph: dict[str, set[str]]) -> list[str] | None:
    """The first import circle, or None. A package and its own submodules do not count."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str] | None:
        if name in path:
            circle = path[path.index(name) :]
            return circle if len(circle) > 1 else None
        if name in done:
            return None
        for target in sorted(graph[name]):
            if f"{name}.".startswith(f"{target}.") or f"{target}.".startswith(f"{name}."):
                continue
            if found := visit(target, [*path, name]):
                return found
        done.add(name)
        return None

    for name in sorted(graph):
        if found := visit(name, []):
            return found
    return None


@pytest.mark.parametrize("package", [*PACKAGES, "tests", "examples", "benchmarks"])
def test_no_file_is_longer_than_350_lines(package: str) -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in modules(package)
        if (count := len(path.read_text().splitlines())) > LINE_LIMIT
    }
    assert long == {}
