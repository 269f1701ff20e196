"""The document that is shown inside a chat: made of parts, in itself complete, and harmless."""

from __future__ import annotations

import re

from tests.tables import each

from hybrid_memory_inspector.chat_app.card import FOLDER, MODULES, inspector_html

NAMES = [file.name for file in sorted(FOLDER.glob("*.js"))]


def script():
    return inspector_html().split('<script type="module">')[1].split("</script>")[0]


def test_every_module_of_the_folder_is_in_it_once():
    assert sorted(MODULES) == NAMES


@each("name", MODULES)
def test_a_module_uses_only_what_stands_before_it(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    used = re.findall(r'^import \{ [^{}\n]+ \} from "\./([a-z]+\.js)";$', text, re.MULTILINE)
    assert len(used) == text.count("\nimport ") + text.startswith("import ")
    assert {MODULES.index(one) < MODULES.index(name) for one in used} <= {True}


def test_nothing_is_left_to_be_loaded():
    assert not re.search(r"^(import|export)\b", script(), re.MULTILINE)
    assert not re.search(r"\bimport\(|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|localStorage", script())
    assert not re.search(r"https?://|@import|url\(|<link|<img|src=", inspector_html())


def test_stored_text_is_never_markup():
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc", script()
    )


def test_its_script_cannot_end_early():
    assert inspector_html().count("</script>") == 1
    assert "<!--" not in inspector_html()


def test_nothing_needs_to_be_sent_as_a_form():
    """A host's sandbox need not let forms be sent."""
    assert "<form" not in inspector_html()
    assert '"form"' not in script()


def test_it_is_small():
    assert len(inspector_html().encode()) < 64_000
