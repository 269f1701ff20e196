"""Fit the model that says which earlier statement a new one changes (``changes/pairs.py``).

It learns from lives, played in order of time into a store of memory: the dialogues in ``tools/dialogues``, whose authors marked what
changes what; the diaries, notes and logs in ``tools/streams``, where one statement in fifteen changes an earlier one and many resemble
each other; the lives in ``tools/changing``, where one in five does, mostly without a word that says so; those of a few messages in
``tools/short_lives``, half of which end with a change and half with what only looks like one; and stores of notes with questions, of
whose answers the stale ones were changed by the current one.

    uv run --group fit python -m tools.fit_changes           fits it, writes the model and its calibration
    uv run python -m tools.fit_changes --check FILE ...      measures the committed one on lives that nothing was fitted on

Logistic regression with a quadratic penalty by Newton's method, and small networks, as in ``tools/fit_gate.py``; lives are held out whole.
The networks are fitted on the output of regressions that did not see that life.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from tools.fit_gate import DIALOGUES, fitted, levelled_networks

from hybrid_memory.changes.pairs import (
    CALIBRATION,
    MODEL,
    ChangeModel,
    Statement,
    Usual,
    chosen,
    features_alone,
    load_changes,
    pair_features,
    read_features,
    read_in_context,
)
from hybrid_memory.clock import SystemRandomSource
from hybrid_memory.embedding.universal import UniversalEmbedder
from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock

TESTS = Path(__file__).parents[1] / "tests" / "data"
NOTES = [*sorted((TESTS / "half_years").glob("dev-*.json")), *sorted((TESTS / "lives").glob("dev-*.json"))]
STREAMS = Path(__file__).with_name("streams")
CHANGING = Path(__file__).with_name("changing")
SHORT = Path(__file__).with_name("short_lives")
CHANGES = ("replaces", "ends")
FOLDS = 6
PENALTY_ALONE, PENALTY_PAIR = 10.0, 3.0
HIDDEN, ROUNDS = 32, 8
CORRECTED, HINTED = 0.5, 0.7
"""Precision, in dialogues, of what is shown behind a correction that likely changed it, and of what a writer hears of."""
LINKED = 0.26
"""Chance from which on an earlier statement is shown behind one that is no correction (decision 0125)."""
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Told:
    """A statement of a life; ``changes`` says of earlier ones, by name, how it changes them. ``answers`` is what the assistant had said."""

    name: str
    text: str
    at: datetime
    session: str
    changes: dict[str, str]
    answers: str = ""


@dataclass(slots=True)
class Example:
    """A new statement as the model saw it when it was written, with the earlier ones near to it and how each was changed."""

    life: str
    new: Statement
    earlier: list[Statement]
    rarity: dict[int, float]
    usual: Usual
    how: list[str]
    wanted: int


def lives_of(paths: Iterable[Path]) -> dict[str, list[Told]]:
    """Return what the lives in some files state, in order of time."""
    found: dict[str, list[Told]] = {}
    for path in paths:
        if path.suffix == ".json":
            for store in json.loads(path.read_text(encoding="utf-8"))["stores"]:
                found[f"notes {store['id']}"] = _notes(store)
        elif path.parent.name == SHORT.name:
            for line in path.read_text(encoding="utf-8").splitlines():
                life = json.loads(line)
                found[f"{path.stem}#{life['id']}"] = _short(life)
        elif told := _dialogue(path):
            found[path.stem] = told
    return found


def _dialogue(path: Path) -> list[Told]:
    found = []
    before: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        said = json.loads(line)
        if said.get("role") == "assistant":
            before = said
        if said.get("role") != "user" or isinstance(said["keep"], bool):
            continue
        answers = before["text"] if before.get("conv") == said["conv"] else ""
        before = {}
        for one in said["keep"]:
            changes = {change["id"]: change["how"] for change in one.get("changes", ())}
            found.append(Told(one["id"], one["text"], _moment(said["at"]), said["conv"], changes, answers))
    return found


def _short(life: dict[str, Any]) -> list[Told]:
    """Return the messages of a short life, of which the last may change one before it."""
    *before, later = *life["before"], life["later"]
    talks = [one["at"][:10] for one in before]
    talks.append(talks[-1] if life["same_talk"] else "later")
    changes = {str(life["old"]): life["kind"]} if life["kind"] in CHANGES else {}
    return [
        Told(str(at), one["user"], _moment(one["at"]), talk, changes if one is later else {}, one.get("assistant", ""))
        for at, (one, talk) in enumerate(zip((*before, later), talks, strict=True))
    ]


def _notes(store: dict[str, list[dict[str, str]]]) -> list[Told]:
    """Return the notes of a store; each stale answer was changed by the next later one of the same question."""
    notes = sorted(store["memories"], key=lambda one: one["written_at"])
    at = {one["id"]: one["written_at"] for one in notes}
    changes: dict[str, dict[str, str]] = defaultdict(dict)
    for question in store["questions"]:
        answers = {*(question.get("stale") or ()), *question["gold"]}
        for old in question.get("stale") or ():
            later = sorted((one for one in answers if at[one] > at[old]), key=at.__getitem__)
            if later:
                changes[later[0]][old] = "replaces"
    return [
        Told(one["id"], one["text"], _moment(one["written_at"]), str(one.get("session")), changes[one["id"]])
        for one in notes
    ]


def _moment(written: str) -> datetime:
    found = datetime.fromisoformat(written)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class _Watcher(ChangeModel):
    """Notes what the product asks its model, and finds no change."""

    def judged(
        self, new: Statement, earlier: Sequence[Statement], rarity: Mapping[int, float], usual: Usual
    ) -> list[float]:
        """Note a new statement and the earlier ones near to it."""
        self.seen.append((new, list(earlier), dict(rarity), usual))
        return [0.0] * len(earlier)

    seen: ClassVar[list[tuple[Statement, list[Statement], dict[int, float], Usual]]] = []


def played(lives: Mapping[str, Sequence[Told]], embedder: UniversalEmbedder) -> list[Example]:
    """Write each life into a store, and return what its model was asked before each statement was written."""
    found = []
    nothing = np.zeros(1, np.float32)
    watcher = _Watcher(
        alone=nothing,
        pair=nothing,
        means=nothing,
        scales=nothing,
        networks={},
        in_context=read_in_context,
        corrected=1.0,
        linked=1.0,
        hinted=1.0,
    )
    for life, told in lives.items():
        clock = FakeClock(told[0].at)
        service = MemoryService(MemoryStore(clock), embedder, clock=clock, random_source=SystemRandomSource())
        service.change_model = lambda: watcher
        name_of: dict[str, str] = {}
        for one in told:
            clock.set(max(one.at, clock.now()))
            _Watcher.seen.clear()
            service.write(
                Scope(session=one.session),
                WriteRequest(
                    content=one.text,
                    memory_type=MemoryType.LONG_TERM,
                    origin=Origin.USER,
                    occurred_at=one.at,
                    answers=one.answers,
                ),
            )
            wanted = sum(how in CHANGES for how in one.changes.values())
            # The second time it is asked about what was said in passing, of which a life has nothing.
            for new, earlier, rarity, usual in _Watcher.seen[:1]:
                how = [one.changes.get(name_of.get(other.text, ""), "") for other in earlier]
                found.append(Example(life, new, earlier, rarity, usual, how, wanted))
            name_of[one.text] = one.name
        service.close()
    return found


def fit(examples: Sequence[Example]) -> ChangeModel:
    """Return the model that some examples teach; its thresholds are set later."""
    regressions = _regressions(examples)
    rows, wanted = [], []
    fold = _folds(examples)
    for held in sorted(set(fold.tolist())):
        others = _regressions([one for one, of in zip(examples, fold, strict=True) if of != held])
        for one in (one for one, of in zip(examples, fold, strict=True) if of == held and one.earlier):
            seen, odds = others.regressed(one.new, one.earlier, one.rarity, one.usual)
            read = chosen(1 / (1 + np.exp(-odds)))
            if len(read):
                context = _read([one.earlier[at].text for at in read], one.new.text, one.new.answers)
                rows.append(read_features(seen[read], odds[read], context))
                wanted += [float(one.how[at] in CHANGES) for at in read]
    networks = levelled_networks(np.concatenate(rows).astype(np.float64), np.array(wanted), HIDDEN, ROUNDS)
    return replace(regressions, networks=networks)


_seen: dict[tuple[str, str, str], NDArray[np.float32]] = {}


def _read(earlier: Sequence[str], new: str, answers: str) -> NDArray[np.float32]:
    """Return what `read_in_context` does; the same pair is asked for in each fold."""
    missing = [one for one in earlier if (one, new, answers) not in _seen]
    if missing:
        _seen.update(zip(((one, new, answers) for one in missing), read_in_context(missing, new, answers), strict=True))
    return np.array([_seen[one, new, answers] for one in earlier])


def _regressions(examples: Sequence[Example]) -> ChangeModel:
    rows = np.array([features_alone(one.new) for one in examples], np.float64)
    changes = np.array([float(one.wanted > 0) for one in examples])
    repeats = np.array([float("same" in one.how) for one in examples])
    alone = np.stack([fitted(rows, wanted, PENALTY_ALONE) for wanted in (changes, repeats)], axis=1)
    # The second regression must not see chances that the first has learned by heart.
    sounds = _held_out(examples, rows, changes, repeats)
    pairs = np.concatenate([_pairs(one, sound) for one, sound in zip(examples, sounds, strict=True) if one.earlier])
    wanted = np.array([float(how in CHANGES) for one in examples for how in one.how])
    means, scales = pairs.mean(0), pairs.std(0) + 1e-6
    weights = fitted(((pairs - means) / scales).astype(np.float64), wanted, PENALTY_PAIR)
    arrays = (one.astype(np.float32) for one in (alone, weights, means, scales))
    return ChangeModel(
        **dict(zip(("alone", "pair", "means", "scales"), arrays, strict=True)),
        networks={},
        in_context=_read,
        corrected=1.0,
        linked=1.0,
        hinted=1.0,
    )


def _held_out(examples: Sequence[Example], rows: Array, changes: Array, repeats: Array) -> list[tuple[float, float]]:
    fold = _folds(examples)
    odds = np.zeros((len(examples), 2))
    for held in range(FOLDS):
        for column, wanted in enumerate((changes, repeats)):
            weights = fitted(rows[fold != held], wanted[fold != held], PENALTY_ALONE)
            odds[fold == held, column] = rows[fold == held] @ weights[:-1] + weights[-1]
    return [(float(one), float(other)) for one, other in np.clip(odds, -9, 9) / 3]


def _folds(examples: Sequence[Example]) -> NDArray[np.int64]:
    return np.array([zlib.crc32(_author(one).encode()) % FOLDS for one in examples])


def _author(one: Example) -> str:
    """Return whose life it is: short lives of one author are held out together."""
    return one.life.partition("#")[0]


def _pairs(one: Example, sound: tuple[float, float]) -> NDArray[np.float32]:
    return pair_features(one.new, one.earlier, one.rarity, one.usual, sound)


def cross_validated(examples: Sequence[Example]) -> list[list[float]]:
    """Return the chance of each pair, by models that saw nothing of its life."""
    fold = _folds(examples)
    chances: list[list[float]] = [[] for _ in examples]
    for held in range(FOLDS):
        model = fit([one for one, of in zip(examples, fold, strict=True) if of != held])
        for place in np.flatnonzero(fold == held).tolist():
            one = examples[place]
            chances[place] = model.judged(one.new, one.earlier, one.rarity, one.usual)
    return chances


def best_of(examples: Sequence[Example], chances: Sequence[Sequence[float]]) -> tuple[Array, NDArray[np.bool_]]:
    """Return of each statement with any near to it the highest chance, and whether that one is changed."""
    best, right = [], []
    for one, some in zip(examples, chances, strict=True):
        if some:
            place = int(np.argmax(some))
            best.append(some[place])
            right.append(one.how[place] in CHANGES)
    return np.array(best), np.array(right)


def figures(examples: Sequence[Example], chances: Sequence[Sequence[float]], at: float) -> dict[str, float | int]:
    """Return what is called a change from a chance on, how much of it rightly, and how many changes there are."""
    best, right = best_of(examples, chances)
    called, changes = best >= at, sum(one.wanted for one in examples)
    found = int((called & right).sum())
    return {
        "statements": len(examples),
        "changes": changes,
        "called": int(called.sum()),
        "precision": round(found / max(1, int(called.sum())), 3),
        "recall": round(found / max(1, changes), 3),
    }


def threshold_for(best: Array, right: NDArray[np.bool_], precision: float) -> float:
    """Return the lowest threshold, in hundredths, from which on the precision is reached."""
    steps = np.arange(0.05, 1, 0.01).round(2).tolist()
    return next((at for at in steps if (best >= at).any() and right[best >= at].mean() >= precision), 0.99)


def main() -> None:
    """Fit and write the model, or measure the committed one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--misses", action="store_true", help="print what is called wrongly or missed")
    options = parser.parse_args()
    embedder = UniversalEmbedder()
    if options.check:
        model = load_changes()
        examples = played(lives_of(options.check), embedder)
        chances = [model.judged(one.new, one.earlier, one.rarity, one.usual) for one in examples]
        for at in (model.corrected, model.linked, model.hinted):
            print(at, figures(examples, chances, at))
        if options.misses:
            _print_misses(examples, chances, model.linked)
        return
    files = {folder.name: sorted(folder.glob("*.jsonl")) for folder in (DIALOGUES, STREAMS, CHANGING, SHORT)}
    examples = played(lives_of([*(one for some in files.values() for one in some), *NOTES]), embedder)
    chances = cross_validated(examples)
    groups = {name: _only(examples, chances, {path.stem for path in some}) for name, some in files.items()}
    of_dialogues = groups[DIALOGUES.name]
    corrected, hinted = (threshold_for(*best_of(*of_dialogues), precision) for precision in (CORRECTED, HINTED))
    model = fit(examples)
    every = np.array([chance for some in chances for chance in some])
    changed = np.array([how in CHANGES for one in examples for how in one.how])
    calibration = {
        "corrected": corrected,
        "linked": LINKED,
        "hinted": hinted,
        "cross_validated": {
            f"{name} from {at}": figures(*some, at)
            for name, some in groups.items()
            for at in sorted({corrected, LINKED, hinted})
        },
        "changed_of_chance": {
            f"{low / 10:.1f}": [int(inside.sum()), round(float(changed[inside].mean()), 2)]
            for low in range(10)
            if (inside := (every >= low / 10) & (every < (low + 1) / 10)).any()
        },
    }
    networks = {name: one.astype(np.float16) for name, one in model.networks.items()}
    np.savez(
        MODEL,
        alone=model.alone.astype(np.float16),
        pair=model.pair,
        means=model.means,
        scales=model.scales,
        **networks,
    )
    CALIBRATION.write_text(json.dumps(calibration, indent=2) + "\n", encoding="utf-8")
    print(CALIBRATION.read_text(encoding="utf-8"))


def _only(
    examples: Sequence[Example], chances: Sequence[Sequence[float]], files: Collection[str]
) -> tuple[list[Example], list[Sequence[float]]]:
    places = [place for place, one in enumerate(examples) if _author(one) in files]
    return [examples[place] for place in places], [chances[place] for place in places]


def _print_misses(examples: Sequence[Example], chances: Sequence[Sequence[float]], at: float) -> None:
    for one, some in zip(examples, chances, strict=True):
        place = int(np.argmax(some)) if some else -1
        called = place >= 0 and some[place] >= at
        right = place >= 0 and one.how[place] in CHANGES
        if called != right or (one.wanted and not called):
            old = one.earlier[place].text if place >= 0 else ""
            print(
                f"{some[place] if some else 0:.2f} {'called' if called else 'missed'} {one.life}: {old!r} -> {one.new.text!r}"
            )


if __name__ == "__main__":
    main()
