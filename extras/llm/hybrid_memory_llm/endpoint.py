"""One request to a service that speaks as OpenAI's ``/chat/completions`` does, by the standard library: no redirects, no second try."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, cast
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from pydantic import BaseModel, Field, ValidationError

from hybrid_memory_llm.settings import is_near

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from hybrid_memory_llm.settings import LlmSettings

ANSWER_TOKENS = 1_500
"""What an answer may hold: forty decisions and three insights take about a thousand."""

_MOST_BYTES = 1 << 20
_PROBLEMS = {401: "it refused the key", 403: "it refused the key", 404: "it does not know this address or model"}
_PROBLEMS |= {402: "there is no credit left", 429: "it is asked too often, or there is no credit left"}


class EndpointError(Exception):
    """There is no answer; in words for a person, without anything that the service said. ``may_cost``: it may have begun one."""

    def __init__(self, problem: str, *, may_cost: bool) -> None:
        super().__init__(problem)
        self.may_cost = may_cost


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and how many tokens the service counted, None where it does not tell."""

    text: str
    tokens: int | None


class _Message(BaseModel):
    content: str


class _Choice(BaseModel):
    message: _Message


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: dict[str, Any] | None = None


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:  # the answer is then an error of that code
        return None


def ask(settings: LlmSettings, key: str | None, prompt: str, data: str, schema: dict[str, Any]) -> Reply:
    """Return what the model says to a prompt and a message of data.

    Raises:
        EndpointError: there is no usable answer in time.
    """
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": data}],
        settings.answer_limit: ANSWER_TOKENS,
    }
    if settings.answer_format == "json_schema":
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "judgement", "schema": schema}}
    elif settings.answer_format == "json_object":
        body["response_format"] = {"type": "json_object"}
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = Request(f"{settings.base_url}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310 - http(s), as the settings check
    try:
        completion = _Completion.model_validate_json(_sent(request, settings))
    except HTTPError as error:
        error.close()
        problem = _PROBLEMS.get(error.code, "it cannot serve this now")
        raise EndpointError(f"{settings.host} answers {error.code}: {problem}", may_cost=False) from None
    except ValidationError:
        raise EndpointError(f"{settings.host} did not answer as such a service does", may_cost=True) from None
    except (OSError, HTTPException, ValueError) as error:  # ValueError: the key is none that a header can hold
        late = isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError)
        problem = f"gave no answer in {settings.seconds:g} seconds" if late else "cannot be reached"
        unsent = isinstance(error, URLError | ValueError)
        raise EndpointError(f"{settings.host} {problem}", may_cost=not unsent) from None
    tokens = (completion.usage or {}).get("total_tokens")
    return Reply(completion.choices[0].message.content, tokens if type(tokens) is int and tokens > 0 else None)


def _sent(request: Request, settings: LlmSettings) -> bytes:
    """Send a request and return the body of the answer; the whole of it has to come in time."""
    deadline = time.monotonic() + settings.seconds
    # What stays on this machine or in its network goes past the proxy that the variables name.
    opener = build_opener(_NoRedirects(), *([ProxyHandler({})] if is_near(settings.host) else []))
    found, response = b"", cast("HTTPResponse", opener.open(request, timeout=settings.seconds))
    with response:
        while len(found) <= _MOST_BYTES and (chunk := response.read1(1 << 16)):
            found += chunk
            if time.monotonic() > deadline:
                raise TimeoutError
    return found
