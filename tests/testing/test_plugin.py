"""The pytest plugin, in runs of pytest inside the test."""

import importlib
import os
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

# What a run inside the test imports, pytester takes away again, and no compiled module can be imported twice.
for _name in ("hybrid_memory.store.duck.store", "hybrid_memory_testing.harness", "hybrid_memory_testing.stdio"):
    importlib.import_module(_name)

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tested_agent"
NO = ("-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:timeout")

SUITE = """
import pytest

pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

async def test_told(memory):
    async with memory.client() as client:
        await client.call_tool("write_memory", {"content": "I am allergic to peanuts."})
    memory.assert_remembered("peanuts")

def test_empty(memory):
    memory.assert_not_remembered("peanuts")

def test_without():
    pass
"""


@pytest.fixture
def run(pytester, monkeypatch):
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(source, *options):
        pytester.makepyfile(test_it=source)
        return pytester.runpytest_inprocess("-q", *NO, *options)

    return run


def test_the_fixture_is_there_without_any_configuration(run):
    run(SUITE, "--strict-markers", "-W", "error").assert_outcomes(passed=3)


def test_without_its_memory_a_suite_fails_and_what_passes_is_named(run):
    result = run(SUITE, "--hybrid-memory-off")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*the memory was switched off*", "1 test notices*", "These pass all the same*", "  test_it.py::test_empty"]
    )
    assert "  test_it.py::test_without" not in result.stdout.lines


@pytest.mark.slow
def test_the_option_leaves_the_environment_as_it_was(run, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_TEST_OFF", "0")
    run(SUITE, "--hybrid-memory-off")
    assert os.environ["HYBRID_MEMORY_TEST_OFF"] == "0"  # noqa: TID251 - whether it is left alone is the test
    monkeypatch.delenv("HYBRID_MEMORY_TEST_OFF")
    run(SUITE, "--hybrid-memory-off")
    assert "HYBRID_MEMORY_TEST_OFF" not in os.environ  # noqa: TID251 - as above


def test_the_variable_does_what_the_option_does(run, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_TEST_OFF", "1")
    result = run(SUITE)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*the memory was switched off*"])


def test_the_marker_says_what_the_memory_is_like(run):
    run(
        """
        import pytest

        pytestmark = pytest.mark.hybrid_memory(namespace="mine", start="2020-05-05")

        @pytest.mark.hybrid_memory(start="2021-06-06")
        def test_nearest(memory):
            memory.remember("x y")
            (found,) = memory.memories
            assert (found.namespace, found.created_at.year) == ("mine", 2021)
        """
    ).assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_memory_of_a_test_that_fails_otherwise_is_shown(run):
    result = run("def test_it(memory):\n    memory.remember('Ada likes tea.')\n    raise KeyError('x')\n")
    result.stdout.fnmatch_lines(["*The memory of this test*", "The memory holds 1 memory:", "*'Ada likes tea.'*"])


def test_a_failed_assertion_shows_the_line_of_the_test_and_no_line_of_ours(run):
    result = run("def test_it(memory):\n    memory.assert_remembered('tea')\n")
    result.stdout.fnmatch_lines([">*memory.assert_remembered('tea')", "E*no memory says 'tea'"])
    result.stdout.no_fnmatch_line("*checks.py*")


def test_a_fixture_of_that_name_of_somebody_else_wins(run):
    source = (
        "import pytest\n@pytest.fixture\ndef memory():\n    return 7\ndef test_it(memory):\n    assert memory == 7\n"
    )
    run(source).assert_outcomes(passed=1)


RECORDED = """
import pytest

@pytest.mark.anyio
@pytest.mark.hybrid_memory(recorded=True)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_told(memory):
    async with memory.client() as client:
        await client.call_tool("write_memory", {"content": "I like tea."})
"""


@pytest.mark.slow
def test_a_recording_lies_beside_its_test_and_is_kept_to(run, pytester):
    run(RECORDED, "--hybrid-memory-record=none").assert_outcomes(passed=1, errors=1)
    run(RECORDED).assert_outcomes(passed=1)
    file = pytester.path / "recordings" / "test_it" / "test_told-asyncio.json"
    assert file.exists()
    run(RECORDED, "--hybrid-memory-record=none").assert_outcomes(passed=1)
    other = RECORDED.replace("tea", "milk")
    result = run(other)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*not as recorded*", '*"content": "I like milk."*'])
    run(other, "--hybrid-memory-record=rewrite").assert_outcomes(passed=1)
    assert "milk" in file.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_recorded_test_notices_that_its_memory_is_off(run):
    source = RECORDED.replace('"I like tea."})', '"I like tea."})\n        await client.call_tool("read_memories", {})')
    run(source).assert_outcomes(passed=1)
    result = run(source, "--hybrid-memory-off")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["1 test notices that it is missing."])
    result.stdout.no_fnmatch_line("These pass*")


def test_a_failed_test_is_not_recorded(run, pytester):
    run(RECORDED + "    assert False\n").assert_outcomes(failed=1)
    assert not (pytester.path / "recordings").exists()


@pytest.mark.slow
def test_the_tests_of_the_example_pass_and_fail_without_their_memory(pytester, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    for file in ("agent.py", "test_agent.py"):
        (pytester.path / file).write_text((EXAMPLE / file).read_text(encoding="utf-8"), encoding="utf-8")
    pytester.runpytest_inprocess("-q", *NO).assert_outcomes(passed=5)
    pytester.runpytest_inprocess("-q", *NO, "--hybrid-memory-off").assert_outcomes(passed=1, failed=4)


def test_recordings_of_tests_with_similar_names_are_files_of_their_own(run, pytester):
    run(
        """
        import pytest

        pytestmark = pytest.mark.hybrid_memory(recorded=True)

        class TestOne:
            def test_it(self, memory):
                memory.remember("one")

        class TestTwo:
            def test_it(self, memory):
                memory.remember("two")

        @pytest.mark.parametrize("said", ["tea?", "tea!", "x" * 300])
        def test_said(memory, said):
            memory.remember(said)
        """
    ).assert_outcomes(passed=5)
    assert len(list((pytester.path / "recordings" / "test_it").iterdir())) == 5
    run("def test_it(memory): pass").assert_outcomes(passed=1)
