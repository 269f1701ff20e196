"""What a search took a question for, to be told to a person: its words and what each counts, how far its meaning decides.

It is worked out by the functions that rank (``rank.py``), alongside a search and not in it: nothing here changes an order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hybrid_memory.retrieval import term_weights
from hybrid_memory.retrieval.question_languages import in_languages
from hybrid_memory.retrieval.rank import dense_weights

if TYPE_CHECKING:
    from hybrid_memory.retrieval.query import SearchQuery
    from hybrid_memory.retrieval.rank import SearchContext
    from hybrid_memory.retrieval.time_expressions.parsing import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstoodWord:
    """One word of a question.

    ``share``: of what its words count together, 0 to 1. ``held``: how many memories that can be found hold it. ``name``: how surely it is
    a name, 0 to 1. ``in_time``: it is only where the question names a time. ``term`` is how the store writes it.
    """

    word: str
    term: int
    share: float
    held: int
    name: float = 0.0
    in_time: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """What a search took a question for.

    ``windows`` are the times that it names; ``asked_state`` is "past", "current", "first" or "any". ``meaning``: the share of a note's
    score that likeness of meaning decides, 0 to 1, 0 without a vector. ``time_alone``: it asks for a time and nothing else.
    """

    words: tuple[UnderstoodWord, ...] = ()
    windows: tuple[Window, ...] = ()
    asked_state: str = "any"
    language: str = "english"
    meaning: float = 0.0
    time_alone: bool = False


def understand(query: SearchQuery, context: SearchContext) -> Understanding:
    """Return what a search takes a question for, as `rank.rank` does."""
    columns, lexical, parameters = context.columns, context.lexical, context.parameters
    visible = columns.visible(query.now, as_of=query.where.as_of, min_trust=query.where.min_trust)
    # As in `rank`: what is trusted tells how rare words are, where there is both.
    trusted = columns.trusted_among(visible)
    counted = visible if trusted is None else trusted
    if trusted is not None:
        lexical = lexical.alone(trusted, columns.is_trusted)
    question = in_languages(query.question, lexical.languages(), lexical.frequencies, lexical.hasher)
    weighed = term_weights.weigh(question, lexical, counted, parameters)
    held = lexical.document_frequencies(question.terms, visible)
    surely = {one.term: one.strength for one in (*weighed.names, *weighed.unknown_names)}
    terms = weighed.query_terms
    shares = terms.shares or (0.0,) * len(question.words)
    words = tuple(
        UnderstoodWord(
            word=word.marked,
            term=word.term,
            share=share,
            held=holding,
            name=surely.get(word.term, 0.0),
            in_time=word.in_time,
        )
        for word, share, holding in zip(question.words, shares, held, strict=True)
        if word.marked
    )
    return Understanding(
        words=words,
        windows=question.time.windows,
        asked_state=question.time.asked_state,
        language=question.language,
        meaning=_meaning(query, context, weighed.unknown_share),
        time_alone=term_weights.asks_for_a_time_alone(question, lexical.hasher),
    )


def _meaning(query: SearchQuery, context: SearchContext, unknown_share: float) -> float:
    """Return the share that vectors have in the score of a memory that is no turn of a dialogue."""
    if query.vector is None or not context.matrix.fits(query.vector):
        return 0.0
    noted, _ = dense_weights(query, unknown_share, context.parameters)
    return noted
