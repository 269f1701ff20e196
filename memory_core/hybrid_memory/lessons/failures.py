"""What a failed command said: whether that is about how it was called, and the line that names the error. Pure."""

from __future__ import annotations

import re

from hybrid_memory.language.text import visible
from hybrid_memory.lessons.commands import plain

LONGEST_SIGNATURE = 160  # characters
_MOST_READ = 20_000

# Output that points into code: the command did its work, and the code is what failed, or how it is built.
_PLACE = re.compile(
    r"""\S+\.\w{1,5}:\d+(?::\d+)?[:\s]          # file.ts:12:3, file.go:12:
      | \w+\.\w{1,5}\(\d+,\d+\)                 # file.ts(12,3)
      | ^\s*\d+:\d+\s+(?:error|warning)\b        # of eslint
      | -->\s+\S+:\d+:\d+                       # of rustc
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_TESTS = re.compile(
    r"""\b\d+\s+(?:tests?\s+)?(?:failed|failing|failures?|errors?\s+found|problems?)\b
      | \b(?:failed|failures?|errors):\s*[1-9]
      | ^(?:FAIL|FAILED|---\s+FAIL|not\s+ok|not ok \d+)\b
      | \bAssertionError\b | \bassertion\b.*\bfailed\b
      | \b(?:Tests?|Suites?|Test\s+Files)\b.*\b\d+\s+failed\b
      | \b(?:would\s+reformat|would\s+be\s+reformatted|Found\s+\d+\s+errors?)\b
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_PREAMBLE = re.compile(r"^(?:exit code|exit status|process exited with|error: exit|command failed)\b.*$", re.IGNORECASE)
_SHELL = re.compile(r"^(?:\S*/)?\w*sh: (?:line \d+: )?")  # "/bin/bash: line 1: npm: command not found"
_ERROR_LINE = re.compile(
    r"""\b(?:error|err!|fatal|denied|refused|not\s+found|no\s+such|cannot|can't|could\s+not|unable|unknown|unrecognized
        |invalid|missing|required|unsupported|not\s+(?:allowed|permitted|supported|installed|recognized)|rejected|usage
        |failed|abort|deprecated|no\s+module|conflict|must|unexpected|ambiguous|expected|forbidden|unauthorized)\b""",
    re.VERBOSE | re.IGNORECASE,
)


def is_about_the_code(error: str) -> bool:
    """Return True if a failure tells of the code at hand (a test, a type, a style), not of how the command was called."""
    return _PLACE.search(error[:_MOST_READ]) is not None or is_of_tests(error)


def is_of_tests(error: str) -> bool:
    """Return True if a failure counts tests, or complaints about style."""
    return _TESTS.search(error[:_MOST_READ]) is not None


def signature_of(error: str) -> str:
    """Return the line that names an error, without what changes from call to call; empty where nothing was said."""
    lines = [line.strip() for line in error[:_MOST_READ].splitlines()]
    lines = [line for line in lines if line and not _PREAMBLE.match(line)]
    named = [line for line in lines if _ERROR_LINE.search(line)]
    chosen = named[0] if named else lines[-1] if lines else ""
    return visible(" ".join(map(plain, _SHELL.sub("", chosen).split())))[:LONGEST_SIGNATURE]
