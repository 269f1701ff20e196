"""The parts of "Running it for a team" that no container engine is needed for."""

from pathlib import Path

import pytest
import typer

from hybrid_memory.settings import PREFIX, StoreSettings
from hybrid_memory_mcp.cli.commands import app

yaml = pytest.importorskip("yaml")

PROJECT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((PROJECT / "examples" / "team" / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
HUBS = [name for name in SERVICES if name.startswith("hub-")]


def test_each_variable_of_a_hub_is_a_setting():
    for hub in HUBS:
        assert {name.removeprefix(PREFIX).lower() for name in SERVICES[hub]["environment"]} <= set(
            StoreSettings.model_fields
        )


def test_two_hubs_have_a_folder_each_and_their_tokens_together():
    folders = [dict(one.split(":")[::-1] for one in SERVICES[hub]["volumes"]) for hub in HUBS]
    assert len({one["/data"] for one in folders}) == len(HUBS) == 2
    assert len({one["/tokens"] for one in folders}) == 1
    assert all(SERVICES[hub]["environment"]["HYBRID_MEMORY_TOKENS_FOLDER"] == "/tokens" for hub in HUBS)


def test_what_a_service_mounts_or_needs_is_there():
    for service in SERVICES.values():
        for volume in service["volumes"]:
            assert volume.split(":")[0] in COMPOSE["volumes"]
        for needed in service.get("depends_on", {}):
            assert needed in SERVICES
        assert set(service["secrets"]) <= set(COMPOSE["secrets"])


def test_no_password_stands_in_the_file():
    text = (PROJECT / "examples" / "team" / "compose.yaml").read_text(encoding="utf-8")
    assert "PASSWORD:" not in text
    assert all(Path(secret["file"]).parts[0] == "secrets" for secret in COMPOSE["secrets"].values())


def test_the_commands_of_the_services_exist():
    known = typer.main.get_command(app).commands
    for name in ("prepare", *HUBS):
        assert SERVICES[name]["command"][0] in known
