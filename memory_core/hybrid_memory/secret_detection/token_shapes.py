"""Keys and tokens that are known by their shape: a fixed beginning, an alphabet and a length that their issuers publish.

The table says for each beginning what follows it. Nothing else looks like most of them, so no words around them are needed. A token of
the right shape that says the same few characters again and again stands for one in somebody's documentation and is left alone.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.findings import SecretFound

_LEAST_DISTINCT = (
    8  # different characters in a real token of 16 or more; a random one of that length has eleven in the mean
)
_LONGEST_HEADER = 1024  # characters of the first part of a JSON web token
_PRIVATE_KEY = "private key"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
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


def _is_encrypted_web_token(value: str) -> bool:
    return _is_json_web_token(value) and value.count(".") == 4  # noqa: PLR2004 - RFC 7516: five parts


def _names_discord_user(value: str) -> bool:
    """Return True if the first part of a bot token says a user's number, as Discord's do."""
    first = value.split(".", 1)[0]
    try:
        return base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).isdigit()
    except (ValueError, binascii.Error):
        return False


def _has_base58_check(value: str) -> bool:
    """Return True if the last four of the bytes are the check bytes of a wallet's key."""
    number = 0
    for one in value:
        number = number * 58 + _BASE58.index(one)
    body = number.to_bytes(40, "big").lstrip(b"\0")
    return body[:1] == b"\x80" and sha256(sha256(body[:-4]).digest()).digest()[:4] == body[-4:]


def _is_login(value: str) -> bool:
    """Return True if base64 says ``name:password``, as the file of a registry of containers does."""
    try:
        return ":" in base64.b64decode(value, validate=True).decode("ascii")
    except (ValueError, binascii.Error):
        return False


