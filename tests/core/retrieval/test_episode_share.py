"""What was promoted is found before what was said in passing, unless that fits far better."""

import pytest
from tests.core.speaking import remember, texts

from hybrid_memory.model import Origin

PROMOTED = "the kiln fires on Thursdays"


@pytest.fixture
def say(service, scope):
    def say(content, **fields):
        return remember(service, scope, content, importance=0.3, origin=Origin.USER, **fields)

    return say


def test_of_two_that_fit_alike_the_promoted_one_is_first(service, scope, say):
    say(PROMOTED)
    say("the kiln fires on Saturdays", episode=True)
    assert texts(service, scope, "when does the kiln fire")[0] == PROMOTED


def test_an_episode_that_alone_fits_is_first(service, scope, say):
    say(PROMOTED)
    say("the goose bit the postman on the bridge", episode=True)
    assert texts(service, scope, "what did the goose bite")[0] == "the goose bit the postman on the bridge"
