"""Measures of a ranking: pure functions of the ids found, best first, and of those wanted."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

CUTS = (1, 5, 10, 20)
ADVERSARIAL = "5"
SESSIONS = 10


def recall(ranked: Sequence[str], gold: Collection[str], cut: int) -> float:
    """Return the share of the wanted ids among the first ``cut``."""
    return len(set(ranked[:cut]) & set(gold)) / len(gold)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Return 1 / place of the first wanted id, 0 when none is there."""
    return next((1 / place for place, one in enumerate(ranked, 1) if one in gold), 0.0)


def ndcg(ranked: Sequence[str], gold: Collection[str], cut: int = 10) -> float:
    """Return the binary normalised discounted cumulative gain (Järvelin and Kekäläinen, 2002)."""
    gained = sum(1 / math.log2(place + 1) for place, one in enumerate(ranked[:cut], 1) if one in gold)
    return gained / sum(1 / math.log2(place + 1) for place in range(1, min(len(gold), cut) + 1))


def session_hit(ranked: Sequence[str], gold: Collection[str], session_of: Mapping[str, str]) -> float:
    """Return 1 when a session that holds a wanted id is among the first ten distinct sessions of the ranking."""
    wanted = {session_of[one] for one in gold if one in session_of}
    distinct = list(dict.fromkeys(session_of[one] for one in ranked))
    return float(bool(wanted & set(distinct[:SESSIONS])))


def newest_first(ranked: Sequence[str], gold: Collection[str], stale: Collection[str]) -> float:
    """Return 1 when a wanted id is above every outdated one."""
    place = {one: at for at, one in enumerate(ranked)}
    last = len(ranked)
    return float(min(place.get(one, last) for one in gold) < min(place.get(one, last) for one in stale))


def auroc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """Return the chance that an answerable question has a greater best score than an unanswerable one; ties count half."""
    wins = sum((a > b) + 0.5 * (a == b) for a in answerable for b in unanswerable)
    return wins / (len(answerable) * len(unanswerable))


def of_question(ranked: Sequence[str], gold: Collection[str], session_of: Mapping[str, str]) -> dict[str, float]:
    """Return all measures of one answerable question."""
    row = {f"recall@{cut}": recall(ranked, gold, cut) for cut in CUTS}
    row["hit@1"] = float(bool(ranked) and ranked[0] in gold)
    row["mrr"] = reciprocal_rank(ranked, gold)
    row["ndcg@10"] = ndcg(ranked, gold)
    row["session_hit@10"] = session_hit(ranked, gold, session_of)
    return row


def mean_of(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the number of questions and the mean of each measure, to four places."""
    means = {name: round(fmean(row[name] for row in rows), 4) for name in rows[0]} if rows else {}
    return {"n": len(rows), **means}
