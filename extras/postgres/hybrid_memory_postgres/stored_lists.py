"""How statements look into lists of texts, which stand as JSON in a column.

PostgreSQL 15 cannot ask whether a text is JSON, and reading one that is none ends the statement. So an element is looked for as the
characters that a list has there: behind the ``[`` at the beginning, or behind the mark that ends the text before and a comma. Within a
text a quotation mark always stands behind a backslash, so what follows up to the next mark is all of the element. `memory_fields` writes
these columns, without spaces.
"""

from __future__ import annotations

from collections.abc import Collection

from hybrid_memory.store.encoding import to_json


def elements(texts: Collection[str]) -> list[str]:
    """Return texts as they stand in a list."""
    return [to_json(one) for one in texts]


def storable(texts: Collection[str]) -> list[str]:
    """Return those of some texts that can be in the database at all: it holds no zero character, and refuses to be asked for one."""
    return [one for one in texts if "\0" not in one]
