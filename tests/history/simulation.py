"""Histories of a memory that is right by construction, and ways to make each of them wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import assume
from hypothesis import strategies as st
from tests.history.calls import CREATIONS, READS, Act, Call, Outcome, Recorder

TOPICS = ("birds", "boats")
LISTS = ("guests", "tools")
KEYS = ("next step",)
PLACES = {Act.APPEND: LISTS, Act.READ_LIST: LISTS, Act.SET_KEY: KEYS, Act.READ_KEY: KEYS}
READING_OF = {
    **dict.fromkeys(TOPICS, Act.READ),
    **dict.fromkeys(LISTS, Act.READ_LIST),
    **dict.fromkeys(KEYS, Act.READ_KEY),
}


@dataclass
class _Client:
    """A client between two steps: nothing begun, or a call that has taken effect or not yet."""

    name: str
    call: Call | None = None
    done: bool = False
    seen: tuple[str, ...] = ()
    refused: bool = False


class _World:
    """Every call takes effect at one moment between its beginning and its end."""

    def __init__(self, draw, clients):
        self.draw = draw
        self.recorder = Recorder()
        self.clients = [_Client(f"c{number}") for number in range(clients)]
        self.live = {place: [] for place in READING_OF}
        self.gone = []
        self.count = 0

    def step(self):
        client = self.draw(st.sampled_from(self.clients))
        if client.call is None:
            self.begin(client)
        elif not client.done:
            self.take_effect(client)
        else:
            self.answer(client)

    def begin(self, client):
        act = self.draw(st.sampled_from(Act))
        place = self.draw(st.sampled_from(PLACES.get(act, TOPICS)))
        word = ""
        if act in CREATIONS:
            self.count += 1
            word = f"w{self.count}"
        elif act in (Act.FORGET, Act.RESTORE):
            there = self.live[place] if act is Act.FORGET else [one for at, one in self.gone if at == place]
            if not there:
                return
            word = self.draw(st.sampled_from(there))
        client.call = self.recorder.begin(client.name, act, place, word)
        client.done, client.seen, client.refused = False, (), False

    def take_effect(self, client):
        call, here = client.call, self.live[client.call.place]
        client.done = True
        if call.act in READS:
            client.seen = tuple(here)
        elif call.act in CREATIONS:
            client.refused = self.draw(st.integers(0, 4)) == 0
            if not client.refused:
                here[:] = [call.word] if call.act is Act.SET_KEY else [*here, call.word]
        elif call.act is Act.FORGET and call.word in here:
            here.remove(call.word)
            self.gone.append((call.place, call.word))
        elif call.act is Act.RESTORE and call.word not in here:
            here.append(call.word)

    def answer(self, client):
        if self.draw(st.integers(0, 9)) > 0:
            outcome = Outcome.FAIL if client.refused else Outcome.OK
            self.recorder.end(client.call, outcome, client.seen)
        client.call = None

    def audit(self):
        for place, words in self.live.items():
            self.recorder.end(self.recorder.begin("auditor", READING_OF[place], place), Outcome.OK, words)
        return self.recorder.history()


@st.composite
def histories(draw):
    """A right history, which ends with a reading of every place."""
    world = _World(draw, draw(st.integers(1, 4)))
    for _ in range(draw(st.integers(1, 60))):
        world.step()
    return world.audit()


def changed(history, call, **fields):
    return tuple(replace(one, **fields) if one is call else one for one in history)


def picked(draw, found):
    assume(found)
    return draw(st.sampled_from(found))


def readings(history, place, *, after=0):
    return [
        call
        for call in history
        if call.act in READS and call.outcome is Outcome.OK and call.place == place and call.start > after
    ]


def made(history, *acts, outcome=Outcome.OK):
    return [call for call in history if call.act in acts and call.outcome is outcome]


def untouched(history):
    """Return the acknowledged writes that nobody began to forget."""
    touched = {call.word for call in history if call.act is Act.FORGET}
    return [call for call in made(history, Act.WRITE) if call.word not in touched]


def without(words, word):
    return tuple(one for one in words if one != word)


def lose_a_write(draw, history):
    write = picked(draw, untouched(history))
    for reading in readings(history, write.place, after=write.end):
        history = changed(history, reading, seen=without(reading.seen, write.word))
    return history


def miss_a_write_once(draw, history):
    write = picked(draw, untouched(history))
    reading = picked(draw, readings(history, write.place, after=write.end))
    return changed(history, reading, seen=without(reading.seen, write.word))


def show_a_write_twice(draw, history):
    reading = picked(draw, [one for place in TOPICS for one in readings(history, place) if one.seen])
    return changed(history, reading, seen=(*reading.seen, draw(st.sampled_from(reading.seen))))


def show_what_nobody_wrote(draw, history):
    reading = picked(draw, [one for place in TOPICS for one in readings(history, place)])
    return changed(history, reading, seen=(*reading.seen, "ghost"))


def show_what_another_topic_holds(draw, history):
    write = picked(draw, made(history, Act.WRITE))
    (other,) = set(TOPICS) - {write.place}
    reading = picked(draw, readings(history, other))
    return changed(history, reading, seen=(*reading.seen, write.word))


def show_what_was_refused(draw, history):
    write = picked(draw, made(history, *CREATIONS, outcome=Outcome.FAIL))
    reading = readings(history, write.place)[-1]
    return changed(history, reading, seen=(*reading.seen, write.word))


def show_a_write_before_it_began(draw, history):
    write = picked(draw, made(history, Act.WRITE))
    early = [one for one in readings(history, write.place) if one.end < write.start]
    reading = picked(draw, early)
    return changed(history, reading, seen=(*reading.seen, write.word))


def go_back_behind_what_was_seen(draw, history):
    """A write without an answer may be absent, but not once it was seen."""
    write = picked(draw, untouched(history))
    first = picked(draw, [one for one in readings(history, write.place)[:-1] if write.word in one.seen])
    last = picked(draw, readings(history, write.place, after=first.end))
    history = changed(history, last, seen=without(last.seen, write.word))
    return changed(history, write, end=None, outcome=Outcome.UNKNOWN)


def show_what_is_forgotten(draw, history):
    restored = {call.word for call in history if call.act is Act.RESTORE}
    gone = picked(draw, [one for one in made(history, Act.FORGET) if one.word not in restored])
    reading = picked(draw, readings(history, gone.place, after=gone.end))
    return changed(history, reading, seen=(*reading.seen, gone.word))


def drop_an_element(draw, history):
    append = picked(draw, made(history, Act.APPEND))
    last = readings(history, append.place)[-1]
    return changed(history, last, seen=without(last.seen, append.word))


def swap_two_elements(draw, history):
    """Only the last reading sees the other order, of two that an earlier reading saw already."""
    looks = [one for place in LISTS for one in readings(history, place)[:-1] if len(one.seen) > 1]
    look = picked(draw, looks)
    last = readings(history, look.place)[-1]
    first, second, *rest = last.seen
    return changed(history, last, seen=(second, first, *rest))


def overwrite_an_append(draw, history):
    """The lost update: a reading that began after an append was acknowledged shows the list without it."""
    append = picked(draw, made(history, Act.APPEND))
    look = picked(draw, readings(history, append.place, after=append.end))
    return changed(history, look, seen=look.seen[: look.seen.index(append.word)])


def keep_a_value_that_was_replaced(draw, history):
    """A reading shows a value although a later one was set, and acknowledged, before the reading began."""
    later = picked(draw, made(history, Act.SET_KEY))
    earlier = picked(draw, [one for one in made(history, Act.SET_KEY) if one.end < later.start])
    reading = picked(draw, readings(history, later.place, after=later.end))
    return changed(history, reading, seen=(earlier.word,))


def hold_two_values_at_once(draw, history):
    value = picked(draw, made(history, Act.SET_KEY))
    reading = picked(draw, [one for one in readings(history, value.place) if value.word not in one.seen and one.seen])
    return changed(history, reading, seen=(value.word, *reading.seen))


FAULT_MAKERS = (
    lose_a_write,
    miss_a_write_once,
    show_a_write_twice,
    show_what_nobody_wrote,
    show_what_another_topic_holds,
    show_what_was_refused,
    show_a_write_before_it_began,
    go_back_behind_what_was_seen,
    show_what_is_forgotten,
    drop_an_element,
    swap_two_elements,
    overwrite_an_append,
    keep_a_value_that_was_replaced,
    hold_two_values_at_once,
)
