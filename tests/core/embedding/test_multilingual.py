"""The multilingual table against its pinned files, against a reference tokenizer, and in eleven languages."""

from __future__ import annotations

import hashlib
import itertools
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.embedding.multilingual import DATA, DIGEST, FILES, MultilingualEmbedder, digest_of, fold
from hybrid_memory.embedding.registry import is_multilingual, setting_for
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings

SHA256 = {
    "table.npy": "b545dd8cf85d25d1f27fc3d411b86ce856b3c1a39546a2a42a0c48e0f3963a29",
    "scale.npy": "613e58f06ac57811a8cd95148dd54cf4ff07f383e8a7639e448ec0eb8a7355d5",
    "layer.npy": "2ee4f51fa87ccaeea6a62622214386769d226a98a9122cc68298bd9cc4342e87",
    "pieces.txt": "f5a7788311dd9febc38a57b58179f00c860a9a11f4def2ca66b8acd39e95313e",
    "score.npy": "353981b289fae8c8eb7527b85698375eb71cc87826c9da5789eb3892e3604805",
}
TEXTS = [
    "Melanie's dog didn't like the vet, e-mail me: a.b@example.com!",
    "Die Straße ist gesperrt; wir fahren morgen früh los.",
    "我有一只猫，東京に行きました。カタカナ・ひらがな",
    "한국어 문장입니다 서울",
    "Привет, мир! Как дела?",
    "ＦＵＬＬ　width ① ﬁne ½",
    "हिन्दी में लिखो",
    "👩‍👩‍👧 👍🏽 text👍stuck",
    "tab\tline\nreturn\rnext end",
    "x" * 300,
    "",
    "   ",
]
# A question, its answer in other words, and other memories of that language.
ASKED = {
    "zh": ("我对什么过敏？", "我不能吃花生，会起疹子。", ("我们周五要去看电影。", "他的车停在楼下。")),
    "ja": ("ペットを飼っていますか？", "うちには猫が二匹います。", ("明日は東京に行きます。", "駅まで歩いて十分です。")),
    "ko": ("내 직업은 무엇입니까?", "나는 병원에서 간호사로 일합니다.", ("우리는 주말에 영화를 봅니다.", "기차는 아홉 시에 떠납니다.")),
    "de": ("Welche Haustiere gibt es bei uns?", "Wir haben eine Katze und einen Hund.", ("Der Zug fährt um neun.", "Ich kaufe Brot.")),
    "fr": ("Où est-ce que je travaille ?", "Mon bureau se trouve à Lyon.", ("Nous avons deux chats.", "Il pleut beaucoup ce soir.")),
    "es": ("¿Qué animal tenemos en casa?", "Adoptamos un perro el año pasado.", ("El tren sale a las nueve.", "Ella estudia derecho.")),
    "it": ("Quando parte il treno?", "Il treno lascia la stazione alle nove.", ("Mia sorella studia legge.", "Abbiamo due gatti.")),
    "pt": ("Qual é a profissão da minha irmã?", "Minha irmã trabalha como médica.", ("O trem sai às nove.", "Temos dois gatos.")),
    "nl": ("Welk huisdier hebben we?", "We hebben een hond en twee katten.", ("De trein vertrekt om negen uur.", "Zij studeert rechten.")),
    "ru": ("Какие у нас животные?", "У нас дома живёт кошка.", ("Поезд отходит в девять.", "Она изучает право.")),
    "en": ("Which pet lives with us?", "We adopted a puppy from the shelter.", ("The train leaves at nine.", "Rent is due on Monday.")),
}  # fmt: skip


@pytest.fixture(scope="module")
def embedder():
    return MultilingualEmbedder()


@pytest.fixture(scope="module")
def reference():
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = (DATA / "pieces.txt").read_text(encoding="utf-8").split("\n")
    scores = np.load(DATA / "score.npy").astype(float).tolist()
    vocabulary = [("<unk>", 0.0), *zip(pieces, scores, strict=True)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    score_of = dict(vocabulary)
    return lambda text: sum(
        score_of[one] for one in tokenizer.encode(" ".join(fold(text).split())).tokens if one in score_of
    )


def written_tiny(folder):
    """Write a table of five pieces in two dimensions whose layer says nothing."""
    pieces = ["▁", "a", "b", "ab", "▁a"]
    np.save(folder / "table.npy", np.array([[0x88], [0x8F], [0xF8], [0xFF], [0x18]], np.uint8))
    np.save(folder / "scale.npy", np.full((5, 1), 0.5, np.float16))
    np.save(folder / "layer.npy", np.zeros((3, 5), np.float16))
    np.save(folder / "score.npy", np.array([-3, -2, -2, -3.5, -4], np.float16))
    (folder / "pieces.txt").write_text("\n".join(pieces), encoding="utf-8")
    return folder


@pytest.fixture
def tiny(tmp_path):
    return written_tiny(tmp_path)


@pytest.fixture(scope="module")
def five_pieces(tmp_path_factory):
    return MultilingualEmbedder(written_tiny(tmp_path_factory.mktemp("five")))


def test_the_shipped_files_are_the_pinned_ones():
    assert {name: hashlib.sha256((DATA / name).read_bytes()).hexdigest() for name in FILES} == SHA256
    assert digest_of(DATA) == DIGEST


def test_the_identity_names_the_digest_and_leads_back_to_the_setting(embedder):
    assert embedder.identity == f"multilingual-v1:{DIGEST}"
    assert setting_for(embedder.identity) == "multilingual"


def test_the_same_files_elsewhere_have_the_same_identity(tmp_path, embedder):
    for name in FILES:
        shutil.copy(DATA / name, tmp_path)
    assert MultilingualEmbedder(tmp_path).identity == embedder.identity


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
def test_the_pieces_are_as_likely_as_those_of_the_reference(embedder, reference, text):
    score_of = {piece: score for piece, (_, score) in embedder._table().found.items()}
    assert sum(score_of[piece] for piece in embedder.tokens(text)) == pytest.approx(reference(text), abs=1e-2)


@given(text=st.text(alphabet="ab ", max_size=9))
def test_no_other_cut_is_likelier(five_pieces, text):
    score_of = {"▁": -3.0, "a": -2.0, "b": -2.0, "ab": -3.5, "▁a": -4.0}

    def best(word):
        if not word:
            return 0.0
        return max(score_of[p] + best(word[len(p) :]) for p in score_of if word.startswith(p))

    found = five_pieces.tokens(text)
    assert sum(score_of[piece] for piece in found) == pytest.approx(sum(best("▁" + word) for word in text.split()))


@given(text=st.text(max_size=60))
def test_rows_of_any_text_are_unit_vectors_or_zero(embedder, text):
    length = float(np.linalg.norm(embedder.embed([text])[0]))
    assert length == pytest.approx(1, abs=1e-5) or length == 0


def test_a_text_without_a_known_piece_gives_a_zero_row(embedder):
    assert not embedder.embed(["", "  "]).any()


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, 256)


