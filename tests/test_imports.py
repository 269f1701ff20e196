"""No module imports itself by way of others, its packages counted in.

A hub imports in several threads at once, as calls need it. Where modules import each other in a circle, two threads that begin at
different ends of it wait for each other; Python then hands one of them a half-made module, and its call fails. A package whose
``__init__`` imports its own modules is such a circle, for each of them imports the package first.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = [*(ROOT / name for name in ("memory_core", "prompts", "server")), *(ROOT / "extras").iterdir()]


def modules(folders):
    """Return the files of a source tree by the names of their modules."""
    found = {}
    for folder in folders:
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def at_import(statements):
    """Yield the imports that run when a module is imported: not those of functions, nor those for type checkers alone."""
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from at_import(statement.orelse)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody", "handlers"):
                yield from at_import(getattr(statement, field, ()))


def imported_by(name, file, known):
    """Return the modules of the source tree that a module waits for while it is imported, the packages around it among them."""
    wanted = {name.rpartition(".")[0]}
    for statement in at_import(ast.parse(file.read_text()).body):
        if isinstance(statement, ast.Import):
            wanted |= {alias.name for alias in statement.names}
        else:
            assert statement.level == 0, f"{name} imports by dots"
            wanted |= {statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)}
    return wanted & known.keys()


def circle(folders):
    """Return the names of modules that import each other in a circle, None where there is none."""
    known = modules(folders)
    try:
        TopologicalSorter({name: imported_by(name, file, known) for name, file in known.items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return None


@pytest.mark.slow
def test_no_module_imports_itself_by_way_of_others():
    assert circle([ROOT / folder for folder in FOLDERS]) is None


@pytest.mark.parametrize(
    ("package", "module"),
    [("from house.room import door", "door = 1"), ("", "from house import garden")],
    ids=["a package that imports its module", "two modules"],
)
def test_a_circle_is_found(tmp_path, package, module):
    house = tmp_path / "house"
    house.mkdir()
    (house / "__init__.py").write_text(package)
    (house / "room.py").write_text(module)
    (house / "garden.py").write_text("def f():\n    import house\nimport house.room")

    assert circle([tmp_path]) is not None
