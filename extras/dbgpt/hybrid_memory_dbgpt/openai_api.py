"""The model and the embedders that DB-GPT's examples name: one POST to any HTTP API in the form of OpenAI's.

It is here so that those examples run with changed imports and nothing further installed. Nothing is sent before the first question
or text, and no key is looked for. For any other model there is `CallableLLM`, for any other embedder an object with
``embed_documents`` and ``embed_query``.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hybrid_memory.embedding.embedder import Embedder
from hybrid_memory.errors import EmbedderUnavailable, HybridMemoryError, InvalidInput
from hybrid_memory_dbgpt.async_tools import run_blocking

_OPENAI = "https://api.openai.com/v1"
_TEXTS_PER_REQUEST = 64  # far below OpenAI's 2,048, so that a slow local server answers within the time


class ModelUnavailable(HybridMemoryError):
    """A language model cannot be reached, or answered with an error."""


class OpenAILLMClient:
    """Asks the model ``model`` (or, without it, ``model_alias``) under ``api_base``; ``timeout`` is in seconds."""

    def __init__(
        self,
        api_key: str | None = None,
        api_base: str | None = None,
        *,
        model: str | None = None,
        model_alias: str = "gpt-4o-mini",
        timeout: float = 240,
    ) -> None:
        self._api_key = api_key
        self._url = _http((api_base or _OPENAI).rstrip("/") + "/chat/completions", "api_base")
        self._model = model or model_alias
        self._timeout = timeout

    async def generate(self, prompt: str) -> str:
        """Return the answer to a prompt.

        Raises:
            ModelUnavailable: there is no answer.
        """
        body = {"model": self._model, "messages": [{"role": "user", "content": prompt}]}
        try:
            answer = await run_blocking(None, lambda: _post(self._url, self._api_key, body, self._timeout))
            return str(answer["choices"][0]["message"]["content"] or "")
        except (OSError, ValueError, LookupError, TypeError) as failed:
            raise ModelUnavailable(
                f"the language model gave no answer ({_reason(failed)}); see api_base and key"
            ) from None


class OpenAIEmbeddings:
    """Embeds with the model ``model_name`` under ``api_url``. Blocking; safe to call from several threads."""

    def __init__(
        self,
        api_url: str = f"{_OPENAI}/embeddings",
        api_key: str | None = None,
        model_name: str = "text-embedding-3-small",
        timeout: float = 60,
    ) -> None:
        self._url = _http(api_url, "api_url")
        self._api_key = api_key
        self._model = model_name
        self._timeout = timeout

    @property
    def identity(self) -> str:
        """Name of the model: vectors of one model are comparable, wherever it runs."""
        return f"openai:{self._model}"

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text.

        Raises:
            EmbedderUnavailable: the API gave none.
        """
        groups = [list(texts[at : at + _TEXTS_PER_REQUEST]) for at in range(0, len(texts), _TEXTS_PER_REQUEST)]
        return [vector for group in groups for vector in self._embed(group)]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question.

        Raises:
            EmbedderUnavailable: the API gave none.
        """
        return self._embed([text])[0]

    def _embed(self, texts: list[str]) -> list[list[float]]:
        try:
            answer = _post(self._url, self._api_key, {"model": self._model, "input": texts}, self._timeout)
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = [[float(value) for value in row["embedding"]] for row in rows]
        except (OSError, ValueError, LookupError, TypeError) as failed:
            raise EmbedderUnavailable(
                f"no vectors came from the API ({_reason(failed)}); see its address and key"
            ) from None
        if len(vectors) != len(texts):
            raise EmbedderUnavailable("the API gave vectors for some of the texts only; try again")
        return vectors


class DefaultEmbeddingFactory:
    """Makes embedders for `EnhancedShortTermMemory` and `DuckDBVectorStore`."""

    @classmethod
    def openai(
        cls,
        api_url: str | None = None,
        api_key: str | None = None,
        model_name: str = "text-embedding-3-small",
        timeout: float = 60,
    ) -> OpenAIEmbeddings:
        """Return an embedder over the API of OpenAI, or of another address."""
        return OpenAIEmbeddings(api_url or f"{_OPENAI}/embeddings", api_key, model_name, timeout)

    @classmethod
    def remote(
        cls,
        api_url: str = "http://localhost:8100/api/v1/embeddings",
        api_key: str | None = None,
        model_name: str = "text2vec",
        timeout: float = 60,
    ) -> OpenAIEmbeddings:
        """Return an embedder over a server of one's own with OpenAI's API."""
        return OpenAIEmbeddings(api_url, api_key, model_name, timeout)

    @classmethod
    def default(cls, model_name: str, model_path: str | Path | None = None) -> Embedder:
        """Return a local embedder: a model in a folder (ONNX), or one that fastembed knows by name and has downloaded.

        Its files are opened at the first text.
        """
        from hybrid_memory.embedding.registry import FASTEMBED, make_embedder

        return make_embedder(f"{FASTEMBED}{model_path or model_name}")


def _http(url: str, field: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(field, "must begin with http:// or https://")
    return url


def _post(url: str, api_key: str | None, body: Mapping[str, Any], timeout: float) -> Any:
    """Send a JSON body and return the JSON answer."""
    headers = {"Content-Type": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - `_http` looked at the scheme
    with urllib.request.urlopen(request, timeout=timeout) as response:  # noqa: S310 - as above
        return json.loads(response.read())


def _reason(failed: Exception) -> str:
    """Return what went wrong in our own words; an answer's text may hold what was asked."""
    if isinstance(failed, urllib.error.HTTPError):
        return f"HTTP status {failed.code}"
    if isinstance(failed, TimeoutError):
        return "it took too long"
    return "it cannot be reached" if isinstance(failed, OSError) else "its answer has another form"