def test_a_vector_does_not_depend_on_the_batch(embedder):
    together = embedder.embed(TEXTS)
    for row, text in zip(together, TEXTS, strict=True):
        assert np.array_equal(row, embedder.embed([text])[0])


def test_a_long_text_is_summed_like_a_short_one(embedder):
    a, b = embedder.embed(["我们 去 看 电影", "我们 去 看 电影 " * 500])
    assert float(a @ b) == pytest.approx(1, abs=1e-4)


def test_forms_of_a_character_do_not_matter(embedder):
    a, b = embedder.embed(["Café １２", "cafe\u0301 12"])
    assert np.array_equal(a, b)


def test_several_threads_get_the_same_vectors():
    shared = MultilingualEmbedder()
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: shared.embed(TEXTS), range(8)))
    assert all(np.array_equal(made[0], one) for one in made)


@pytest.mark.parametrize("language", ASKED)
def test_a_question_finds_its_answer_in_other_words(embedder, language):
    question, answer, others = ASKED[language]
    vectors = embedder.embed([answer, *others])
    assert int(np.argmax(vectors @ embedder.embed([question])[0])) == 0


@pytest.mark.parametrize(
    ("one", "other"), list(itertools.combinations(("我们有一只狗。", "Wir haben einen Hund.", "We have a dog."), 2))
)
def test_a_sentence_is_nearer_to_itself_in_another_language_than_to_another(embedder, one, other):
    a, b, far = embedder.embed([one, other, "The invoice has to be paid by Friday."])
    assert float(a @ b) > float(a @ far)


def test_a_chinese_store_answers_questions_in_other_words(tmp_path):
    service = MemoryService.open(
        tmp_path,
        clock=SystemClock(),
        random_source=SystemRandomSource(),
        settings=StoreSettings(embedder="multilingual", former_embedder=None),
    )
    scope = Scope(session="s")
    question, answer, others = ASKED["zh"]
    for words in (others[0], answer, *others[1:]):
        assert not service.write(scope, WriteRequest(content=words)).pending
    assert service.read(scope, ReadRequest(query=question)).hits[0].memory.content == answer
    assert service.status(scope).embedder == f"multilingual-v1:{DIGEST}"
    service.close()


@each(
    "identity, many",
    [
        (f"multilingual-v1:{DIGEST}", True),
        ("fastembed:intfloat/multilingual-e5-large@00", True),
        ("fastembed:sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2@00", True),
        ("static-v2:00", False),
        ("minilm:00", False),
        ("fastembed:BAAI/bge-small-en-v1.5@00", False),
    ],
)
def test_an_embedder_of_many_languages_is_known_by_its_name(identity, many):
    assert is_multilingual(identity) is many


def test_a_missing_folder_is_an_unavailable_embedder(tmp_path):
    with pytest.raises(EmbedderUnavailable, match="cannot be read"):
        MultilingualEmbedder(tmp_path / "absent").embed(["x"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("table.npy", np.zeros((4, 1), np.uint8)),
        ("table.npy", np.zeros((5, 1), np.int8)),
        ("scale.npy", np.zeros((4, 1), np.float16)),
        ("scale.npy", np.zeros(5, np.float16)),
        ("score.npy", np.zeros(6, np.float16)),
        ("layer.npy", np.zeros((3, 7), np.float16)),
    ],
)
def test_files_that_do_not_fit_each_other_are_refused(tiny, name, content):
    np.save(tiny / name, content)
    with pytest.raises(EmbedderUnavailable, match="do not belong together"):
        MultilingualEmbedder(tiny).embed(["ab"])


def test_values_of_four_bits_are_read_low_half_first(tiny):
    assert MultilingualEmbedder(tiny)._table().rows.tolist() == [[0, 0], [7, 0], [0, 7], [7, 7], [0, -7]]
