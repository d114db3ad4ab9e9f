"""The house rules that a machine can check: which way imports go, how long a module is, what is banned.

Write a test here when a rule can be read off the source. A rule about what code does belongs elsewhere.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import stead
from tests.architecture.refusals import TARGET, table

ROOT = Path(stead.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
ROOMS = (
    *("errors", "randomness", "measurement", "store", "tables", "language", "kernels", "engine", "glm"),
    *("sampling", "models", "release", "utility", "risk", "privacy", "studies", "report", "cli"),
)
HEAVY = (
    *("scipy.stats", "numba", "pandas", "duckdb", "pyarrow", "altair", "vl_convert", "jinja2", "rich"),
    *("cyclopts", "polars", "narwhals", "arviz_stats", "pyreadstat", "adbc_driver_manager"),
    *("sklearn", "ibis"),
)
FRONT = "__init__"


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def room_of(path: Path) -> str:
    """The room, or the single module, directly under the package."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported_modules(tree: ast.AST) -> list[str]:
    """Every module that is imported anywhere: at the top, in functions, and for types."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            found += [f"{module}.{alias.name}" for alias in node.names] if module == "stead" else [module]
    return found


def rooms_imported(tree: ast.AST) -> set[str]:
    """Rooms of the package that a module imports; the package itself is the front door, save for its version."""
    rooms = set()
    asked = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "stead"
    }
    for module in imported_modules(tree):
        first, _, rest = module.partition(".")
        if first == "stead" and rest != "__version__" and (rest or asked != {"__version__"}):
            room = rest.partition(".")[0]
            rooms.add(room if room in ROOMS else FRONT)
    return rooms


def allowed(room: str) -> set[str]:
    """A room may import itself and what is to its left; the front door names everything, and only the command line enters by it."""
    if room == FRONT:
        return set(ROOMS)
    left = set(ROOMS[: ROOMS.index(room) + 1])
    return left | {FRONT} if room == "cli" else left


def test_every_room_is_in_the_plan() -> None:
    assert {room_of(path) for path in MODULES} <= {*ROOMS, FRONT}


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_imports_go_one_way(path: Path) -> None:
    room = room_of(path)
    assert rooms_imported(tree_of(path)) <= allowed(room), f"{named(path)} imports what stands above it"


def test_the_import_rule_can_fail() -> None:
    upward = ast.parse("def f():\n    from stead.report.charts import draw\n")
    assert not rooms_imported(upward) <= allowed("measurement")
    assert not rooms_imported(ast.parse("import stead")) <= allowed("models")
    assert rooms_imported(ast.parse("from stead import errors, __version__")) == {"errors"}
    assert rooms_imported(ast.parse("import stead\nstead.__version__")) == set()


def test_the_one_door_upward_is_the_chart_of_a_measurement() -> None:
    """Importing by name would pass unseen by the rule above; besides the front door one place does it."""
    by_name = {
        named(path)
        for path in MODULES
        if {"importlib", "runpy", "imp"} & set(imported_modules(tree_of(path)))
        or "__import__" in names_used(tree_of(path))
    }
    assert by_name == {"__init__.py", "measurement.py"}
    asked = [
        node.args[0].value
        for node in ast.walk(tree_of(ROOT / "measurement.py"))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "import_module"
        and isinstance(node.args[0], ast.Constant)
    ]
    assert asked == ["stead.report.charts"]


def names_used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_is_short_and_says_what_it_is(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    assert ast.get_docstring(tree_of(path)), "a module begins with its docstring"


def public_definitions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Functions and classes of a module, and methods of its public classes, whose names are public."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = []
    places: list[ast.Module | ast.ClassDef] = [tree]
    while places:
        for node in places.pop().body:
            if isinstance(node, kinds) and not node.name.startswith("_"):
                found.append(node)
                if isinstance(node, ast.ClassDef):
                    places.append(node)
    return found


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_public_names_say_what_they_are_and_functions_are_short(path: Path) -> None:
    undocumented = [node.name for node in public_definitions(tree_of(path)) if not ast.get_docstring(node)]
    assert undocumented == []
    functions = [
        node for node in ast.walk(tree_of(path)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    assert [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= 70] == []


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_nothing_banned_is_used(path: Path) -> None:
    tree = tree_of(path)
    modules = {module.partition(".")[0] for module in imported_modules(tree)}
    assert not modules & {"pickle", "cPickle", "joblib", "dill", "cloudpickle", "shelve", "marshal"}
    banned = {"eval", "exec", "compile", "NotImplementedError"}
    banned |= set() if room_of(path) == "cli" else {"print", "input", "breakpoint"}
    assert not names_used(tree) & banned
    pickles = [
        keyword.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "allow_pickle"
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
    ]
    assert pickles == []


def test_arrow_enters_at_one_place() -> None:
    entries = {
        named(path)
        for path in MODULES
        if any(module.partition(".")[0] == "pyarrow" for module in imported_modules(tree_of(path)))
    }
    assert entries == {"tables/arrow.py"}


@pytest.mark.parametrize(
    ("library", "doors"),
    [
        ("pyreadstat", {"tables/parsing.py", "tables/statistical_out.py"}),
        ("adbc_driver_sqlite", {"tables/sql.py"}),
        ("adbc_driver_postgresql", {"tables/sql.py"}),
    ],
)
def test_what_reads_foreign_files_enters_at_one_place(library: str, doors: set[str]) -> None:
    """The parser of statistical packages stays in the child that may crash, and what drivers say of an error at their door."""
    assert {
        named(path)
        for path in MODULES
        if any(module.partition(".")[0] == library for module in imported_modules(tree_of(path)))
    } == doors


def test_ibis_and_duckdb_enter_through_the_engine() -> None:
    entries = {
        library: {
            named(path)
            for path in MODULES
            if any(module.partition(".")[0] == library for module in imported_modules(tree_of(path)))
        }
        for library in ("ibis", "duckdb")
    }
    assert entries == {"ibis": {"engine/expressions.py"}, "duckdb": {"engine/database.py"}}


def test_numba_enters_through_the_kernels() -> None:
    entries = {
        room_of(path)
        for path in MODULES
        if any(module.partition(".")[0] == "numba" for module in imported_modules(tree_of(path)))
    }
    assert entries <= {"kernels"}


def test_scikit_learn_enters_at_one_place() -> None:
    entries = {
        named(path)
        for path in MODULES
        if any(module.partition(".")[0] == "sklearn" for module in imported_modules(tree_of(path)))
    }
    assert entries == {"utility/classifiers.py"}


def test_kernels_are_imported_late() -> None:
    """Their import loads numba: a module that needs one imports it in the function that calls it."""
    early = {
        named(path)
        for path in MODULES
        if room_of(path) != "kernels"
        and any(
            isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stead.kernels.")
            for node in tree_of(path).body
        )
    }
    assert early == set()


def test_no_public_name_is_the_name_of_a_room() -> None:
    """`stead.table` and a room `table/` would overwrite each other."""
    rooms = {room_of(path) for path in MODULES} - {FRONT}
    public = set(getattr(stead, "__all__", ()))
    assert public
    assert not public & rooms


def test_every_public_name_is_there() -> None:
    for name in stead.__all__:
        assert getattr(stead, name) is not None
        assert name in dir(stead)
    with pytest.raises(AttributeError, match="has no name"):
        stead.no_such_name  # noqa: B018


def test_importing_costs_no_library_but_numpy() -> None:
    script = f"import sys, stead; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_list_of_refusals_is_that_of_the_source() -> None:
    """Write it again with `python -m tests.architecture.refusals`."""
    assert TARGET.read_text(encoding="utf-8") == table()
