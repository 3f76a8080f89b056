"""The library's floors: a lower one never imports a higher one, and importing anything does nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "layers" / "pausepoint"

BELOW: dict[str, frozenset[str]] = {
    "errors": frozenset(),
    "domain": frozenset({"errors"}),
    "runtime": frozenset({"errors", "domain"}),
    "adapters": frozenset({"errors", "domain", "runtime"}),
    "models": frozenset({"errors", "domain", "runtime", "adapters"}),
    "settings": frozenset({"errors"}),
    "telemetry": frozenset(),
    "cold_start": frozenset(),
    "bootstrap": frozenset({"errors", "domain", "runtime", "adapters", "settings"}),
    "http": frozenset({"errors", "domain", "runtime", "bootstrap", "telemetry"}),
    "notifying": frozenset({"errors", "domain", "runtime", "adapters", "telemetry"}),
    "worker": frozenset({"errors", "domain", "runtime", "adapters", "bootstrap", "http", "telemetry"}),
    # what a user imports: `from pausepoint import Agent, tool`
    "": frozenset({"domain", "runtime"}),
}
"""Each floor, and the floors that its modules may import besides their own."""

# No input or output, no clock, no randomness.
NOT_IN_THE_DOMAIN = frozenset(
    {
        "ctypes", "fcntl", "ftplib", "glob", "http", "io", "mmap", "multiprocessing", "os", "pathlib", "platform",
        "posix", "random", "secrets", "select", "selectors", "shutil", "signal", "smtplib", "socket", "socketserver",
        "sqlite3", "ssl", "subprocess", "sys", "tempfile", "time", "urllib", "uuid", "zoneinfo",
    }
)  # fmt: skip
THIRD_PARTIES = {
    "errors": frozenset[str](),
    "domain": frozenset({"pydantic", "pydantic_core"}),
    "runtime": frozenset({"pydantic", "pydantic_core"}),
}


def modules() -> list[Path]:
    """Return the library's source files."""
    found = sorted((LIBRARY / "pausepoint").rglob("*.py"))
    assert len(found) > 30
    return found


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(LIBRARY).with_suffix("").parts).removesuffix(".__init__")


def floor_of(module: str) -> str:
    return module.partition(".")[2].partition(".")[0]


@cache
def imports(path: Path) -> frozenset[str]:
    """Return what a module imports anywhere in it; the error tree's look at types for annotations is left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ignored = set(_types_only(tree)) if path == LIBRARY / "pausepoint" / "errors.py" else set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in ignored:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            assert node.module is not None
            # `from pausepoint import x` may name a module of any floor
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def _types_only(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from ast.walk(node)


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_imports_from_its_own_floor_and_those_below(path: Path) -> None:
    own = floor_of(name_of(path))
    above = {
        imported
        for imported in imports(path)
        if imported.startswith("pausepoint.") and floor_of(imported) not in {own, *BELOW[own]}
    }

    assert above == set()


def on_floors(*floors: str) -> list[Path]:
    return [path for path in modules() if floor_of(name_of(path)) in floors]


@pytest.mark.parametrize("path", on_floors(*THIRD_PARTIES), ids=name_of)
def test_the_lower_floors_need_nothing_but_pydantic(path: Path) -> None:
    roots = {imported.partition(".")[0] for imported in imports(path)}

    assert roots - sys.stdlib_module_names - {"pausepoint"} <= THIRD_PARTIES[floor_of(name_of(path))]


@pytest.mark.parametrize("path", on_floors("domain"), ids=name_of)
def test_the_domain_touches_no_system_no_clock_and_no_chance(path: Path) -> None:
    roots = {imported.partition(".")[0] for imported in imports(path)}
    calls = {
        ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
    }

    assert roots & NOT_IN_THE_DOMAIN == set()
    assert {call for call in calls if call in ("open", "print", "input", "exec", "eval")} == set()
    assert {call for call in calls if call.endswith((".now", ".utcnow", ".today"))} == set()


COMMAND_LINE = ROOT / "cli"
OF_THE_LIBRARY = frozenset({"pausepoint.domain.canonical", "pausepoint.errors", "pausepoint.http.visible"})
"""What the command line may import of the library: how things are shown and digested. The rest it has by HTTP."""
ONLY_THERE = frozenset({"pausepoint_cli", "rich", "typer"})


def roots(found: frozenset[str]) -> set[str]:
    return {imported.partition(".")[0] for imported in found}


@pytest.mark.parametrize("path", sorted(COMMAND_LINE.rglob("*.py")), ids=lambda path: path.stem)
def test_the_command_line_talks_to_the_library_by_http(path: Path) -> None:
    modules = {imported.rpartition(".")[0] for imported in imports(path) if imported.startswith("pausepoint.")}

    assert modules <= OF_THE_LIBRARY
    assert roots(imports(path)) - sys.stdlib_module_names <= ONLY_THERE | {"botocore", "pausepoint"}


def test_the_command_line_and_what_it_needs_are_not_in_the_layers() -> None:
    sources = [*ROOT.glob("layers/**/*.py"), *ROOT.glob("functions/**/*.py")]
    assert len(sources) > 50
    assert {path for path in sources if roots(imports(path)) & ONLY_THERE} == set()
    for requirements in ROOT.glob("layers/*/requirements.txt"):
        names = {line.partition("==")[0] for line in requirements.read_text(encoding="utf-8").splitlines()}
        assert names & ONLY_THERE == set()


IMPORTING = r"""
import importlib, importlib.util, os, pkgutil, sys, traceback
from collections.abc import MutableMapping
from pathlib import Path

