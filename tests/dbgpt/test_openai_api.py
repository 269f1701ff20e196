import io
import json
import urllib.error
import urllib.request
import urllib.response
from email.message import Message

import pytest

from hybrid_memory.errors import EmbedderUnavailable, InvalidInput
from hybrid_memory_dbgpt import DefaultEmbeddingFactory, ModelUnavailable, OpenAILLMClient

pytestmark = pytest.mark.anyio

BASE = "http://api.example/v1"


class Api(urllib.request.HTTPHandler):
    """Answers in place of the network as OpenAI's API does, with vectors in the wrong order."""

    def __init__(self):
        super().__init__()
        self.asked, self.status, self.answer = [], 200, echoed

    def http_open(self, request):
        if self.status is None:
            raise urllib.error.URLError("nobody there")
        body = json.loads(request.data)
        self.asked.append((request.full_url, request.get_header("Authorization"), body))
        answer = io.BytesIO(json.dumps(self.answer(body)).encode())
        response = urllib.response.addinfourl(answer, Message(), request.full_url, self.status)
        response.msg = "as asked"
        return response


def echoed(body):
    if "messages" in body:
        return {"choices": [{"message": {"content": f"you said {body['messages'][0]['content']}"}}]}
    rows = [{"index": at, "embedding": [float(len(text)), 1.0]} for at, text in enumerate(body["input"])]
    return {"data": rows[::-1]}


@pytest.fixture
def api():
    handler = Api()
    urllib.request.install_opener(urllib.request.build_opener(handler))
    yield handler
    urllib.request.install_opener(None)


async def test_a_prompt_is_answered(api):
    client = OpenAILLMClient(model_alias="m", api_base=BASE, api_key="secret")
    assert await client.generate("hello") == "you said hello"
    assert api.asked == [
        (
            f"{BASE}/chat/completions",
            "Bearer secret",
            {"model": "m", "messages": [{"role": "user", "content": "hello"}]},
        )
    ]


def test_texts_get_their_vectors_in_order(api):
    embeddings = DefaultEmbeddingFactory.openai(api_url=f"{BASE}/embeddings", api_key=None)
    texts = [("x" * at) for at in range(70)]
    assert embeddings.embed_documents(texts) == [[float(at), 1.0] for at in range(70)]
    assert embeddings.embed_query("four") == [4.0, 1.0]
    assert {key for _, key, _ in api.asked} == {None}
    assert embeddings.identity == "openai:text-embedding-3-small"


@pytest.mark.parametrize(
    ("status", "answer", "told"),
    [
        (401, lambda _: {}, "HTTP status 401"),
        (200, lambda _: {"error": "no"}, "another form"),
        (200, lambda _: [], "another form"),
    ],
)
async def test_a_refusal_is_one_of_our_errors_without_the_question(api, status, answer, told):
    api.status, api.answer = status, answer
    with pytest.raises(ModelUnavailable, match=told) as model:
        await OpenAILLMClient(api_base=BASE).generate("a secret")
    with pytest.raises(EmbedderUnavailable, match=told) as embedder:
        DefaultEmbeddingFactory.remote(api_url=f"{BASE}/embeddings").embed_query("a secret")
    assert "secret" not in f"{model.value}{embedder.value}"


def test_too_few_vectors_are_an_error(api):
    api.answer = lambda _: {"data": []}
    with pytest.raises(EmbedderUnavailable, match="some of the texts"):
        DefaultEmbeddingFactory.openai(f"{BASE}/embeddings").embed_query("tea")


async def test_nobody_there_is_one_of_our_errors(api):
    api.status = None
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await OpenAILLMClient(api_base=BASE).generate("hello")


def test_an_address_of_another_kind_is_refused_at_once():
    with pytest.raises(InvalidInput, match="api_base"):
        OpenAILLMClient(api_base="file:///etc")


def test_a_local_model_is_opened_at_its_first_text(tmp_path):
    embeddings = DefaultEmbeddingFactory.default(str(tmp_path / "no-model"))
    with pytest.raises(EmbedderUnavailable):
        embeddings.embed(["tea"])
