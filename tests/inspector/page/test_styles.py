"""What a template names is styled somewhere, so that no gap or colour is lost unseen."""

from __future__ import annotations

import re

from tests.tables import each

from hybrid_memory_inspector.page.rendering import FOLDER

CLASSES = re.compile(r'class="([a-z0-9 -]+)"')
# They say what a part is, and look like what is around them.
UNSTYLED = frozenset(
    [
        "audit-what",
        "brand-name",
        "error",
        "history-link",
        "is-gone",
        "key-all",
        "legend-one",
        "map",
        "memory-link",
        "said",
        "session-what",
        "shares-figure",
        "shown",
        "times",
        "typed",
        "version-times",
    ]
)


def styled() -> set[str]:
    return {
        name
        for file in (FOLDER / "static").glob("*.css")
        for name in re.findall(r"\.([a-z][a-z0-9-]*)", file.read_text(encoding="utf-8"))
    }


@each("template", sorted(one.name for one in (FOLDER / "templates").iterdir()))
def test_every_class_of_a_template_has_a_style(template):
    text = (FOLDER / "templates" / template).read_text(encoding="utf-8")
    named = {name for found in CLASSES.findall(text) for name in found.split()}
    assert named <= styled() | UNSTYLED
