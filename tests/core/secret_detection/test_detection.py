"""What is found, what is left alone, and that it takes no longer on a text that was made to be slow."""

import importlib
import pkgutil
import random
import re
import string
import uuid
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.secret_detection.planted import (
    ALNUM,
    CARDS,
    DISCORD,
    FINE_GRAINED,
    HEX,
    JWT,
    OTHER_TOKENS,
    TOKENS,
    WALLET_KEY,
    drawn,
    json_part,
    with_check_digit,
)
from tests.tables import each

from hybrid_memory import secret_detection
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.card_numbers import has_check_digit, is_issued
from hybrid_memory.secret_detection.detection import find_secrets
from hybrid_memory.secret_detection.masking import kinds_in_json, kinds_of, masked, masked_json

PIECES = [*TOKENS.values(), *CARDS, "password is hunter2", "PIN: 4821", "and", "\n", ": ", "="]
LIVES = Path(__file__).parents[2] / "data" / "lives"


@each("kind, token", TOKENS.items())
def test_a_token_is_known_by_its_shape(kind, token):
    assert masked(f"The deployment uses {token} since May.") == f"The deployment uses [secret: {kind}] since May."


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\ufeff"])
def test_characters_that_nobody_sees_hide_no_token(hidden):
    token = TOKENS["GitHub token"]
    assert masked(f"use {token[:20]}{hidden}{token[20:]}{hidden} now") == f"use [secret: GitHub token]{hidden} now"


@each("shape, token", OTHER_TOKENS.items())
def test_a_published_shape_is_known_whole_and_only_whole(shape, token):
    assert [token] == [text[one.start : one.end] for text in [f"uses {token} here"] for one in find_secrets(text)]
    assert kinds_of(f"uses {token[:-1]} here", f"x{token}") == ()


def test_wallet_keys_and_discord_tokens_are_known_by_what_they_say():
    assert kinds_of(WALLET_KEY, DISCORD) == ("wallet key", "Discord bot token")
    assert kinds_of(WALLET_KEY[:-3] + "zzz", DISCORD.replace(DISCORD[:26], "M" + drawn(ALNUM, 25))) == ()


def test_a_fine_grained_token_of_github_is_one_too():
    assert kinds_of(f"token {FINE_GRAINED}") == ("GitHub token",)


@each("token", [one for kind, one in TOKENS.items() if kind != "private key"])
def test_a_token_inside_a_longer_word_is_none(token):
    assert kinds_of(f"x{token}") == ()


@each("beginning", ["gh" + "p_", "AKI" + "A", "sk-" + "proj-", "glp" + "at-", "np" + "m_"])
def test_a_row_of_crosses_is_no_token(beginning):
    assert kinds_of(beginning + "X" * 36, beginning + "...") == ()


def test_three_parts_that_begin_like_a_web_token_are_none_without_its_header():
    assert kinds_of(JWT.replace(JWT.split(".")[0], json_part({"id": 1, "name": "nothing"}))) == ()


@each("number", CARDS)
def test_a_card_number_is_found_as_cards_show_it(number):
    assert masked(f"pays with {number}, until 10/29") == "pays with [secret: card number], until 10/29"


@each(
    "text",
    [
        "order 4111111111111112",  # the check digit is wrong
        "4111 1111 1111 1111 1234",  # a longer row of digits
        "id 94111111111111111",
        "order number 4539148803436467 was shipped",
        "Order 4012888888881881, Bestellnummer 5105105105105100",
        "serial 5500005555555559, bank account 5425233430109903",
        "ticket id=4539148803436467, 订单号 4539148803436467",
        "order numbers 4012888888881881, meter reading 4012888888881881, a transaction id of 4012888888881881",
        "4111111111111111 test card of docs",
        "4539.1488-0343 6467",
        "4111-111-111-111-111",  # no groups of a card
        "1700000000000 and 978-3-16-148410-0",  # a time in milliseconds and an ISBN
        "call +49 170 1234567 or 0151 23456789",
        "192.168.100.100, 1.4111111111111111, #4111111111111111",
        "IBAN DE89 3704 0044 0532 0130 00",
    ],
)
def test_other_numbers_are_no_cards(text):
    assert kinds_of(text) == ()


def test_a_long_number_is_a_card_only_beside_a_word_for_one():
    number = with_check_digit("6212345678901234" + "56")
    assert (kinds_of(f"order {number}"), kinds_of(f"UnionPay card {number}")) == ((), ("card number",))


@given(st.text(DIGITS := "0123456789", min_size=11, max_size=18))
def test_the_check_digit_finds_each_single_wrong_digit(digits):
    number = with_check_digit(digits)
    assert has_check_digit(number)
    assert not has_check_digit(number[:-1] + DIGITS[(int(number[-1]) + 1) % 10])


def test_one_random_number_of_sixteen_digits_in_fifty_could_be_a_card():
    draws = random.Random(3)
    found = sum(
        is_issued(one) and has_check_digit(one) for one in (f"{draws.randrange(10**16):016}" for _ in range(5000))
    )
    assert found / 5000 < 0.03


