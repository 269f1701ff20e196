"""What a person answers the assistant is known when it is looked for what their words change."""

import json

import pytest
from tests.changing import changes_everything
from tests.server.hooks import hooking

from hybrid_memory.model import Scope
from hybrid_memory.requests import ListRequest

ASKED = json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "MySQL, then?"}]}}) + "\n"


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize(
    ("transcript", "answers"), [(ASKED, "MySQL, then?"), (ASKED.replace("?", "\\ud83d"), "MySQL, then?"), ("", "")]
)
def test_what_the_assistant_said_is_told_and_not_stored(service, home, transcript, answers):
    heard = []

    class Listening(type(changes_everything())):
        def judged(self, new, earlier, _rarity, _usual):
            heard.append((new.text, new.answers))
            return [0.0] * len(earlier)

    service.change_model = lambda: changes_everything(sort=Listening)
    talk = hooking.Talk(home, "first", here=True)
    talk.transcript.write_text(transcript)
    talk.hook("prompt", prompt="I decided to use PostgreSQL.")
    assert heard == [("I decided to use PostgreSQL", answers)]
    stored = service.list_memories(Scope(session="test"), ListRequest()).memories
    assert [one.content for one in stored] == ["I decided to use PostgreSQL"]
