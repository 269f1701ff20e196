"""Secrets that are none: made here of the parts that issuers publish, so that no file of this repository holds one whole."""

import base64
import json
import random


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
)
