"""The table ``[llm]`` of ``config.toml``; the key is in the environment alone."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from hybrid_memory.config_file import CONFIG, read_config
from hybrid_memory.errors import InvalidInput
from hybrid_memory.settings import setting_error

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "llm"


def _address(value: str) -> str:
    found = value.strip().rstrip("/")
    try:
        parts = urlsplit(found)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise _wrong("must be an address as https://api.example.com/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise _wrong("must hold no key and no password; key_variable names the variable with the key")
    if parts.scheme == "http" and not is_near(host):
        raise _wrong("must begin with https:// outside of this machine and private addresses")
    return found


def _variable(value: str) -> str:
    if not (value.isascii() and value.isidentifier()):
        raise _wrong("must be the name of a variable, never the key itself")
    return value


def _wrong(problem: str) -> PydanticCustomError:
    return PydanticCustomError("setting", "{problem}", {"problem": problem})


def is_near(host: str) -> bool:
    """Return True for this machine, and for an address that only a private network has."""
    try:
        return host == "localhost" or ip_address(host).is_private
    except ValueError:
        return False


class LlmSettings(BaseModel):
    """Which model judges conversations, and what it may cost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    on: bool = Field(default=False, description="Let a model of your own judge each conversation that has ended.")
    base_url: Annotated[str, AfterValidator(_address)] | None = Field(
        None, description="Address of a service that speaks as OpenAI's does, as https://api.example.com/v1."
    )
    model: str | None = Field(None, min_length=1, max_length=100, description="The model's name there.")
    key_variable: Annotated[str, AfterValidator(_variable)] | None = Field(
        None, max_length=100, description="Name of the environment variable that holds the key, where one is needed."
    )
    tokens_a_day: int = Field(50_000, ge=0, le=1_000_000_000, description="Tokens that it may use on one day (UTC).")
    seconds: float = Field(60, gt=0, le=600, description="How long an answer is waited for.")
    answer_limit: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="What the service calls the limit of an answer."
    )
    answer_format: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema", description="How the service is asked for JSON; none: by the prompt alone."
    )

    @property
    def host(self) -> str:
        """The machine of the address."""
        return urlsplit(self.base_url or "").hostname or ""


def read_settings(home: Path) -> LlmSettings | None:
    """Return the settings of the store in ``home``, read again each time; None where this is switched off.

    Raises:
        InvalidInput: names the setting that is wrong or missing.
    """
    table = read_config(home).get(TABLE, {})
    try:
        found = LlmSettings.model_validate(table)
    except ValidationError as error:
        raise setting_error(error, LlmSettings.model_fields, lambda _: f"[{TABLE}] in {CONFIG}") from None
    if not found.on:
        return None
    if found.base_url is None or found.model is None:
        raise InvalidInput(TABLE, f"needs base_url and model ([{TABLE}] in {CONFIG})")
    return found
