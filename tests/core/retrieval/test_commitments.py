from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.core.retrieval.memories import memory
from tests.tables import each

from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.model import Tier
from hybrid_memory.retrieval.aspects import Aspect
from hybrid_memory.retrieval.commitments import asks_for_open_items, closes, is_open_commitment, is_past, topic_words
from hybrid_memory.testing import HASHER

WRITTEN = datetime(2026, 3, 2, 9, tzinfo=UTC)


@each(
    "done, commitment",
    [
        ("Called the plumber, done", "Remind me to call the plumber"),
        ("Passport renewed", "Need to renew the passport before June"),
        ("Ada's dentist is booked for 3 May", "Remind me to book the dentist for Ada"),
        ("Bought milk", "Need to buy milk"),
        ("The report is sent", "I promised Kim to send the report"),
        ("Klempner angerufen, erledigt", "Erinnere mich daran, den Klempner anzurufen"),
        ("J'ai appelé le plombier, c'est fait", "Rappelle-moi d'appeler le plombier"),
        ("Ya llamé al fontanero, hecho", "Recuérdame llamar al fontanero"),
        ("Post-mortem of INC-19 is written and sent to Signe", "Has to write the post-mortem of INC-19 until Friday"),
        ("Fred's passport has come, it looks good", "Fred's passport runs out in May; renew it before the trip"),
        ("Die Muster für Eva sind in der Post", "Muster an Eva schicken, bis Dienstag"),
        ("Papier commandé chez Claire, arrive vendredi", "Commander le papier chez Claire avant la fin du mois"),
        ("Genève a payé les 816 francs", "Relancer Genève: la facture n'est pas encore payée"),
    ],
)
def test_what_is_done_closes_its_commitment(done, commitment):
    assert closes(done, commitment)


@each(
    "done, commitment",
    [
        ("Called the electrician, done", "Remind me to call the plumber"),
        ("Sent Tom the report about spring", "Remind me to send Ada the report about spring"),
        ("Paid invoice 117", "Need to pay invoice 118"),
        ("Finished", "Need to pay the rent"),
        ("Ada has arrived", "Need to send Ada the report"),
        ("Ada asked about the invoice", "Need to send Ada the invoice"),
    ],
)
def test_what_is_done_closes_no_other_commitment(done, commitment):
    assert not closes(done, commitment)


def commitment(content, **fields):
    return with_encoded_words(memory("m", content, created_at=WRITTEN, **fields), HASHER)


def test_a_task_whose_day_is_long_gone_is_past():
    task = commitment("Renew the certificate by 20 March 2026")
    assert not is_past(task, WRITTEN + timedelta(days=25))
    assert is_past(task, WRITTEN + timedelta(days=60))


def test_an_appointment_is_past_two_days_later():
    assert is_past(
        commitment("Dentist appointment on 12 March 2026"), datetime(2026, 3, 14, tzinfo=UTC) + timedelta(hours=1)
    )


def test_a_task_without_a_day_stays_open():
    assert not is_past(commitment("Remind me to call the plumber"), WRITTEN + timedelta(days=300))


def test_a_day_before_the_writing_ends_nothing():
    assert not is_past(commitment("Reply to the letter of 1 February 2026"), WRITTEN + timedelta(days=300))


def test_working_memory_is_open_whatever_it_says():
    assert is_open_commitment(commitment("chapter two", tier=Tier.WORKING), Aspect.NONE, WRITTEN)


@each(
    "question",
    [
        "What is still to do?",
        "What's on my to-do list?",
        "What do I still need to do?",
        "Any open tasks for Heron?",
        "What did I promise to do, what is pending?",
        "Was ist noch zu tun?",
        "Was muss ich noch erledigen?",
        "Welche Aufgaben sind noch offen?",
        "Que reste-t-il à faire ?",
        "Qu'est-ce que je dois encore faire ?",
        "¿Qué queda por hacer?",
        "¿Qué tengo pendiente?",
        "还有什么要做的？",
        "やることは何が残っていますか",
    ],
)
def test_questions_for_what_is_open(question):
    assert asks_for_open_items(question)


@each(
    "question",
    [
        "Who is Ada's dentist?",
        "What did we do last week?",
        "When was the plumber called?",
        "Is the shop open on Sunday?",
        "Was macht Kim?",
    ],
)
def test_other_questions_do_not_ask_for_it(question):
    assert not asks_for_open_items(question)


def test_the_topic_of_a_question_for_what_is_open():
    assert topic_words("What is still to do?") == frozenset()
    assert topic_words("Was ist noch zu tun?") == frozenset()
    assert topic_words("What is still to do for the garden?") == frozenset({"garden"})
