from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.language import lexicon
from hybrid_memory.model import Kind
from hybrid_memory.retrieval import aspects
from hybrid_memory.retrieval.aspect_words import marks
from hybrid_memory.retrieval.aspects import Aspect, aspects_of, user_names

WHO = Aspect.IDENTITY | Aspect.ABOUT_USER
HEALTH = Aspect.HEALTH | Aspect.ABOUT_USER
TASTE = Aspect.PREFERENCE | Aspect.ABOUT_USER


@each(
    "text",
    [
        "The user's name is Mira and she is a nurse in Leeds",
        "My name is Tom.",
        "I'm a nurse",
        "User works as a librarian in Ghent",
        "Lives in Oslo with her husband Jonas and two kids",
        "My daughter is called Nora",
        "Role: site reliability engineer",
        "Ich heiße Greta und wohne in Freiburg",
        "Ich bin Schreinerin",
        "Mein Mann heißt Jonas",
        "Je m'appelle Claire et j'habite à Lyon",
        "Je suis potière",
        "Me llamo Lucía y vivo en Granada",
        "Soy ceramista",
        "我叫李华，住在北京",
        "私の名前は田中です",
    ],
)
def test_who_the_user_is(text):
    assert aspects_of(text) & WHO == WHO


@each(
    "text",
    [
        "I'm allergic to penicillin",
        "The user has a severe nut allergy",
        "I cannot eat gluten",
        "Allergic to cats",
        "Ich bin gegen Nüsse allergisch",
        "Je suis allergique aux noix",
        "Soy alérgica a la penicilina",
        "我对青霉素过敏",
        "ピーナッツアレルギーがあります",
    ],
)
def test_the_users_health(text):
    assert aspects_of(text) & HEALTH == HEALTH


@each(
    "text",
    [
        "Prefers answers in short bullet points",
        "I like my coffee black",
        "The user never eats meat and loves cycling",
        "Please always answer in French",
        "No longer drinks coffee",
        "Wants summaries in at most three sentences",
        "The user does not want emojis in answers",
        "Veut des réponses courtes",
        "Quiere respuestas breves",
        "Ich mag lieber kurze Antworten",
        "Der Nutzer bevorzugt dunkle Themen",
        "Je préfère travailler le matin",
        "Prefiere respuestas cortas",
        "Me gusta el té verde",
        "喜欢喝绿茶",
        "緑茶が好きです",
    ],
)
def test_the_users_preferences(text):
    assert aspects_of(text) & TASTE == TASTE


@each(
    "text",
    [
        "Remind me to call the plumber",
        "Can you remind me to call mum?",
        "Need to renew the passport before June",
        "Lena still has to return the rental car",
        "Lena wants to book flights before Easter",
        "Waiting on a reply from the insurance",
        "TODO: update the changelog",
        "I promised Kim a review by Friday",
        "The invoice to Ada is not paid yet",
        "Book the hotel in Ghent",
        "Dentist appointment on 12 March at 9:30",
        "Nora has to bring the form on Monday",
        "Erinnere mich daran, den Klempner anzurufen",
        "Ich muss noch die Rechnung schreiben",
        "Rechnung 118 ist noch offen",
        "Klempner anrufen",
        "Rappelle-moi d'appeler le plombier",
        "Je dois envoyer la facture à Claire",
        "Recuérdame llamar al fontanero",
        "Tengo que enviar la factura a Ana",
        "记得给妈妈打电话",
        "請求書を送ることを忘れないで",
    ],
)
def test_what_is_to_be_done(text):
    assert aspects_of(text) & Aspect.COMMITMENT
    assert not aspects_of(text) & Aspect.DONE


@each(
    "text",
    [
        "Called the plumber, done",
        "Passport renewed",
        "The reminder about the passport is done",
        "I have paid the invoice",
        "Klempner angerufen, erledigt",
        "J'ai appelé le plombier, c'est fait",
        "Ya llamé al fontanero, hecho",
        "护照已经办好了",
    ],
)
def test_what_is_done(text):
    assert aspects_of(text) & Aspect.DONE
    assert not aspects_of(text) & Aspect.COMMITMENT