def _shape(kind: str, beginning: str, rest: str, check: Callable[[str], bool] = varied) -> _Shape:
    # The end: no letter or digit may follow, or it is a part of something longer.
    return _Shape(beginning, LazyPattern(re.escape(beginning) + rest + r"(?!_?[A-Za-z0-9])"), kind, check)


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
    _shape(
        "encrypted web token",
        "eyJ",
        r"[A-Za-z0-9_-]{10,1024}+\.[A-Za-z0-9_-]{0,1500}+\.[A-Za-z0-9_-]{12,30}+\.[A-Za-z0-9_-]{4,4000}+\.[A-Za-z0-9_-]{16,90}+",
        _is_encrypted_web_token,
    ),
    _shape("access token of this memory", "hmm_", "[A-Za-z0-9_-]{43}"),
    # Git, packages, containers
    *_shapes("GitLab token", "[A-Za-z0-9_-]{20}", "glft-", "GR1348941"),
    _shape("Bitbucket password", "ATBB", "[A-Za-z0-9]{32}"),
    _shape("RubyGems key", "rubygems_", "[0-9a-f]{48}"),
    _shape("NuGet key", "oy2", "[a-z2-7]{43}"),
    _shape("crates.io token", "cio", "(?=[A-Za-z]{0,30}[0-9])[A-Za-z0-9]{32}"),
    _shape("Clojars token", "CLOJARS_", "[0-9a-z]{60}"),
    _shape("Docker token", "dckr_oat_", "[A-Za-z0-9_-]{27,60}+"),
    # Language models
    _shape("NVIDIA key", "nvapi-", "[A-Za-z0-9_-]{60,70}+"),
    _shape("Pinecone key", "pcsk_", "[A-Za-z0-9]{5,6}_[A-Za-z0-9]{63}"),
    _shape("ElevenLabs key", "sk_", "[0-9a-f]{48}"),
    _shape("Tavily key", "tvly-", "(?:dev-|prod-)?[A-Za-z0-9]{32}"),
    *_shapes("LangSmith key", "[0-9a-f]{32}_[0-9a-f]{10}", "lsv2_pt_", "lsv2_sk_"),
    _shape("Langfuse key", "sk-lf-", _UUID),
    _shape("Cerebras key", "csk-", "[0-9a-z]{48}"),
    _shape("Together key", "tgp_v1_", "[A-Za-z0-9_-]{43}"),
    _shape("Jina key", "jina_", "[0-9a-f]{32}[A-Za-z0-9_-]{28}"),
    # Hosting, databases
    _shape("Supabase key", "sb_secret_", "[A-Za-z0-9_-]{31}"),
    _shape("Neon key", "napi_", "[0-9a-z]{64}"),
    *_shapes("PlanetScale token", "[A-Za-z0-9_.=-]{32,64}+", "pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
    _shape("Vercel token", "vercel_blob_rw_", "[A-Za-z0-9]{16}_[A-Za-z0-9]{30}"),
    _shape("Netlify token", "nfp_", "[A-Za-z0-9]{36}"),
    *_shapes("Fly.io token", "[A-Za-z0-9+/]{100,1500}+={0,3}", "fm1a_", "fm1r_", "fm2_"),
    _shape("Fly.io token", "fo1_", "[A-Za-z0-9_-]{43}"),
    _shape("Heroku key", "HRKU-AA", "[A-Za-z0-9_-]{58}"),
    _shape("Pulumi token", "pul-", "[0-9a-f]{40}"),
    _shape("Alibaba access key", "LTAI", "[A-Za-z0-9]{20}"),
    _shape("Tencent access key", "AKID", "[A-Za-z0-9]{32}"),
    _shape("Cloudflare key", "v1.0-", "[0-9a-f]{24}-[0-9a-f]{146}"),
    # Stores of secrets
    *_shapes("Doppler token", "[A-Za-z0-9]{40,44}", "dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
    _shape("Doppler token", "dp.st.", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    _shape("1Password token", "ops_eyJ", "[A-Za-z0-9+/_-]{200,1500}+={0,3}"),
    _shape("1Password key", "A3-", "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    # Monitoring
    _shape("Sentry token", "sntrys_eyJ", "[A-Za-z0-9+/=]{20,500}+_[A-Za-z0-9+/]{43}"),
    _shape("Sentry token", "sntryu_", "[0-9a-f]{64}"),
    *_shapes("Dynatrace token", r"[A-Z0-9]{24}\.[A-Z0-9]{64}", "dt0c01.", "dt0s01."),
    _shape("Honeycomb key", "hcaik_", "[0-9a-z]{58}"),
    _shape("Grafana key", "eyJrIjoi", "[A-Za-z0-9]{70,400}+={0,3}(?![.])"),
    # Mail, payment
    _shape("Brevo key", "xkeysib-", "[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _shape("Square token", "sq0atp-", "[A-Za-z0-9_-]{22}"),
    _shape("Square secret", "sq0csp-", "[A-Za-z0-9_-]{43}"),
    _shape("Square token", "EAAA", "[A-Za-z0-9_-]{60}(?![A-Za-z0-9+/=_-])"),
    _shape("Braintree token", "access_token$production$", r"[0-9a-z]{16}\$[0-9a-f]{32}"),
    # Work
    _shape("Linear token", "lin_oauth_", "[0-9a-f]{64}"),
    _shape("Notion token", "secret_", "[A-Za-z0-9]{43}"),
    _shape("Airtable token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    *_shapes("HubSpot token", _UUID, "pat-na1-", "pat-eu1-"),
    _shape("Trello token", "ATTA", "[0-9a-fA-F]{72}"),
    _shape("ClickUp token", "pk_", "[0-9]{7,9}_[0-9A-Z]{32}"),
    _shape("Asana token", "1/", "[0-9]{16}:[0-9a-f]{32}"),
    _shape("Salesforce token", "00D", "[A-Za-z0-9]{12}![A-Za-z0-9._]{96}"),
    _shape("Contentful token", "CFPAT-", "[A-Za-z0-9_-]{43}"),
    _shape("Adobe secret", "p8e-", "[0-9a-z]{32}"),
    _shape("Mapbox token", "sk.eyJ", r"[A-Za-z0-9_-]{40,200}+\.[A-Za-z0-9_-]{22}"),
    *_shapes("Slack token", "[0-9]-[A-Za-z0-9]{100,200}+", "xoxe.xoxp-", "xoxe.xoxb-"),
    _shape("Dropbox token", "sl.", r"(?:u\.)?[A-Za-z0-9_=-]{130,1500}+"),
    _shape("Google refresh token", "1//0", "[A-Za-z0-9_-]{40,200}+"),
    _shape("Google server key", "AAAA", "[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{134}"),
    *_shapes("Facebook token", "[A-Za-z0-9]{100,400}+(?![+/=])", "EAAC", "EAAM"),
    *(
        _shape("Discord webhook", f"https://{host}/api/webhooks/", "[0-9]{17,20}/[A-Za-z0-9_-]{60,80}+")
        for host in ("discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com")
    ),
    # Keys of wallets and of PuTTY
    _shape("wallet key", "xprv", "[1-9A-HJ-NP-Za-km-z]{107}"),
    _shape("Nostr key", "nsec1", "[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{58}"),
    _shape(
        _PRIVATE_KEY,
        "Private-Lines: ",
        r"[0-9]{1,3}(?:\r?\n[A-Za-z0-9+/]{16,64}+={0,2}){1,60}+(?:\r?\nPrivate-MAC: [0-9a-f]{40,64}+)?",
    ),
)
_VALUE_ONLY = frozenset({"AccountKey=", "SharedAccessKey="})  # the name of a field, which is no secret
# Tokens known by what is inside of them: what a plain search looks for, the expression, whose group is the token, kind and check.
_INSIDE: tuple[tuple[str, LazyPattern, str, Callable[[str], bool]], ...] = (
    (
        ":AA",
        LazyPattern(r"(?<![0-9A-Za-z_])([0-9]{8,10}:AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
        "Telegram bot token",
        varied,
    ),
    (
        ".atlasv1.",
        LazyPattern(r"(?<![0-9A-Za-z_])([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}+)(?![A-Za-z0-9_])"),
        "Terraform token",
        varied,
    ),
    ("-us", LazyPattern(r"(?<![0-9A-Za-z_-])([0-9a-f]{32}-us[0-9]{1,2})(?![A-Za-z0-9_-])"), "Mailchimp key", varied),
    (
        "Q~",
        LazyPattern(r"(?<![0-9A-Za-z_~.-])([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}+)(?![A-Za-z0-9_~-])"),
        "Azure secret",
        varied,
    ),
    (
        "sig=",
        LazyPattern(r"[?&;]sig=([A-Za-z0-9%/+]{43,80}?(?:%3[dD]|=))(?![A-Za-z0-9%])"),
        "shared access signature",
        varied,
    ),
    (
        "/IncomingWebhook/",
        LazyPattern(rf"/IncomingWebhook/([0-9a-f]{{32}}/{_UUID})(?![A-Za-z0-9])"),
        "Teams webhook",
        varied,
    ),
    (
        '"auth"',
        LazyPattern(r'"auth"[ ]{0,2}:[ ]{0,2}"([A-Za-z0-9+/]{12,400}+={0,2})"'),
        "login of a registry",
        _is_login,
    ),
)
# Those without any part that a plain search could look for.
_ANYWHERE: tuple[tuple[LazyPattern, str, Callable[[str], bool]], ...] = (
    (
        LazyPattern(
            r"(?<![0-9A-Za-z_.-])([MNO][A-Za-z0-9]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}+)(?![A-Za-z0-9_-])"
        ),
        "Discord bot token",
        _names_discord_user,
    ),
    (
        LazyPattern(r"(?<![0-9A-Za-z])(5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![0-9A-Za-z])"),
        "wallet key",
        _has_base58_check,
    ),
)
_LONGEST_FIXED = LazyPattern(r"\S{50}")  # none of those that may stand anywhere is shorter

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
    yield from _tokens_known_by_their_inside(text)


def _tokens_known_by_their_inside(text: str) -> Iterator[SecretFound]:
    patterns = [(pattern, kind, check) for inside, pattern, kind, check in _INSIDE if inside in text]
    if _LONGEST_FIXED.search(text) is not None:
        patterns += _ANYWHERE
    for pattern, kind, check in patterns:
        for found in pattern.finditer(text):
            if check(found[1]):
                yield SecretFound(*found.span(1), kind)


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
