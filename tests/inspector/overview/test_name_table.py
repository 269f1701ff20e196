"""The names in memories: people, places, projects and files; what a single text leaves open, all of them decide."""

from __future__ import annotations

import numpy as np
from tests.tables import each

from hybrid_memory_inspector.overview.name_table import BUCKETS, NameKind, NameTable, others_named, titled_names

DAY = 86_400_000_000


def names_in(*texts, speaker=None, shares=lambda words: [None] * len(words)):
    table = NameTable()
    for text in texts:
        table.read(text, speaker)
    return table.listed(np.ones(len(texts), np.bool_), np.arange(len(texts), dtype=np.int64) * DAY, shares)


def listed(*texts, **more):
    return [one.name for one in names_in(*texts, **more)]


def test_people_places_and_projects_are_listed_the_most_frequent_first():
    found = listed("We met Carla in Porto.", "My aunt Carla uses Atlas.", "Then Carla left.")

    assert found[0] == "Carla"
    assert {"Porto", "Atlas"} <= set(found)


def test_a_name_of_two_words_is_one_name():
    assert listed("The bike is at Ponto Verde.") == ["Ponto Verde"]


def test_a_first_name_that_stands_alone_as_well_is_a_name_of_its_own():
    found = listed("I know Ada Nowak.", "Then Ada came.", "We saw Ada.", "They like Ada.")

    assert found == ["Ada", "Ada Nowak"]


def test_a_common_word_that_opens_a_sentence_is_no_name():
    assert listed("Breakfast is at eight.", "Breakfast was late.", "Remember Bo.") == ["Bo"]


def test_a_rare_word_that_opens_sentences_again_and_again_is_one():
    assert listed("Priya lives in a village.", "Priya likes tea.") == ["Priya"]


def test_what_memories_write_small_elsewhere_is_no_name():
    found = listed("Klorg is heavy.", "Klorg is old.", shares=lambda words: [0.0] * len(words))

    assert found == []


@each(
    "text",
    [
        "I like British humour and French cheese.",
        "I am off on Fridays, and on Mondays I swim.",
        "The report needs our PCI audit, and a PDF.",
        "The disk has 40 GB, sent as two PRs on A4 at 18h30.",
    ],
)
def test_peoples_days_and_acronyms_that_are_common_nouns_are_no_names(text):
    assert listed(text) == []


def test_an_acronym_that_is_used_as_a_name_is_one():
    assert listed("Then NATS is live.", "It is the NATS cluster.", "We go to IKEA.") == ["NATS", "IKEA"]


def test_what_was_only_a_noun_may_become_a_name():
    table = NameTable()
    for text in ("See the NATS cluster.", "Then the NATS cluster.", "Then NATS is live."):
        table.read(text, None)

    last = np.array([False, False, True])
    assert [one.name for one in table.listed(last, np.zeros(3, np.int64), lambda words: [None] * len(words))] == [
        "NATS"
    ]


def test_german_nouns_with_articles_are_no_names():
    found = listed(
        "Morgen ist die Prüfung, danach kommt Leonie.",
        "Nach der Prüfung um 14 Uhr ist Leonie da.",
        "Um 9 Uhr geht es los.",
    )

    assert found == ["Leonie"]


def test_a_longer_name_may_begin_with_a_people():
    assert listed("We met at British Museum.") == ["British Museum"]


def test_a_common_word_that_only_ends_longer_names_is_none_of_its_own():
    assert listed("He lives in Gloucester Road.", "She lives in Colston Road.") == ["Colston Road", "Gloucester Road"]


def test_each_name_knows_when_it_came_first_and_last():
    (bo,) = names_in("Then Bo came.", "It rains.", "We saw Bo.")

    assert (bo.first, bo.last, bo.count) == (0, 2 * DAY, 2)
    assert len(bo.over_time) == BUCKETS
    assert sum(bo.over_time) == 2


def test_who_speaks_is_a_speaker_and_a_file_is_a_code():
    kinds = {one.name: one.kind for one in names_in("Look at src/router.py and BUG-412.", speaker="ada")}

    assert kinds == {"ada": NameKind.SPEAKER, "src/router.py": NameKind.CODE, "BUG-412": NameKind.CODE}


def test_memories_that_do_not_count_have_no_names():
    table = NameTable()
    table.read("Then Bo came.", None)

    assert table.listed(np.zeros(1, np.bool_), np.zeros(1, np.int64), lambda words: [None] * len(words)) == []


@each(
    "text, name",
    [
        ("昨天王芳老师来了。", "王芳"),
        ("明日は田中さんに会う。", "田中"),
        ("アンナさんと話した。", "アンナ"),
        ("내일 김민수 씨를 만난다.", "김민수"),
        ("قابلت أختي ليلى في السوق", "ليلى"),
        ("פגשתי את אחותי נועה", "נועה"),
        ("Мы вчера видели Ольгу.", "Ольгу"),
        ("Χθες είδα τον Νίκο.", "Νίκο"),
    ],
)
def test_names_are_found_in_other_scripts(text, name):
    assert name in listed(text)


@each("text", ["お母さんと話した。", "皆さん、こんにちは。", "お客様が来た。", "我的先生很好。", "no names at all"])
def test_a_title_alone_is_no_name(text):
    assert list(titled_names(text)) == []


def test_who_else_is_named_is_counted_without_the_name_itself():
    texts = [("Then Ada met Bo in Porto.", None), ("We saw Ada and Bo.", None)]

    assert others_named(texts, "ada", lambda _: False) == [("Bo", 2), ("Porto", 1)]


def test_peoples_and_acronyms_are_not_named_with_a_name():
    assert others_named([("Then Ada spoke Polish about PCI in Porto.", None)], "Ada", lambda _: False) == [("Porto", 1)]


@each("text", ["Then You're late.", "We saw I’m.", "It is Let's.", "See 【】 and 123456.", "Paths are #ffd27d."])
def test_what_only_looks_like_a_name_is_none(text):
    assert listed(text) == []


def test_brackets_around_a_name_are_no_part_of_it():
    assert listed("It is 【Heron】 now.", "Then Heron came.") == ["Heron"]
