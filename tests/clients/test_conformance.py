"""The official conformance suite, on both wires of the protocol: on our server as it is, and with what the suite wants added to it."""

import re
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients.environments import HERE, TABLE, download, node, node_packages

ROW = TABLE["conformance"]
REVISIONS = ["2025-11-25", "2026-07-28"]
SERVE = HERE.parents[1] / "tools" / "serve_for_conformance.py"
EXAMPLE = "examples/servers/everything-server/mcp_everything_server/server.py"


@pytest.fixture(scope="module")
def suite():
    """The command of the suite."""
    folder = node_packages("conformance", ROW["packages"])
    return [str(node()), str(folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js")]


@pytest.fixture(scope="module")
def example():
    """The SDK's example server, whose tools, resources and prompts are those that the suite wants."""
    archive = download("conformance-example", ROW["example"])
    file = archive.parent / "server.py"
    with tarfile.open(archive) as packed:
        name = next(one for one in packed.getnames() if one.endswith(EXAMPLE))
        file.write_bytes(packed.extractfile(name).read())
    return file


@contextmanager
def serving(*arguments):
    with subprocess.Popen(
        [sys.executable, str(SERVE), "0", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            port = re.fullmatch(rb"ready at port (\d+)\n", process.stdout.readline())
            yield f"http://127.0.0.1:{int(port[1])}/mcp"
        finally:
            process.terminate()


def summary(suite, url, revision, folder, *options):
    done = subprocess.run(
        [*suite, "server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", str(folder), *options],
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    told = done.stdout.partition("=== SUMMARY ===")[2]
    assert done.returncode == 0, told + done.stderr
    return told


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_scenario_passes_where_the_server_has_what_it_wants(suite, example, folder, revision):
    with serving(str(example)) as url:
        told = summary(suite, url, revision, folder)
    assert "✗" not in told
    assert ", 0 failed" in told.partition("Total: ")[2]


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_server_as_it_is_fails_only_what_is_listed_with_its_reason(suite, folder, revision):
    expected = Path(HERE / "conformance_expected.yml")
    with serving() as url:
        told = summary(suite, url, revision, folder, "--expected-failures", str(expected))
    assert "Total: " in told


def test_what_else_the_suite_has_are_extensions(suite):
    told = subprocess.run([*suite, "list"], capture_output=True, text=True, timeout=60, check=True).stdout
    ours = told.partition("Client scenarios")[0]
    scenarios = dict(re.findall(r"^ +- (\S+) \[([^\]]+)\]", ours, re.MULTILINE))
    assert sorted(name for name, of in scenarios.items() if not set(of.split(",")) & set(REVISIONS)) == sorted(
        ROW["extensions"]
    )
