import itertools

from benchmarks.cutoff import Record, by_set, fits, judge

from hybrid_memory.retrieval.cutoff import CutRules

RULES = CutRules(least=1, share=0.5, gap=1.0)


def record(scores, gold, name="a"):
    return Record(set=name, scores=tuple(scores), weak=(False,) * len(scores), gold=tuple(gold))


def test_a_right_hit_that_is_cut_is_counted_as_lost():
    judged = judge([record([1, 0.9, 0.1], [True, False, True]), record([1, 0.1], [False, True])], RULES)
    assert judged.shown == 1.5
    assert judged.first_lost == 0.5
    assert judged.gold_lost == 2 / 3


def test_a_question_without_a_right_hit_loses_none():
    assert judge([record([1, 0.1], [False, False])], RULES).gold_lost == 0


def test_a_fit_shows_more_only_for_fewer_lost():
    sets = by_set([record([1, 0.6, 0.45, 0.3, 0.2], [False, False, True, False, True], name) for name in "ab"])
    found = [judged for _, judged in fits(sets)]
    assert all(a.shown <= b.shown and a.gold_lost > b.gold_lost for a, b in itertools.pairwise(found))
