"""The wheel and the source archive: what is in them, and that uv and pipx start the program from the wheel."""

import subprocess
import tarfile
import zipfile

import pytest
from tests.clients.packaging import others
from tests.clients.packaging.others import PROJECT

from hybrid_memory_mcp import __version__

NAME = "hybrid-memory-mcp"


def test_uvx_starts_the_program_from_the_wheel(folder, remembers):
    command = others.uv_folder() / "uvx"
    remembers(command, "--from", str(others.wheel()), NAME, environment=others.machine(folder / "home"))


def test_uvx_starts_the_program_by_its_name_and_version(folder, remembers):
    remembers(others.uv_folder() / "uvx", f"{NAME}=={__version__}", environment=others.machine(folder / "home"))


def test_the_launcher_of_the_plugin_has_uv_start_it_where_it_is_not_installed(folder, remembers):
    launcher = PROJECT / "plugin" / "bin" / "hybrid-memory"
    remembers(launcher, environment=others.machine(folder / "home", others.uv_folder()))


def test_a_hook_of_the_plugin_finds_what_uv_has_fetched_without_a_network(folder):
    environment = others.machine(folder / "home", others.uv_folder())
    others.run([others.uv_folder() / "uvx", f"{NAME}=={__version__}", "--version"], env=environment)
    command = [others.uv_folder() / "uvx", "--offline", "--quiet", f"{NAME}=={__version__}", "--version"]
    assert others.run(command, env=environment).stdout.strip() == __version__


def test_pipx_runs_the_program_from_the_wheel(folder, remembers):
    pipx = others.python_program("pipx", others.PIPX, "pipx")
    environment = others.machine(folder / "home") | {"PIPX_HOME": str(folder / "pipx")}
    remembers(pipx, "run", "--quiet", "--spec", str(others.wheel()), NAME, environment=environment)


def test_the_source_archive_makes_the_same_wheel(folder):
    (archive,) = others.dist().glob("*.tar.gz")
    done = others.run([others.uv(), "build", "--quiet", "--wheel", "--out-dir", folder, archive])
    assert done.returncode == 0, done.stderr
    (again,) = folder.glob("*.whl")
    with zipfile.ZipFile(again) as one, zipfile.ZipFile(others.wheel()) as other:
        assert {item.filename: item.CRC for item in one.infolist()} == {
            item.filename: item.CRC for item in other.infolist()
        }


def test_the_source_archive_has_every_file_of_the_repository_but_those_of_its_tools():
    (archive,) = others.dist().glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        there = {name.split("/", 1)[1] for name in opened.getnames() if "/" in name}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {file for file in listed if file not in there} <= {".ci/run", ".gitignore", "CLAUDE.md"}


@pytest.mark.parametrize("place", ["tests/", "plugin/", "packaging/", "benchmarks/", "docs/", "tools/"])
def test_the_wheel_holds_nothing_that_stands_around_the_program(place):
    with zipfile.ZipFile(others.wheel()) as opened:
        assert [name for name in opened.namelist() if name.startswith(place)] == []
