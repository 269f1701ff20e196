"""The words of a question in the languages of a store: "Rechnungen" finds "Rechnung" where there are German memories.

A memory has the stems of its language and the English ones. A short question seldom tells its language, so each of its words
takes the stem that most memories have, of those in the languages that the store holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hybrid_memory.language.languages import ENGLISH
from hybrid_memory.retrieval.question import Question, QuestionWord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.language.terms import TermHasher

Frequencies = Callable[[Collection[int]], "NDArray[np.int64]"]
"""Returns for some terms how many memories hold each."""


def in_languages(
    question: Question, languages: Sequence[str], frequencies: Frequencies, hasher: TermHasher
) -> Question:
    """Return a question whose words have the stems that most memories have; ``languages`` are those of the store but English.

    In a store and a question in English nothing changes. Of stems that as many memories have the English one is taken.
    """
    if not languages and question.language == ENGLISH:
        return question
    tried = dict.fromkeys((ENGLISH, question.language, *languages))
    candidates = [
        dict.fromkeys((*(hasher.term_in(language, word.marked) for language in tried), word.term))
        if word.marked
        else {word.term: None}
        for word in question.words
    ]
    asked = list(dict.fromkeys(term for terms in candidates for term in terms))
    held = dict(zip(asked, frequencies(asked).tolist(), strict=True))
    found: dict[int, QuestionWord] = {}
    for word, terms in zip(question.words, candidates, strict=True):
        best = max(terms, key=held.__getitem__)
        term = best if held[best] else word.term
        known = found.get(term)
        found[term] = replace(word, term=term) if known is None else replace(known, count=known.count + word.count)
    return replace(question, words=tuple(found.values()))
