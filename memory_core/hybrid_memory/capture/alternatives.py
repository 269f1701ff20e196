"""Things of which one is taken instead of another: tabs or spaces, npm or pnpm. Pure."""

from __future__ import annotations

import functools
import re

_EXCLUSIVE = """
indentation: tabs|spaces|two spaces|four spaces|2 spaces|4 spaces|2-space indentation|4-space indentation
packages of JavaScript: npm|pnpm|yarn|bun
packages of Python: pip|poetry|uv|pipenv|conda|pdm|rye
mode: dark mode|light mode|dark theme|light theme|dark themes|light themes
units: metric units|imperial units|metric|imperial
spelling: british english|american english|british spelling|american spelling
clock: the 24-hour clock|the 12-hour clock|24-hour time|12-hour time|24h|12h
quotes: single quotes|double quotes
names: snake_case|camelcase|kebab-case|pascalcase
length of answers: short answers|long answers|detailed answers|brief answers|concise answers
tests of Python: pytest|unittest
tests of JavaScript: jest|vitest|mocha
branches: rebase|merge commits|squash merges
"""
_SIDE_BY_SIDE = """
databases: postgres|postgresql|mysql|mariadb|sqlite|oracle|sql server|cockroachdb|mongodb|mongo
queues: kafka|rabbitmq|redis streams|nats|sqs|pulsar|activemq
editors: vim|neovim|emacs|vs code|vscode|zed|helix|sublime|intellij|pycharm|cursor
builds: jenkins|github actions|gitlab ci|circleci|teamcity|buildkite
frontends: react|vue|svelte|angular|solid
clouds: aws|azure|gcp|google cloud|hetzner
drinks: tea|coffee|decaf
formatters: black|ruff|prettier|biome|yapf
trackers: jira|linear|asana|trello|github issues
browsers: firefox|chrome|safari|brave|edge
"""
"""These may be used side by side; only who prefers one, or says that it changed, has no other."""


@functools.cache
def _table() -> tuple[re.Pattern[str], dict[str, tuple[str, bool]]]:
    found: dict[str, tuple[str, bool]] = {}
    for block, exclusive in ((_EXCLUSIVE, True), (_SIDE_BY_SIDE, False)):
        for line in block.strip().splitlines():
            group, _, names = line.partition(": ")
            found |= dict.fromkeys(names.split("|"), (group, exclusive))
    longest_first = sorted(found, key=len, reverse=True)
    return re.compile(rf"({'|'.join(map(re.escape, longest_first))})(?: v?\d[\d.]*)?(?![\w-])"), found


def alternative_at(low: str, place: int) -> tuple[str, int, bool] | None:
    """Return the group of the alternative that is at a place, where it ends, and whether it shuts the others out; None for none."""
    pattern, groups = _table()
    found = pattern.match(low, place)
    return None if found is None else (groups[found[1]][0], found.end(), groups[found[1]][1])
