"""What is refused in the head of an HTTP request before anybody reads it: sizes, and forms that two programs read differently.

h11 holds its limit only for a head that comes in pieces, folds lines, takes bare line feeds, and lets a body have two lengths. A proxy
before this server may read such a request as another one, so it is refused (RFC 9112, sections 2.2, 5.2 and 6.3).
"""

from __future__ import annotations

import re

BAD_REQUEST = 400
TOO_LARGE = 431

_END = b"\r\n\r\n"
_BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")
_BARE_RETURN = re.compile(rb"\r(?!\n|\Z)")
_LENGTH = re.compile(rb"[0-9]{1,15}")


def head_problem(received: bytes, limit: int) -> int | None:
    """Return the status of a refusal of what came of a head so far, None where nothing is wrong; behind its end is the body.

    ``limit`` counts the bytes of request line and headers with the blank line at their end.
    """
    received = received.removeprefix(b"\r\n")  # which some clients send after a body
    end = received.find(_END)
    head = received if end < 0 else received[: end + len(_END)]
    if _BARE_LINE_FEED.search(head[:limit]) or _BARE_RETURN.search(head[:limit]):
        return BAD_REQUEST
    if len(head) > limit:
        return TOO_LARGE
    return None if end < 0 else _problem_of_lines(head[: -len(_END)].split(b"\r\n")[1:])


def _problem_of_lines(lines: list[bytes]) -> int | None:
    lengths: list[bytes] = []
    encodings: list[bytes] = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or line[:1] in b" \t" or name != name.strip():
            return BAD_REQUEST
        if name.lower() == b"content-length":
            lengths.append(value.strip(b" \t"))
        elif name.lower() == b"transfer-encoding":
            encodings.append(value.strip(b" \t"))
    if len(lengths) + len(encodings) > 1 or any(_LENGTH.fullmatch(length) is None for length in lengths):
        return BAD_REQUEST
    return BAD_REQUEST if any(encoding.lower() != b"chunked" for encoding in encodings) else None
