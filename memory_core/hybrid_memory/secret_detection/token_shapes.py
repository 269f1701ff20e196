"""Keys and tokens that are known by their shape: a fixed beginning, an alphabet and a length that their issuers publish.

The table says for each beginning what follows it. Nothing else looks like most of them, so no words around them are needed. A token of
the right shape that says the same few characters again and again stands for one in somebody's documentation and is left alone.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hybrid_memory.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.findings import SecretFound

_LEAST_DISTINCT = (
    8  # different characters in a real token of 16 or more; a random one of that length has eleven in the mean
)
_LONGEST_HEADER = 1024  # characters of the first part of a JSON web token
_PRIVATE_KEY = "private key"
_ALNUM = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@dataclass(frozen=True, slots=True)
class _Shape:
    """A beginning, and an expression for it with what follows; ``check`` looks at what follows."""

    beginning: str
    pattern: LazyPattern
    kind: str
    check: Callable[[str], bool]


def varied(value: str) -> bool:
    """Return True if a value has enough different characters to be no row of crosses."""
    return len(set(value)) >= _LEAST_DISTINCT


def _is_json_web_token(value: str) -> bool:
    header = ("eyJ" + value.split(".", 1)[0])[:_LONGEST_HEADER]
    try:
        decoded = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return False
    return isinstance(decoded, dict) and "alg" in decoded


def _shape(kind: str, beginning: str, rest: str, check: Callable[[str], bool] = varied) -> _Shape:
    # The end: no letter or digit may follow, or it is a part of something longer.
    return _Shape(beginning, LazyPattern(beginning.replace(".", r"\.") + rest + r"(?![A-Za-z0-9_])"), kind, check)


def _shapes(kind: str, rest: str, *beginnings: str) -> list[_Shape]:
    return [_shape(kind, beginning, rest) for beginning in beginnings]


_SHAPES: tuple[_Shape, ...] = (
    *_shapes("AWS access key", "[A-Z2-7]{16}", "AKIA", "ASIA", "ABIA", "ACCA"),
    *_shapes("GitHub token", "[A-Za-z0-9]{36,251}+", "ghp_", "gho_", "ghu_", "ghr_"),
    _shape("GitHub token", "ghs_", "[A-Za-z0-9_.-]{36,1000}+"),
    _shape("GitHub token", "github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _shape("GitLab token", "glpat-", "[A-Za-z0-9_.-]{20,330}+"),
    *_shapes(
        "GitLab token", "[A-Za-z0-9_.-]{20,330}+", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-", "glimt-", "glagent-"
    ),
    *_shapes("Slack token", "[0-9]{6,14}-[A-Za-z0-9-]{12,240}+", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-"),
    *_shapes("Slack token", "[0-9]-[A-Za-z0-9-]{20,300}+", "xapp-", "xoxe-"),
    _shape("Slack webhook", "https://hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9/+]{30,120}+"),
    *_shapes(
        "Stripe key", "[A-Za-z0-9]{16,247}+", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"
    ),
    _shape("webhook secret", "whsec_", "[A-Za-z0-9+/]{24,90}+={0,2}"),
    _shape("Anthropic key", "sk-ant-", "[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{24,160}+"),
    *_shapes("OpenAI key", "[A-Za-z0-9_-]{32,250}+", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"),
    _shape("OpenRouter key", "sk-or-v1-", "[0-9a-f]{64}"),
    _shape("API key", "sk-", "(?=[a-z-]{0,40}+[A-Z0-9])[A-Za-z0-9]{32,64}+"),
    _shape("Google API key", "AIza", "[A-Za-z0-9_-]{35}"),
    _shape("Google OAuth secret", "GOCSPX-", "[A-Za-z0-9_-]{28}"),
    _shape("Google OAuth token", "ya29.", "[A-Za-z0-9_-]{20,900}+"),
    _shape("npm token", "npm_", "[A-Za-z0-9]{36}"),
    *_shapes("PyPI token", "[A-Za-z0-9_-]{50,900}+", "pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZ"),
    *_shapes("Hugging Face token", "[A-Za-z0-9]{34,40}+", "hf_", "api_org_"),
    _shape("Twilio key", "SK", "[0-9a-f]{32}"),
    _shape("SendGrid key", "SG.", "[A-Za-z0-9_-]{16,32}+\\.[A-Za-z0-9_-]{16,64}+"),
    _shape("Docker token", "dckr_pat_", "[A-Za-z0-9_-]{27,60}+"),
    *_shapes("DigitalOcean token", "[0-9a-f]{64}", "dop_v1_", "doo_v1_", "dor_v1_"),
    *_shapes("Shopify token", "[0-9a-fA-F]{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    _shape("Databricks token", "dapi", "[0-9a-f]{32}(?:-[0-9])?"),
    *_shapes("Vault token", "[A-Za-z0-9_-]{24,300}+", "hvs.", "hvb."),
    _shape("Linear key", "lin_api_", "[A-Za-z0-9]{40}"),
    _shape("Notion token", "ntn_", "[A-Za-z0-9]{40,60}+"),
    _shape("Groq key", "gsk_", "[A-Za-z0-9]{48,60}+"),
    _shape("xAI key", "xai-", "[A-Za-z0-9]{70,90}+"),
    _shape("Perplexity key", "pplx-", "[A-Za-z0-9]{40,60}+"),
    _shape("Replicate token", "r8_", "[A-Za-z0-9]{37,40}+"),
    *_shapes("Grafana token", "[A-Za-z0-9+/_]{32,400}+={0,2}", "glc_", "glsa_"),
    _shape("New Relic key", "NRAK-", "[A-Z0-9]{27}"),
    _shape("Postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    _shape("Atlassian token", "ATATT3x", "[A-Za-z0-9_=-]{100,300}+"),
    _shape("Supabase token", "sbp_", "[0-9a-f]{40}"),
    _shape("Figma token", "figd_", "[A-Za-z0-9_-]{36,60}+"),
    _shape("Tailscale key", "tskey-", "[a-z]{3,12}-[A-Za-z0-9-]{16,80}+"),
    _shape("age key", "AGE-SECRET-KEY-1", "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    _shape("storage account key", "AccountKey=", "[A-Za-z0-9+/]{40,88}+={0,2}"),
    _shape("shared access key", "SharedAccessKey=", "[A-Za-z0-9+/]{40,88}+={0,2}"),
    _shape(
        "JSON web token",
        "eyJ",
        r"[A-Za-z0-9_-]{10,1024}+\.eyJ[A-Za-z0-9_-]{8,6000}+\.[A-Za-z0-9_-]{16,1500}+",
        _is_json_web_token,
    ),
)
_VALUE_ONLY = frozenset({"AccountKey=", "SharedAccessKey="})  # the name of a field, which is no secret
_TELEGRAM = LazyPattern(r"(?<![0-9A-Za-z_])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])")

_PEM_BEGIN = LazyPattern(r"-----BEGIN (?:[A-Z0-9]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = LazyPattern(r"-----END (?:[A-Z0-9]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----")
_LEAST_KEY = 40  # characters between the two lines of a private key: less is an example or a sentence about such lines

_CREDENTIALS = LazyPattern(r"://([^\s/:@\"'<>]{0,100}+):([^\s/@\"'<>]{3,200}+)@[A-Za-z0-9\[]")


def find_tokens(text: str) -> Iterator[SecretFound]:
    """Yield the keys and tokens of a text that their shape gives away, and private keys."""
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)
    for shape in _SHAPES:
        at = text.find(shape.beginning)
        while at >= 0:
            found = None
            if not at or text[at - 1] not in _ALNUM:
                found = shape.pattern.match(text, at)
            if found is not None and shape.check(found[0][len(shape.beginning) :]):
                skipped = len(shape.beginning) if shape.beginning in _VALUE_ONLY else 0
                yield SecretFound(at + skipped, found.end(), shape.kind)
            at = text.find(shape.beginning, at + 1 if found is None else found.end())
    if ":AA" in text:
        for found in _TELEGRAM.finditer(text):
            yield SecretFound(found.start(), found.end(), "Telegram bot token")


def url_passwords(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the passwords of addresses such as ``postgres://name:password@host`` stand."""
    at = text.find("://")
    while at >= 0:
        found = _CREDENTIALS.match(text, at)
        if found is not None:
            yield found.span(2)
        at = text.find("://", at + 3)


def _private_keys(text: str) -> Iterator[SecretFound]:
    ends = [found.span() for found in _PEM_END.finditer(text)]
    at, reached = 0, 0
    for begin in _PEM_BEGIN.finditer(text):
        if begin.start() < reached:
            continue
        while at < len(ends) and ends[at][0] < begin.end():
            at += 1
        if at == len(ends):
            # Cut off: what looks like the body of a key is all there is.
            if (
                len(text) - begin.end() >= _LEAST_KEY
                and " " not in text[begin.end() : begin.end() + _LEAST_KEY].strip()
            ):
                yield SecretFound(begin.start(), len(text), _PRIVATE_KEY)
            return
        start, reached = ends[at]
        if start - begin.end() >= _LEAST_KEY:
            yield SecretFound(begin.start(), reached, _PRIVATE_KEY)
