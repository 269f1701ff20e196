"""Secrets that are none: made here of the parts that issuers publish, so that no file of this repository holds one whole."""

import base64
import json
import random
from hashlib import sha256


def drawn(alphabet, length, seed=7):
    return "".join(random.Random(seed).choices(alphabet, k=length))


UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()
DIGITS = "0123456789"
ALNUM = UPPER + LOWER + DIGITS
HEX = "0123456789abcdef"


def json_part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def with_check_digit(digits):
    """Return digits and the one that Luhn's rule puts behind them."""
    doubled = [int(one) * (2 - place % 2) for place, one in enumerate(reversed(digits))]
    return digits + str(-sum(value - 9 * (value > 9) for value in doubled) % 10)


JWT = ".".join((json_part({"alg": "HS256", "typ": "JWT"}), json_part({"sub": "1234567890"}), drawn(ALNUM, 43)))
PRIVATE_KEY = "\n".join(
    ("-----BEGIN RSA PRI" + "VATE KEY-----", drawn(ALNUM, 64), "-----END RSA PRI" + "VATE KEY-----")
)

TOKENS = {
    "AWS access key": "AKI" + "A" + drawn(UPPER + "234567", 16),
    "GitHub token": "gh" + "p_" + drawn(ALNUM, 36),
    "GitLab token": "glp" + "at-" + drawn(ALNUM + "_-", 20),
    "Slack token": "xox" + "b-123456789012-1234567890123-" + drawn(ALNUM, 24),
    "Stripe key": "sk_" + "live_" + drawn(ALNUM, 24),
    "Anthropic key": "sk-" + "ant-api03-" + drawn(ALNUM + "-_", 93) + "AA",
    "OpenAI key": "sk-" + "proj-" + drawn(ALNUM, 48),
    "API key": "sk-" + drawn(ALNUM, 48),
    "Google API key": "AIz" + "a" + drawn(ALNUM, 35),
    "npm token": "np" + "m_" + drawn(ALNUM, 36),
    "PyPI token": "pypi-" + "AgEIcHlwaS5vcmc" + drawn(ALNUM, 70),
    "Hugging Face token": "h" + "f_" + drawn(UPPER + LOWER, 34),
    "Twilio key": "S" + "K" + drawn(HEX, 32),
    "SendGrid key": "S" + "G." + drawn(ALNUM, 22) + "." + drawn(ALNUM, 43),
    "DigitalOcean token": "dop" + "_v1_" + drawn(HEX, 64),
    "JSON web token": JWT,
    "private key": PRIVATE_KEY,
    "Telegram bot token": drawn("123456789", 9) + ":" + "AA" + drawn(ALNUM, 33),
}
FINE_GRAINED = "github" + "_pat_" + drawn(ALNUM, 22) + "_" + drawn(ALNUM, 59)

CARDS = (
    "4111 1111 1111 1111",
    "5555-5555-5555-4444",
    "378282246310005",
    "3782 822463 10005",
    "6011111111111117",
    "2223003122003222",
    "4539.1488.0343.6467",
    "4539\u00a01488\u00a00343\u00a06467",
)

UUID4 = "-".join(drawn(HEX, size) for size in (8, 4, 4, 4, 12))
# One of each sort of row in the table: alphabets, lengths, parts.
OTHER_TOKENS = {
    "own": "hm" + "m_" + drawn(ALNUM, 43),
    "rubygems": "ruby" + "gems_" + drawn(HEX, 48),
    "clojars": "CLO" + "JARS_" + drawn(HEX, 60),
    "nuget": "oy" + "2" + drawn(LOWER + "234567", 43),
    "bitbucket": "AT" + "BB" + drawn(ALNUM, 32),
    "gitlab runner": "GR13" + "48941" + drawn(ALNUM, 20),
    "pinecone": "pc" + "sk_" + drawn(ALNUM, 5) + "_" + drawn(ALNUM, 63),
    "elevenlabs": "s" + "k_" + drawn(HEX, 48),
    "tavily": "tv" + "ly-dev-" + drawn(ALNUM, 32),
    "langsmith": "lsv2" + "_pt_" + drawn(HEX, 32) + "_" + drawn(HEX, 10),
    "langfuse": "sk-" + "lf-" + UUID4,
    "together": "tgp" + "_v1_" + drawn(ALNUM, 43),
    "supabase": "sb_" + "secret_" + drawn(ALNUM, 31),
    "vercel": "vercel" + "_blob_rw_" + drawn(ALNUM, 16) + "_" + drawn(ALNUM, 30),
    "netlify": "nf" + "p_" + drawn(ALNUM, 36),
    "heroku": "HR" + "KU-AA" + drawn(ALNUM, 58),
    "pulumi": "pu" + "l-" + drawn(HEX, 40),
    "1password": "A" + "3-" + "-".join(drawn(UPPER + DIGITS, size) for size in (6, 11, 5, 5, 5)),
    "sentry": "sntr" + "yu_" + drawn(HEX, 64),
    "dynatrace": "dt0" + "c01." + drawn(UPPER, 24) + "." + drawn(UPPER + DIGITS, 64),
    "brevo": "xkey" + "sib-" + drawn(HEX, 64) + "-" + drawn(ALNUM, 16),
    "square": "sq0" + "atp-" + drawn(ALNUM, 22),
    "braintree": "access_token$" + "production$" + drawn(HEX, 16) + "$" + drawn(HEX, 32),
    "airtable": "pa" + "t" + drawn(ALNUM, 14) + "." + drawn(HEX, 64),
    "hubspot": "pat-" + "na1-" + UUID4,
    "trello": "AT" + "TA" + drawn(HEX, 72),
    "clickup": "p" + "k_12345678_" + drawn(UPPER + DIGITS, 32),
    "asana": "1/1234567890123456:" + drawn(HEX, 32),
    "contentful": "CF" + "PAT-" + drawn(ALNUM, 43),
    "nostr": "nse" + "c1" + drawn("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58),
    "mailchimp": drawn(HEX, 32) + "-us1",
    "terraform": drawn(ALNUM, 14) + ".atl" + "asv1." + drawn(ALNUM, 60),
    "azure": drawn(ALNUM, 3) + "8" + "Q~" + drawn(ALNUM, 31),
}
DISCORD = base64.b64encode(b"1234567890123456789").decode().rstrip("=") + ".GabcDe." + drawn(ALNUM, 38)


def _wallet_key():
    body = b"\x80" + bytes(random.Random(5).randbytes(32))
    number = int.from_bytes(body + sha256(sha256(body).digest()).digest()[:4], "big")
    alphabet, said = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", ""
    while number:
        number, place = divmod(number, 58)
        said = alphabet[place] + said
    return said


WALLET_KEY = _wallet_key()
