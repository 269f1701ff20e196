"""Every promise of docs/promises.md names tests that hold it, and each of them exists."""

import ast
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PROMISES = (PROJECT / "docs" / "promises.md").read_text(encoding="utf-8").split("\n## ")[1:]


def names_in(file):
    """Names that a test file defines or assigns at its top level."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.split("\n")[0])
def test_a_promise_is_held_by_tests_that_exist(promise):
    held_by = re.findall(r"^- `(tests/\S+\.py)::(\w+)`$", promise, re.MULTILINE)
    assert held_by
    assert [test for file, test in held_by if test not in names_in(PROJECT / file)] == []