root = Path(sys.argv[1])
sys.path[:0] = [str(root / part) for part in ("layers/pausepoint", "layers/agent", "cli")]
ours = ("pausepoint", "custodian", "pausepoint_cli")

def import_all():
    for name in ours:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    for path in sorted((root / "functions").glob("*/app.py")):
        spec = importlib.util.spec_from_file_location(f"{path.parent.name}_app", path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))

import_all()  # for what others do when they are imported: not our business
for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
    del sys.modules[name]

class Watched(MutableMapping):
    def __init__(self, environment):
        self._environment = environment
    def _note(self, name):
        # Pydantic and Powertools read their own settings whenever a model or a resolver is made.
        if not name.startswith(("POWERTOOLS_", "PYDANTIC_")):
            frames = [frame for frame in traceback.extract_stack() if frame.filename.startswith(str(root))]
            print("read", name, *(f"{frame.filename}:{frame.lineno}" for frame in frames[-1:]))
    def __getitem__(self, name):
        self._note(name)
        return self._environment[name]
    def __iter__(self):
        self._note("everything")
        return iter(self._environment)
    def __len__(self):
        return len(self._environment)
    def __setitem__(self, name, value):
        self._environment[name] = value
    def __delitem__(self, name):
        del self._environment[name]

import botocore.session

def no_client(self, service_name, *args, **kwargs):
    print("client", service_name)
    raise AssertionError(service_name)

os.environ = Watched(os.environ)
botocore.session.Session.create_client = no_client
import_all()
print("imported", len([name for name in sys.modules if name.partition(".")[0] in ours]))
"""


def imported(root: Path) -> list[str]:
    """Import everything of ours in a fresh process; return what it read and made, and how much was imported."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, root], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_importing_reads_no_environment_and_makes_no_client() -> None:
    *done, count = imported(ROOT)

    assert done == []
    assert int(count.removeprefix("imported ")) > len(modules())


CARELESS = """
import os
import boto3

os.environ.setdefault("TABLE_NAME", "sessions")
TABLE = os.environ["TABLE_NAME"]
TOPIC = os.getenv("TOPIC_ARN")
ALL = dict(os.environ)
try:
    CLIENT = boto3.client("s3", region_name="eu-central-1")
except AssertionError:
    pass
"""


def test_the_watch_over_imports_sees_what_it_is_to_see(tmp_path: Path) -> None:
    packages = ("layers/pausepoint/pausepoint", "layers/agent/custodian", "cli/pausepoint_cli", "functions/start")
    for package in packages:
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "functions" / "start" / "app.py").write_text(CARELESS)

    done = "\n".join(imported(tmp_path))

    for seen in ("read TABLE_NAME", "read TOPIC_ARN", "read everything", "client s3"):
        assert seen in done
