"""The bundle, packed by the official tool, unpacked again, and started as its manifest says."""

import json
import zipfile

import pytest
from tests.clients.environments import node, node_packages
from tests.clients.packaging import others
from tests.clients.packaging.others import PROJECT

# What a host does with the manifest, by the official package's own function.
READ_MANIFEST = """
import { readFileSync } from "node:fs";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
const [folder, config] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(folder + "/manifest.json", "utf8"));
console.log(JSON.stringify(await getMcpConfigForManifest({
  manifest, extensionPath: folder, systemDirs: {}, userConfig: JSON.parse(config), pathSeparator: "/" })));
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The bundle as a host has it on its disk."""
    folder = tmp_path_factory.mktemp("bundle")
    packed = others.run([*others.mcpb(), "pack", PROJECT / "packaging/mcpb", folder / "memory.mcpb"])
    assert packed.returncode == 0, packed.stdout + packed.stderr
    done = others.run([*others.mcpb(), "unpack", folder / "memory.mcpb", folder / "unpacked"])
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(folder / "memory.mcpb") as bundle:
        names = set(bundle.namelist())
    assert names == {"manifest.json", "pyproject.toml", "icon.png", "src/server.py"}
    return folder / "unpacked"


def started_by_a_host(unpacked, config):
    """Return what a host starts when a person has filled in some fields."""
    folder = node_packages("mcpb", [others.MCPB])
    (folder / "read_manifest.mjs").write_text(READ_MANIFEST, encoding="utf-8")
    done = others.run([node(), folder / "read_manifest.mjs", unpacked, json.dumps(config)])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_remembers_in_the_folder_that_a_person_chose(unpacked, folder, remembers):
    config = started_by_a_host(unpacked, {"home": str(folder / "mine")})
    environment = others.machine(folder / "home", others.uv_folder()) | config["env"]
    remembers(config["command"], *config["args"], environment=environment)
    assert (folder / "mine" / "memory.duckdb").is_file()


def test_with_every_field_empty_it_shares_the_memory_of_the_machine(unpacked, folder, remembers):
    config = started_by_a_host(unpacked, {"home": "", "namespace": ""})
    environment = others.machine(folder / "home", others.uv_folder()) | config["env"]
    remembers(config["command"], *config["args"], environment=environment)
    assert list((folder / "home").rglob("memory.duckdb"))
    assert not list(folder.rglob("*user_config*"))