@each(
    "before, value, after",
    [
        ("The wifi password is ", "hunter2", ", tell nobody."),
        ("The password for the office wifi is ", "Tr0ub4dor&3", " and the guest one differs"),
        ("password: ", "S3cr3t!x", ""),
        ("DB_PASSWORD=", "swordfish", ""),
        ('{"password": "', "swordfish", '"}'),
        ("user: bob, password: ", "swordfish", ""),
        ('the password is "', "correct horse battery staple", '"'),
        ("I changed the password to ", "Foo123bar", " today"),
        ("jdbc: postgres://app:", "s3cretpw", "@db.example.com/x"),
        ("Das WLAN-Passwort lautet ", "Sommer2024!", ""),
        ("mot de passe : ", "Soleil42", ""),
        ("la contraseña es ", "Gato1234", "."),
        ("a senha do wifi é ", "Gato99x", "."),
        ("la password è ", "Sole2024", "."),
        ("wachtwoord: ", "Fiets99", ""),
        ("hasło to ", "Kot12345", ""),
        ("пароль от вайфая: ", "qwerty12", ""),
        ("密码是", "abc12345", "，请记住"),
        ("パスワードは", "abc12345", "です"),
        ("My PIN is ", "4821", "."),
        ("My PIN is ", "4821", " since May"),
        ("parola este ", "gato1234", ""),
        ("पासवर्ड ", "abc12345", " है"),
        ("รหัสผ่านคือ ", "abc12345", ""),
        ("הסיסמה שלי היא ", "abc12345", ""),
        ("**Password:** ", "Tr0ub4dor&3", ""),
        ("<b>Password:</b> ", "Tr0ub4dor&3", ""),
        ("**API key:** ", drawn(ALNUM, 32), ""),
        ("Password:\n", "Tr0ub4dor&3", "\nnext line"),
        ("curl -u admin:", "xk29Lmq3", " https://x.example"),
        ("WIFI:T:WPA;S:cabin;P:", "xk29Lmq3", ";;"),
        ("machine api.example login bob password ", "xk29Lmq3", ""),
        ("I paid my order with ", "4539148803436467", ""),
        ("Order: ", "4539 1488 0343 6467", ""),
        ("api_key = '", drawn(HEX, 32), "'"),
        ("Authorization: Bearer ", drawn(ALNUM, 32), ""),
        ("aws_secret_access_key = ", drawn(ALNUM + "/+", 40), ""),
        ("access_token=", drawn(ALNUM, 24), "&page=2"),
    ],
)
def test_a_value_behind_a_word_for_a_secret_is_masked_and_nothing_else(before, value, after):
    shown = masked(before + value + after)
    assert shown.startswith(before + "[secret: ")
    assert shown.endswith("]" + after)
    assert value not in shown


@each(
    "text",
    [
        "My password is wrong again",
        "password: required",
        "password=None, password: str, password = getpass()",
        "password = os.environ['DB_PASSWORD']",
        'password="<your password>"',
        'connect(user="myuser", password="mypassword")',
        "The password manager: 1Password",
        "The password is 12 characters long and the password policy is SHA-256",
        "I reset the password on 2024-05-01 at 10:30",
        "Passwort vergessen, siehe Notiz 12",
        "The password is in the safe at home",
        "My seed phrase is stored somewhere safe because last year someone almost found where",
        "The token count: 4096 and next_page_token: CAUQAA1234567890abcdefgh",
        "The secret: kubernetes/prod-db-credentials/v2",
        "The key is under the mat, the secret is patience, the pin fell down",
        "Our PIN code in India: 560001",
        "fixed in 3f786850e387550fdab836ed7e6dc881de23001b, see #4f8a2b and https://example.com/a:b/c@d",
        "She spends 4000 a month; the token price rose to 12345",
        'La parola è "silenzio"',
        "Una parola: arcobaleno7",
        "Het parool: Amsterdam1944",
        "PIN is 2024 fashion",
        "pin number is 12345 of the bowling set",
        "if password == user.password_hash2: return",
        "password=password1, self.password = password1",
        "app key: com.example.myapp2.release",
        'the password is "not set"',
        'She asked: is the password "too short"?',
        "password: min8, password: max64",
        'Film title: The Password is "Courage"',
        'Thema "Passwort": "Das vergessene Wort" lief im Kino',
        "Username:\nPassword:\nEmail2:\n",
        "Password:\n==========\n",
        "Password:\nmin 8 chars",
        "curl -u user:password https://x.example; curl -u $USER:$PASS x",
        "The machine needs login and password protection; machine asked login twice password 2",
        "सही पासवर्ड गलत है, पासवर्ड wrong है",
        "הסיסמה היא לא נכונה",
    ],
)
def test_ordinary_sentences_about_secrets_hold_none(text):
    assert kinds_of(text) == ()


