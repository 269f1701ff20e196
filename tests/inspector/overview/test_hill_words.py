"""The words of a region: what its memories share and the others do not, as they are spelled, in any script."""

from __future__ import annotations

import numpy as np
from tests.tables import each

from hybrid_memory.language.languages import language_of
from hybrid_memory.language.terms import TermHasher
from hybrid_memory_inspector.overview.hill_words import named, spelled, telling

HASHER = TermHasher(0x1234_5678_9ABC_DEF1)


def words_of(*hills):
    """Return the words of hills, each a list of texts."""
    texts = [text for hill in hills for text in hill]
    terms = [HASHER.terms(text, language_of(text)) for text in texts]
    found = telling(
        np.array([term for one in terms for term in one], np.int32),
        np.array([len(one) for one in terms], np.int64),
        np.repeat(np.arange(len(hills), dtype=np.int16), [len(hill) for hill in hills]),
        len(hills),
    )
    return [spelled(one.terms, [texts[at] for at in one.read], HASHER) for one in found]


GARDEN = [
    "The tomatoes need water.",
    "Tomatoes grow in the garden.",
    "The garden has red tomatoes.",
    "Water the garden at night.",
]
CODE = [
    "Postgres runs on port 5433.",
    "Move Postgres to the server.",
    "The server needs a backup.",
    "Postgres backup at night.",
]


def test_a_region_bears_the_words_that_its_memories_share():
    garden, code = words_of(GARDEN, CODE)

    assert set(garden[:2]) == {"garden", "tomatoes"}
    assert code[0] == "Postgres"


def test_what_stands_everywhere_names_nothing():
    garden, code = words_of(GARDEN, CODE)

    assert "night" not in garden[:2]
    assert "the" not in [one.lower() for one in garden + code]


@each(
    "texts, word",
    [
        (["Der Zahnarzt ist in der Stadt.", "Der Zahnarzt hat heute zu.", "Mein Zahnarzt heißt Keller."], "Zahnarzt"),
        (["Врач живёт рядом.", "Мой врач очень добрый.", "К кому пойти: врач занят."], "врач"),
        (["أحب القهوة كثيرا", "القهوة في الصباح", "شربت القهوة اليوم"], "القهوة"),
        (["来年東京へ行く。", "東京は大きい。", "東京の友だち。"], "東京"),
    ],
)
def test_the_words_are_of_any_language(texts, word):
    assert word in words_of(texts, CODE)[0]


def test_a_word_of_characters_without_spaces_is_put_together_again():
    found = words_of(["アレルギーがある。", "卵アレルギー", "アレルギーの薬"], CODE)[0]

    assert "アレルギー" in found


def test_two_hills_do_not_bear_the_same_word_if_it_can_be_helped():
    assert named([["Ada", "garden"], ["Ada", "office"]], [9, 4], 1) == [["Ada"], ["office"]]
    assert named([["Ada"], ["Ada"]], [9, 4], 2) == [["Ada"], ["Ada"]]


def test_memories_without_words_have_no_name():
    assert words_of(["..."], ["!!!"]) == [[], []]
