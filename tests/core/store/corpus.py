"""Cases of damage that failed: kept in `tests/corpus/new`; those moved to `tests/corpus` are replayed by the quick tier."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.core.store.damage import Template, damage, judged, lay_out

CORPUS = Path(__file__).parents[2] / "corpus"

Case = tuple[int, str, str, str]
"""Which template, what kind of damage, to which file, with which seed."""


def replay(templates: Sequence[Template], home: Path, case: Case, *, twice: bool = True) -> str:
    """Damage a template's files as a case says and judge what an opening makes of them."""
    template, kind, name, seed = case
    files = damage(kind, templates[template].files, name, random.Random(seed))
    return judged(lay_out(home, files), templates[template], twice=twice)


@contextmanager
def saved_when_failing(case: Case) -> Iterator[None]:
    """Save the case where the block fails, and say which it was."""
    try:
        yield
    except BaseException as error:
        with suppress(OSError):
            (CORPUS / "new").mkdir(parents=True, exist_ok=True)
            (CORPUS / "new" / f"damage-{case[3].replace(' ', '-')}.json").write_text(json.dumps(case) + "\n")
        error.add_note(f"case {case}")
        raise


def saved() -> list[Case]:
    """Return the saved cases."""
    found = [json.loads(file.read_text()) for file in sorted(CORPUS.glob("damage-*.json"))]
    return [(template, kind, name, seed) for template, kind, name, seed in found]