@each(
    "text",
    [
        "We decided to use Postgres",
        "The team agreed on trunk-based development",
        "Decision: the club meets on Thursdays",
        "Wir haben beschlossen, Leinen zu nehmen",
        "On a décidé d'utiliser Postgres",
        "Hemos decidido usar lino",
        "我们决定用Postgres",
    ],
)
def test_what_was_decided(text):
    assert aspects_of(text) & Aspect.DECISION


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "All 214 tests passed in 12 s",
        "[2026-01-03 10:00] INFO user prefers dark mode",
        "The build failed with exit code 1",
        "It was raining in Porto",
        "I'm a bit tired today",
        "Heron is a project for billing",
        "The service must be idempotent",
        "What is my name?",
        "Do I like tea?",
        "You need to run the migration first",
        "We would like to book a table",
        "Physiotherapie bei Frau Aebi",
        "Al final llovió",
        "The weather turned cold",
    ],
)
def test_what_tells_nothing_about_the_user(text):
    assert aspects_of(text) is Aspect.NONE


@each(
    "text",
    [
        "Nora prefers window seats",
        "I think Nora prefers tea",
        "Mira is vegetarian",
        "Users prefer dark mode, says the survey",
    ],
)
def test_what_somebody_else_prefers_is_not_the_users_preference(text):
    assert aspects_of(text) == Aspect.PREFERENCE


def test_what_the_users_daughter_prefers_is_about_the_family():
    assert aspects_of("My daughter Nora prefers window seats") == Aspect.PREFERENCE | Aspect.ABOUT_FAMILY
    assert aspects_of("The user's son is allergic to nuts") == Aspect.HEALTH | Aspect.ABOUT_FAMILY


def test_who_says_i_counts():
    text = "I prefer tea"
    assert aspects_of(text, speaker="user") == aspects_of(text) == TASTE
    assert aspects_of(text, speaker="Tom") == Aspect.PREFERENCE


def test_an_insight_is_knowledge_about_the_user():
    assert aspects_of("Deadlines slip when Kim is away", kind=Kind.INSIGHT) == Aspect.TRAIT | Aspect.ABOUT_USER


def test_the_summary_of_a_session_is_classed_by_its_tags_alone():
    text = "We decided to use Postgres. Remind me to call Kim."
    assert aspects_of(text, kind=Kind.SUMMARY) is Aspect.NONE
    assert aspects_of(text, kind=Kind.SUMMARY, tags=("decision",)) & Aspect.DECISION


@pytest.mark.parametrize(
    ("tag", "aspect"), [("Allergy", Aspect.HEALTH), ("#todo", Aspect.COMMITMENT), ("vorlieben", Aspect.PREFERENCE)]
)
def test_a_tag_says_what_a_memory_is(tag, aspect):
    assert aspects_of("green, 12", tags=(tag,)) & aspect


def test_a_tagged_task_that_is_done_is_done():
    assert aspects_of("Sent the report", tags=("task",)) & (Aspect.COMMITMENT | Aspect.DONE) == Aspect.DONE


def test_each_sentence_has_an_aspect_of_its_own():
    found = aspects_of("I'm Mira's neighbour. I am allergic to bees. We decided to sell the car.")
    assert found & Aspect.HEALTH
    assert found & Aspect.DECISION


@each(
    "text, names",
    [
        ("The user's name is Mira Okafor.", {"mira", "mira okafor"}),
        ("Ich heiße Jörg", {"jorg"}),
        ("Je m'appelle Élodie", {"elodie"}),
        ("我叫李华", {"李华"}),
        ("The branch name is taken", set()),
    ],
)
def test_what_the_user_is_called(text, names):
    assert user_names(text) == names


@given(st.text(max_size=300))
def test_any_text_has_aspects(text):
    assert isinstance(aspects_of(text), Aspect)


@given(
    st.sampled_from(["I'm allergic to penicillin", "We decided to use Postgres", "Remind me to call Kim"]),
    st.text("xyz ", max_size=30),
)
def test_case_of_letters_after_the_first_changes_nothing(text, rest):
    assert aspects_of(f"{text}. {rest}") == aspects_of(f"{text}. {rest.upper()}")


@each("name", lexicon.tables("aspects"))
def test_a_sentence_with_a_mark_has_one_of_its_triggers(name):
    known = marks(name)
    for mark in (*known.words, *(f"{beginning}xyz" for beginning in known.beginnings), *known.phrases):
        sentence = next(aspects.sentences(f"so {mark} then"))
        # What is hyphenated or elided is several words, and never one of these.
        assert f" {mark.strip()} " not in sentence.flat or not known.triggers.isdisjoint(sentence.triggers), mark