@each("seed", range(20))
def test_ordinary_identifiers_are_no_secrets(seed):
    draws = random.Random(seed)
    image = "data:image/png;base64," + drawn(ALNUM + "+/", 400, seed)
    others = [
        drawn(HEX, 40, seed),
        drawn(HEX, 64, seed),
        str(uuid.UUID(int=draws.getrandbits(128))),
        f"{draws.randrange(10**3):03}-{draws.randrange(10**7):07}-{draws.randrange(10**7):07}",
        f"#{draws.randrange(16**6):06x}",
        f"1Z{drawn(ALNUM.upper(), 16, seed)}",
        f"+1 {draws.randrange(200, 999)} {draws.randrange(200, 999)} {draws.randrange(10**4):04}",
        str(draws.randrange(10**18, 2 * 10**18)),
        image,
    ]
    assert kinds_of(*(f"order {one} arrived" for one in others)) == ()


def test_the_lives_of_the_tests_hold_no_secret():
    texts = re.findall(r'"((?:[^"\\]|\\.)*)"', "\n".join(file.read_text() for file in sorted(LIVES.glob("*.json"))))
    assert len(texts) > 4000
    assert kinds_of(*texts) == ()


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("; ".join))
def test_masking_twice_changes_nothing_more(text):
    once = masked(text)
    assert masked(once) == once
    spans = [(one.start, one.end) for one in find_secrets(text)]
    assert spans == sorted(spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@given(st.text(string.printable + "密码是пароль", max_size=300))
def test_any_text_can_be_looked_at(text):
    assert masked(masked(text)) == masked(text)


def test_a_value_is_looked_at_together_with_its_name():
    body = {"password": "swordfish", "n": 3, "deep": [{"api_key": drawn(ALNUM, 32)}], "order": drawn(HEX, 40)}
    assert masked_json(body) == {
        "password": "[secret: password]",
        "n": 3,
        "deep": [{"api_key": "[secret: key or token]"}],
        "order": body["order"],
    }
    assert kinds_in_json(body) == ("password", "key or token")


@each(
    "name, value",
    [
        ("api_key", "hunter2zebraQ9"), ("apiKey", "hunter2zebraQ9"), ("secret", "s3cr3tvalue9x"), ("token", "aB3dE6gH9kL2mN5p"),
        ("pin", "4821"), ("card_pin", 4821), ("cvv", "123"), ("CVC", 123), ("passphrase", "blue horse 77"), ("pwd", "Kat1234!"),
        ("card", 4539148803436467),
    ],
)  # fmt: skip
def test_a_name_that_says_secret_makes_its_value_one(name, value):
    (shown,) = masked_json({name: value}).values()
    assert shown.startswith("[secret: ")


@each(
    "name, value",
    [
        ("token", "tokenizer-v2"), ("token_count", 4096), ("token", 50256), ("tokens", "abc123def456"), ("secret", "in the safe"),
        ("secret", "vault/prod-2026"), ("pin", 13), ("pin", "GPIO17"), ("pin_code", "560001"), ("spin", "4821"), ("cvv", True),
        ("password", "unknown"), ("password", "see note 12"), ("password_hint", "dog2"), ("passphrase", "at least 12 characters"),
        ("api_key_id", "abc12345678901"), ("api_key", "OPENAI_API_KEY"), ("public_key", "aB3dE6gH9kL2mN5p"), ("key", "user42profile"),
        ("card", "Ace of spades"), ("order", 4539148803436467),
    ],
)  # fmt: skip
def test_other_names_and_plain_words_under_such_a_name_stay(name, value):
    assert masked_json({name: value}) == {name: value}


def patterns():
    for module in pkgutil.iter_modules(secret_detection.__path__):
        values = vars(importlib.import_module(f"hybrid_memory.secret_detection.{module.name}")).values()
        for value in values:
            for one in value if isinstance(value, tuple) else (value,):
                pattern = getattr(one, "pattern", one)
                if isinstance(pattern, LazyPattern):
                    yield pattern


def test_no_expression_looks_at_more_than_a_bounded_number_of_characters():
    """So that the time on any text grows no faster than its length; an unbounded repeat would show here as no bound."""
    widths = [re._parser.parse(one._source, one._flags).getwidth()[1] for one in patterns()]
    assert len(widths) > 60
    assert max(widths) < 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        "password is ", "password:", "password for ", "sk-", "sk-ant-api03-", "eyJ", "eyJhbGciOiJIUzI1NiJ9.", "://a:", "http://a:b",
        "-----BEGIN PRI" + "VATE KEY-----", "1", "1 ", "4111 ", "xoxb-1", "token=", "token ", "api_key_", "a", "=", "[secret: ",
        "seed phrase: ab ", "PIN ", "glpat-", "AKIA", "'\"", "PRIVATE KEY", ":AA", "AccountKey=", "密码是", "secret key for the ",
        "curl ", "curl -u a", "WIFI:T:W;", "machine a.b login c password ", "password:\n", 'Password is "a ', "1//0", "\u200b",
        "eyJhbGciOiJBIiwiZW5jIjoiQSJ9.", "Private-Lines: 1\nAAAAAAAAAAAAAAAAAAAA", "รหัสผ่านของ", "&sig=A", "order 4539148803436467 ",
    ],
)  # fmt: skip
def test_a_hostile_text_of_the_greatest_length_is_read_to_its_end(part):
    text = (part * (100_000 // len(part) + 1))[:99_980] + " password is hunter2"
    assert find_secrets(text)[-1].end >= 99_980
