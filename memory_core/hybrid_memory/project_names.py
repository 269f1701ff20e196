"""The names of projects and of their namespaces, which are of another kind than a person's.

A project's memories lie in a namespace of their own, made of a prefix, the project's name and, unless the person is ``default``,
the person's namespace. So whoever may name a project, as a file in a folder may, can name nobody's own memories, and what two
people keep under one project's name in one store stays apart.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from hybrid_memory.errors import InvalidInput

PREFIX = "project:"
PERSON = "default"
"""The person's namespace where nobody named one."""

PROJECT_NAME_LIMIT = 64  # characters: a name that a person reads and types
AUTO, OFF = "auto", "off"
"""What an option says in the place of a name, so that no project has it."""

_BETWEEN = "@"  # is in no name of a project, so that two of them with their people never give one namespace
_LONGEST_PERSON = 100  # characters of a person's namespace that are kept as they are
_OF_A_REPOSITORY = re.compile(r"(?<=.)-[0-9a-f]{16}$")
_NAME = re.compile(r"\w(?:[\w .-]*\w)?")


def check_project_name(field: str, name: str) -> str:
    """Return a project's name in composed form: letters and digits of any script, spaces, dots, dashes and underscores.

    Raises:
        InvalidInput: it is another text; the message does not hold it.
    """
    composed = unicodedata.normalize("NFC", name) if len(name) <= PROJECT_NAME_LIMIT else name
    if not composed:
        raise InvalidInput(field, "is empty; give the project a name, as acme")
    if len(composed) > PROJECT_NAME_LIMIT:
        raise InvalidInput(field, f"is longer than {PROJECT_NAME_LIMIT} characters")
    if _NAME.fullmatch(composed) is None or not composed.isprintable():
        raise InvalidInput(
            field, "is no project's name: letters, digits and, between them, spaces, dots, dashes and underscores"
        )
    if composed.casefold() in (AUTO, OFF):
        raise InvalidInput(field, "is a word of the option --project; give the project another name")
    return composed


def project_namespace(name: str, person: str = PERSON) -> str:
    """Return the namespace in which a person's memories of a project lie.

    Raises:
        InvalidInput: ``name`` is no project's name.
    """
    name = check_project_name("project", name)
    if person == PERSON:
        return PREFIX + name
    if len(person) > _LONGEST_PERSON:
        person = hashlib.blake2b(person.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{PREFIX}{name}{_BETWEEN}{person}"


def check_namespace(namespace: str) -> str:
    """Return a namespace: a person's as it is, a project's if its project has a name.

    Raises:
        InvalidInput: it looks like a project's and names none.
    """
    if namespace.startswith(PREFIX):
        name = namespace.removeprefix(PREFIX).partition(_BETWEEN)[0]
        try:
            sound = check_project_name("namespace", name) == name
        except InvalidInput:
            sound = False
        if not sound or namespace.removeprefix(PREFIX) == name + _BETWEEN:
            raise InvalidInput("namespace", f"names no project; a project's namespace is written as {PREFIX}acme")
    return namespace


def project_of(namespace: str) -> str | None:
    """Return the name of the project whose namespace this is, None for a person's."""
    if not namespace.startswith(PREFIX):
        return None
    return namespace.removeprefix(PREFIX).partition(_BETWEEN)[0] or None


def shown_project(name: str) -> str:
    """Return a project's name as a person reads it: without the digits that keep repositories of one name apart."""
    return _OF_A_REPOSITORY.sub("", name)


def namespace_name(namespace: str) -> str:
    """Return how a person calls a namespace: "yours", "project acme"."""
    project = project_of(namespace)
    if project is None:
        return "yours" if namespace == PERSON else namespace
    owner = namespace.removeprefix(PREFIX + project).removeprefix(_BETWEEN)
    return f"project {shown_project(project)}" + (f" of {owner}" if owner else "")
