"""Which messages of a conversation come in as memories."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.importers.chats import chosen, reasons
from tests.tables import each

from hybrid_memory_importers.record import Author, Chosen, Record, RecordKind, Skipped
from hybrid_memory_importers.selection import Choice, Messages, pieces, select

BEGAN = datetime(2026, 3, 1, 9, tzinfo=UTC)


def message(text: str, at: int = 0, conversation: str = "c1", author: Author = Author.PERSON) -> Record:
    """Return a message that was said some minutes after the beginning."""
    return Record(
        key=f"{conversation}/{at}",
        text=text,
        kind=RecordKind.MESSAGE,
        author=author,
        at=BEGAN + timedelta(minutes=at),
        conversation=conversation,
    )


def texts(*said: str) -> list[str]:
    """Return what comes in of one conversation."""
    return [one.text for one in chosen(message(text, at) for at, text in enumerate(said))]


@each(
    "fact",
    [
        "My dentist is Dr. Bauer",
        "I'm allergic to penicillin",
        "we adopted a cat named Miso",
        "My car is a 2014 Golf",
        "I work at Siemens as a controller",
        "our stand-up is at 9:30",
        "Anna's birthday is on May 3rd, she is my sister",
        "I can't stand coriander",
        "mein Bruder wohnt in Graz",
        "mi hermana vive en Sevilla",
        "我对花生过敏",
    ],
)
def test_a_fact_comes_in_also_where_no_rule_of_capture_knows_it(fact: str) -> None:
    assert texts(fact + ".") == [fact]


@each(
    "junk",
    [
        "thanks!",
        "hello",
        "ok do it",
        "What is the capital of France?",
        "can you write a poem about the sea",
        "Make the button blue.",
        "I get an error in line 5",
        "I need a function that sorts a list",
        "I'm trying to install numpy",
        "my code doesn't work",
        "My question is how to sort a list",
        "I have a dataframe with two columns",
        "I like your second version better",
        "that makes sense",
        "If I lived in Rome, what would I pay?",
        "maybe I should move to Rome",
        "fix this:\n\ndef f():\n    return 1",
        "> I live in Rome\n\nwhat does he mean?",
        "Pretend that I am a pirate. I live on a ship.",
        "Summarize this: my mother lives in Rome.",
        "gracias",
        "no entiendo tu respuesta",
        "帮我写一首诗",
        "把这句话翻译成日语：我喜欢在雨天喝咖啡。",
        "I am the storm and I swallow ships, said the sea.",
        "Too formal.",
        "Act as a pirate. I am your captain and my ship is called Bess.",
        "I got TypeError: x is not a function",
        "Thanks for the breakdown, it really helped.",
        "もう少し詳しく",
        "max 3 minutes",
    ],
)
def test_questions_orders_tasks_and_small_talk_stay_out(junk: str) -> None:
    assert texts(junk) == []


@each(
    "fact",
    [
        "the invoices table has about 12 million rows",
        "We only ever shop on Saturdays, that one is fixed",
        "There are three of us: me, my sister Ida and her son Ben (4)",
        "the printer has the address 10.0.0.7 and my modem is a Vigor 167",
        "Write a toast for my uncle Gustav, who turns 70",
        "I have to write a reference for one of my students, Amina Diallo",
        "got a used cargo bike, a Bullitt with a child seat",
        'my novel is called "The Long Winter of Salt and Iron"',
        "La próxima semana viene mi suegra, Pilar",
        "Unser Nachbar Kemal gießt im Urlaub die Blumen",
        "We renamed the service from hermes to courier in June",
        "no dairy for me since the surgery",
        "I'm trying to lose ten kilos",
        "Мою собаку зовут Рекс, ему пять лет",
        "제 딸은 내년에 초등학교에 들어가요",
    ],
)
def test_what_is_not_plainly_something_else_comes_in_whole(fact: str) -> None:
    assert texts(fact + ".") == [fact]


def test_a_sentence_comes_together_with_the_one_that_says_who_he_is() -> None:
    told = "Daniel Roth is one of my reports. He led the billing rewrite."
    assert texts(told) == ["Daniel Roth is one of my reports. He led the billing rewrite"]


def test_also_where_that_one_is_in_the_message_before() -> None:
    assert texts("Daniel Roth is one of my reports.", "He led the billing rewrite in May.")[-1] == (
        "Daniel Roth is one of my reports. He led the billing rewrite in May"
    )


@each(
    "first, then",
    [
        (
            "We fly to Osaka with Tom, from April 3rd to April 17th.",
            "Change of plan: we fly back on the 19th, not the 17th",
        ),
        ("Der Klempner kommt am 27. Februar um 7 Uhr.", "Nee, doch erst am 28. Februar um 9 Uhr"),
        ("Mis alumnos tienen el examen el 14 de mayo.", "Uy, me equivoqué: el examen es el 21 de mayo, no el 14"),
        (
            "Leo eats everything except mushrooms.",
            "Actually I got that wrong, Leo's fine with mushrooms now, he hates leek",
        ),
    ],
)
def test_a_correction_in_ordinary_words_takes_the_place_of_what_it_corrects(first: str, then: str) -> None:
    old, new = chosen([message(first), message(then + ".", 1)])
    assert new.supersedes == (old.record.key, old.part)
    assert new.text == f"{first} {then}"


def test_a_small_number_that_is_denied_takes_no_place_of_what_has_that_number_for_another_reason() -> None:
    old, new = chosen([message("My lad Owen is 7 years old."), message("We shut at 6 on weekdays, not 7.", 1)])
    assert (new.supersedes, new.text) == (None, "We shut at 6 on weekdays, not 7")
    assert old.text == "My lad Owen is 7 years old"


def test_what_is_of_nobody_is_less_important_than_what_is_of_the_person() -> None:
    dull, own = chosen(
        [message("the invoices table has 12 million rows"), message("My tailor has a huge aquarium.", 1)]
    )
    assert (dull.importance, own.importance) == (0.35, 0.5)


def test_what_happens_to_the_people_of_a_novel_stays_out() -> None:
    said = [
        "Write a scene where Ilse meets the harbour master.",
        "Ilse lives in a lighthouse.",
        "My agent is called Beth Warner.",
    ]
    assert texts(*said) == ["My agent is called Beth Warner"]


def test_each_thing_that_is_told_is_one_memory_and_the_request_behind_it_none() -> None:
    told = "My daughter Freya starts school in September, can you make me a list? We live in Graz. What does she need?"
    assert texts(told) == ["My daughter Freya starts school in September", "We live in Graz"]


def test_a_sentence_that_tells_comes_in_whole_but_for_the_question_behind_it() -> None:
    told = "I've started a no-work policy on Sundays, but I'm worried it might hurt my career, what do you think?"
    assert texts(told) == ["I've started a no-work policy on Sundays, but I'm worried it might hurt my career"]


def test_what_capture_knows_keeps_its_sort() -> None:
    (one,) = chosen([message("I always want tabs instead of spaces.")])
    assert (one.tags, one.importance) == (("preference",), 0.8)


def test_what_it_does_not_know_is_of_middle_importance() -> None:
    (one,) = chosen([message("My tailor has a huge aquarium.")])
    assert one.importance == 0.5


def test_parts_of_a_message_are_counted() -> None:
    found = chosen([message("My dentist is Dr. Bauer. I have two kids.")])
    assert [(one.record.key, one.part) for one in found] == [("c1/0", 0), ("c1/0", 1)]


def test_what_was_put_right_is_superseded() -> None:
    old, new = chosen([message("The meeting is on Thursday."), message("no, the meeting is on Friday", 1)])
    assert old.text == "The meeting is on Thursday"
    assert new.supersedes == (old.record.key, old.part)


def test_a_correction_comes_in_also_where_what_it_corrects_was_not_told() -> None:
    assert texts("no, it's Postgres 16, not 15") == ["it's Postgres 16, not 15"]
    assert texts("We use Postgres 15.", "no, it's Postgres 16, not 15")[-1] == "We use Postgres 16"


def test_where_a_person_lives_is_compared_over_conversations_in_the_order_of_time() -> None:
    later, earlier = message("I moved to Lisbon last week.", 50, "new"), message("I live in Berlin.", 1, "old")
    found = {one.text: one for one in chosen([later, earlier])}
    assert found["I moved to Lisbon last week"].supersedes == ("old/1", 0)
    assert found["I live in Berlin"].supersedes is None


def test_things_of_two_conversations_do_not_replace_one_another() -> None:
    found = chosen([message("The deadline is March 3rd.", 0, "a"), message("The deadline is May 9th.", 1, "b")])
    assert [one.supersedes for one in found] == [None, None]


def test_what_was_taken_back_stays_out() -> None:
    found = list(
        select([message("I live in Lisbon."), message("Forget that.", 1), message("I have two kids.", 2)], Choice())
    )
    assert [one.text for one in found if isinstance(one, Chosen)] == ["I have two kids"]
    assert "taken back later in the conversation" in reasons(found)


def test_what_was_said_off_the_record_stays_out() -> None:
    assert texts("off the record: I live in Lisbon.") == []


def test_secrets_are_no_statements() -> None:
    assert texts("my api key is sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c") == []


def test_nothing_is_lost_without_a_reason() -> None:
    found = list(
        select([message("What is this?"), message("hello", 1), message("ok", 1, "c2", Author.ASSISTANT)], Choice())
    )
    assert sorted(reasons(found)) == ["only asks", "orders, small talk, or about the answers", "said by the assistant"]


def test_memories_always_come_in_whoever_wrote_them() -> None:
    kept = Record(
        key="m", text="Is it so?", kind=RecordKind.MEMORY, author=Author.ASSISTANT, supersedes="k", tags=("a",)
    )
    (one,) = chosen([kept])
    assert (one.text, one.supersedes, one.tags) == ("Is it so?", ("k", 0), ("a",))


def test_every_message_of_the_person_comes_in_whole_when_that_is_chosen() -> None:
    both = [message("What is this?"), message("An aquarium.", 1, author=Author.ASSISTANT)]
    assert [one.text for one in chosen(both, Choice(Messages.PERSON))] == ["What is this?"]
    assert [one.text for one in chosen(both, Choice(Messages.ALL))] == ["What is this?", "An aquarium."]


def test_tools_never_speak() -> None:
    assert chosen([message("42", author=Author.OTHER)], Choice(Messages.ALL)) == []


@settings(max_examples=30)
@given(st.text(alphabet="ab \n", max_size=60_000))
def test_a_long_message_comes_in_pieces_that_hold_all_of_its_words(text: str) -> None:
    found = list(pieces(text))
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(0 < len(one) <= 8_000 for one in found)


@settings(max_examples=50)
@given(st.lists(st.text(max_size=300), max_size=6))
def test_whatever_is_said_each_message_comes_in_or_is_left_out_with_a_reason(said: list[str]) -> None:
    found = list(select([message(text, at) for at, text in enumerate(said)], Choice()))
    keys = {one.record.key if isinstance(one, Chosen) else one.where for one in found}
    assert keys == {f"c1/{at}" for at in range(len(said))}
    assert all(one.text.strip() if isinstance(one, Chosen) else one.reason for one in found)
    assert not any(isinstance(one, Chosen) and len(one.text) > 420 for one in found)


def test_what_was_skipped_is_passed_on() -> None:
    assert list(select([Skipped("why", "where")], Choice())) == [Skipped("why", "where")]


@pytest.mark.parametrize(
    "opening",
    [
        "Let's role-play: you are a tavern keeper.",
        "I want to practice my English with you.",
        "Please correct my grammar in every message.",
    ],
)
def test_from_where_a_game_or_an_exercise_begins_nothing_comes_in(opening: str) -> None:
    assert texts("My dentist is Dr. Bauer.", opening, "My sword is enchanted.", "I have two kids.") == [
        "My dentist is Dr. Bauer"
    ]


def test_another_conversation_is_no_part_of_the_game() -> None:
    played = [
        message("Let's role-play.", 0, "a"),
        message("My sword is enchanted.", 1, "a"),
        message("I have two kids.", 2, "b"),
    ]
    assert [one.text for one in chosen(played)] == ["I have two kids"]
