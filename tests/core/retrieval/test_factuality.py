"""What is denied, supposed, regretted or quoted is nothing to do, no name and nothing done."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.retrieval.aspects import Aspect, aspects_of, user_names
from hybrid_memory.retrieval.factuality import without_quotes_of_others


@each(
    "text",
    [
        "I don't need to water the ferns.",
        "There is no need to phone the landlord.",
        "You don't have to remind me.",
        "I have to admit the film was long.",
        "I should have asked Nora first.",
        "If I have to sell the boat, I will keep the oars.",
        "Nora thinks I should sell the boat.",
        "Nora said she must renew her visa.",
        "Nora asked whether I have to work on Monday.",
        "It must be lovely up there, I guess.",
        "The bus was late due to snow and we froze.",
        'He said: "I must feed the hens."',
        '"I must feed the hens," said Otto.',
        "Everyone must love that song.",
        "I must be getting old.",
        "The appointment on 3 May was a disaster.",
        "Otto dice que tiene que vender el coche.",
        "Ich muss die Miete nicht überweisen.",
        "Ich brauche den Zaun nicht zu streichen.",
        "Ich muss zugeben, der Film war gut.",
        "Ich hätte Nora fragen sollen.",
        "Falls ich umziehen muss, nehme ich den Hund mit.",
        "Nora meint, ich sollte das Boot verkaufen.",
        "Je n'ai pas besoin d'arroser les fougères.",
        "Je ne dois plus payer le loyer.",
        "Je dois avouer que le film était long.",
        "J'aurais dû demander à Nora.",
        "Si je dois vendre le bateau, je garderai les rames.",
        "Nora pense que je dois vendre le bateau.",
        "No tengo que regar los helechos.",
        "Ya no hace falta llamar al casero.",
        "Tengo que admitir que la película fue larga.",
        "Debería haber preguntado a Nora.",
        "Si tengo que vender el barco, guardo los remos.",
        "Nora cree que debo vender el barco.",
        "Todo va bien con el barco.",
    ],
)
def test_nothing_is_to_be_done(text):
    assert not aspects_of(text) & (Aspect.COMMITMENT | Aspect.DONE)


@each(
    "text",
    [
        "I don't have to pay the fine, but I must call the office.",
        "I must not forget the ferns.",
        "I shouldn't forget the ferns.",
        "I've got to feed the hens.",
        '"I must feed the hens," I said.',
        "The appointment was moved to 3 May.",
        "Ich soll am Montag beim Arzt sein.",
        "My landlord said I have to move the bike by Friday.",
        "Due to snow I have to cancel the trip.",
        "I have to say goodbye to Nora on Friday.",
        "We'll see the lawyer on Friday.",
        "I haven't watered the ferns yet.",
        "Ask Nora if she can come.",
        "Ich muss nicht nur Nora anrufen, sondern auch Tom.",
        "Ich muss Nora noch sagen, dass wir kommen.",
        "Die Rechnung ist noch nicht bezahlt.",
        "Il ne faut pas oublier de payer le loyer.",
        "Je n'ai plus de lait, je dois en acheter.",
        "Je dois dire à Nora que la clé est là.",
        "No debo olvidar pagar el alquiler.",
        "No tengo leche, tengo que comprar pan.",
        "Sí, tengo que llamar a Nora.",
    ],
)
def test_something_is_still_to_be_done(text):
    assert aspects_of(text) & Aspect.COMMITMENT


@each(
    "text",
    [
        "My name is not Vera.",
        "Otto said: my name is Otto.",
        'Otto wrote: "My name is Otto. I live in Bergen."',
        "If my name were Vera, I would move.",
        "I'm not a nurse.",
        "I wish I lived in Bergen.",
        "Ich heiße nicht Vera.",
        "Otto sagte: Ich heiße Otto.",
        "Ich bin kein Lehrer.",
        "Je ne m'appelle pas Vera.",
        "Otto a dit : « Je m'appelle Otto. »",
        "No me llamo Vera.",
        "Otto dijo: me llamo Otto.",
    ],
)
def test_nobody_is_told_by_a_name_denied_or_quoted(text):
    assert not aspects_of(text) & (Aspect.IDENTITY | Aspect.NAME)
    assert not user_names(text)


@each(
    "text",
    [
        "My name is Vera and I don't eat meat.",
        "The user said: my name is Vera.",
        "I said: my name is Vera",
        "I live in Bergen, not in Oslo.",
        "I live in Bergen and don't have a car.",
        "I'm not a nurse, I'm a doctor.",
        "I no longer work at the harbour.",
        "Ich wohne in Bergen und habe kein Auto.",
    ],
)
def test_who_the_user_is_is_told_beside_a_denial(text):
    assert aspects_of(text) & Aspect.IDENTITY
    assert aspects_of(text) & Aspect.ABOUT_USER


def test_the_name_beside_a_quoted_one_is_the_users():
    assert user_names("Otto said: my name is Otto. My name is Vera.") == {"vera"}


@pytest.mark.parametrize(
    "text", ["We did not decide anything.", "Wir haben nichts beschlossen.", "No hemos decidido nada."]
)
def test_without_a_decision_there_is_none(text):
    assert not aspects_of(text) & Aspect.DECISION


@pytest.mark.parametrize("text", ["I haven't called Nora.", "We never paid the fine.", "Nora was not invited."])
def test_what_was_not_done_is_not_done(text):
    assert not aspects_of(text) & Aspect.DONE


@given(
    st.text(max_size=300),
    st.sampled_from(["Otto said: ", 'Nora asks "', "Otto sagte: ", "Otto a dit : « "]),
    st.text(max_size=300),
)
def test_without_quotes_no_character_is_new_and_none_is_more(before, lead, after):
    text = before + lead + after
    rest = iter(text)
    assert all(character in rest for character in without_quotes_of_others(text))
