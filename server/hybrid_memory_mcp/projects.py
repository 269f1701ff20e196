"""Which project a folder belongs to: the options, the marker file, the git repository. Pure but for looking at files.

A client's server and its hooks ask `place_of`. The person's own memories are read everywhere, a project's only in that project, and
what is written goes to the project. What is said about a marker never holds a word of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

from hybrid_memory.errors import InvalidInput
from hybrid_memory.project_names import AUTO, OFF, PERSON, check_project_name, project_namespace, project_of
from hybrid_memory_mcp.relay.processes import UntrustedFile, read_own
from hybrid_memory_mcp.relay.repositories import main_worktree_of, project_name_of, repository_of

if TYPE_CHECKING:
    from hybrid_memory.model import Scope

MARKER = ".hybrid-memory.toml"
MARKER_LIMIT = 64 * 1024  # bytes; a marker has a line or two
FIRST_ROOT, PROJECT_FOLDER, WORKING_FOLDER = "the client's first root", "CLAUDE_PROJECT_DIR", "the working folder"
"""Where a client is at work, as far as it says so; the first that has a marker or is in a repository counts."""

ABOUT_ME = ("project", "personal")
"""Whose a statement is in which a person plainly speaks of themselves."""

_SWITCHED_OFF = "memory is switched off in this folder by off = true in {marker}; take that line out to use it here"
_UNUSABLE = (
    "memory is off in this folder, because {marker} {problem}. Mend it: until then nothing is read or written here"
)
_READ_ONLY = (
    "nothing is written here, because read_only = true in {marker}; take that line out, or work in another folder"
)
_KEPT = (
    "what made this folder project {project} is gone: a {marker}, or the git repository. This conversation stays in project {project}; "
    "put it back to go on so, or start the client again to leave the project"
)
_GONE = " That file is gone, which counts when the client connects again"
_MIXED = (
    "memory is off here, because --namespace (or HYBRID_MEMORY_NAMESPACE) is a project's while another project is at hand, and two "
    "projects never see each other. Say --project to choose one, or work in a folder without a project"
)
_KEY_LENGTH = 40  # characters of an unknown key that are told


class Chosen(Protocol):
    """What a client chose of its place: `runtime.client_options.Options`."""

    @property
    def namespace(self) -> str:
        """The person's namespace."""
        ...

    @property
    def project(self) -> str | None:
        """The name of a project, ``auto`` or ``off``; None leaves it to the folder."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a client is at work, as far as its memory is concerned.

    ``personal`` is the person's namespace, ``project`` the name of the project at hand; ``about_me`` says whose statements are in
    which the person plainly speaks of themselves. ``marker`` is the file that decided, ``why`` says in words what did. ``problem`` is
    what is wrong with a marker, ``passed_over`` tells of one that is another user's. ``says_none`` is an option that wants no project,
    ``is_repository`` a project that nothing but the git repository made. ``is_kept`` says that the project was at hand before and
    nothing names it any more (``former_projects.py``), ``change`` that it was another one.
    """

    personal: str = PERSON
    project: str | None = None
    off: bool = False
    read_only: bool = False
    about_me: str = "project"
    marker: Path | None = None
    why: str = "no marker, no git repository, and no option names one"
    problem: str | None = None
    passed_over: tuple[str, ...] = ()
    says_none: bool = False
    is_repository: bool = False
    is_kept: bool = False
    change: str | None = None

    @property
    def is_decided(self) -> bool:
        """True if a marker or an option decided, False where nothing but a git repository names a project or forbids anything."""
        named = self.project is not None and not self.is_repository
        return self.marker is not None or named or self.off or self.says_none

    @property
    def namespace(self) -> str:
        """The namespace that writes go to."""
        return self.personal if self.project is None else project_namespace(self.project, self.personal)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that are read together: that of writes first."""
        return (self.personal,) if self.project is None else (self.namespace, self.personal)

    @property
    def refuses_reads(self) -> str | None:
        """Why nothing may be read here, in a sentence; None where reading is allowed."""
        if self.problem == _MIXED:
            return _MIXED
        if self.problem is not None and self.off:
            return _UNUSABLE.format(marker=self._named, problem=self.problem)
        return _SWITCHED_OFF.format(marker=self._named) + self._gone if self.off else None

    @property
    def refuses_writes(self) -> str | None:
        """Why nothing may be written here, in a sentence; None where writing is allowed."""
        return self.refuses_reads or (_READ_ONLY.format(marker=self._named) + self._gone if self.read_only else None)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person should know about this place."""
        problem = () if self.problem is None or self.off else (f"{self._named} {self.problem}",)
        kept = (_KEPT.format(marker=self._named, project=self.project),) if self.is_kept else ()
        change = () if self.change is None else (self.change,)
        return (*problem, *self.passed_over, *kept, *change)

    def scoped(self, scope: Scope) -> Scope:
        """Return a scope of the person as that of this place."""
        if self.project is None:
            return replace(scope, namespace=self.personal)
        return replace(
            scope, namespace=self.namespace, personal=self.personal, about_me_is_personal=self.about_me == ABOUT_ME[1]
        )

    def described(self) -> dict[str, Any]:
        """Return what status shows."""
        return {
            "person": self.personal,
            "project": self.project,
            "writes_to": None if self.refuses_writes else self.namespace,
            "off": self.off,
            "read_only": self.read_only,
            "marker": None if self.marker is None else str(self.marker.parent),
            "why": self.why,
            "problem": self.problem,
        }

    @property
    def _named(self) -> str:
        return MARKER

    @property
    def _gone(self) -> str:
        return _GONE if self.is_kept else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marker:
    """What a marker file says, or what is wrong with it."""

    file: Path
    project: str | None = None
    off: bool = False
    read_only: bool = False
    about_me: str | None = None
    problem: str | None = None


def place_of(
    folder: str | os.PathLike[str] | None,
    options: Chosen,
    *,
    roots: Sequence[tuple[str, str]] = (),
    home: Path | None = None,
) -> Place:
    """Return the place of a client that is at work in a folder.

    An option or variable that names a project, or ``off``, decides. Else it is the first of ``roots`` (each with the words for it) and
    ``folder`` that has a marker, in it or above it, or is in a git repository; of these the marker. A marker's ``off`` and
    ``read_only`` hold whatever names the project. A marker that is wrong switches memory off, unless an option names the project:
    words must not go where they do not belong because of a slip. A ``--namespace`` that is itself a project's opens that one alone,
    wherever no other is named. ``home`` is the person's home folder, above which nothing is looked for.
    """
    place = _place_of(folder, options, roots, home or _home())
    person_is = project_of(options.namespace)
    if person_is is None or place.project is None:
        return place
    if person_is == place.project or place.is_repository:
        return replace(place, project=None, is_repository=False)
    return replace(place, project=None, off=True, problem=_MIXED)


def _place_of(
    folder: str | os.PathLike[str] | None, options: Chosen, roots: Sequence[tuple[str, str]], home: Path | None
) -> Place:
    folders = [(Path(os.path.realpath(one)), words) for one, words in roots]
    if folder is not None:
        folders.append((Path(os.path.realpath(folder)), WORKING_FOLDER))
    passed_over: list[str] = []
    found, at = _first_marker([path for path, _ in folders], home, passed_over)
    place = Place(personal=options.namespace, passed_over=tuple(passed_over))
    place = place if found is None else _by_marker(place, found, folders[at][1])
    chosen = options.project
    if place.off and (place.problem is None or chosen in (None, AUTO)):
        return place
    if chosen not in (None, AUTO):
        name = None if chosen == OFF else chosen
        why = "the option --project or HYBRID_MEMORY_PROJECT"
        said = why + (" says off: no project" if name is None else "")
        return replace(place, project=name, off=False, says_none=name is None, why=said)
    # A marker that names no project leaves that to the repository around its folder.
    if found is None or found.project is None:
        about_me = None if found is None else found.about_me
        return _by_repository(place, [path for path, _ in folders[: at + 1]], home, about_me)
    return _by_repository(place, [path for path, _ in folders[:at]], home, None)


def _by_repository(place: Place, folders: Sequence[Path], home: Path | None, about_me: str | None) -> Place:
    """Return the place by the first git repository around some folders, as it is where there is none."""
    above = None if home is None else str(home)
    repository = next((one for path in folders if (one := repository_of(str(path), above)) is not None), None)
    if repository is None:
        return place
    return replace(
        place,
        project=project_name_of(repository),
        about_me=about_me or ABOUT_ME[1],
        why=f"the git repository in {repository}",
        is_repository=True,
    )


def place_by_marker_in(place: Place, folder: Path, words: str) -> Place | None:
    """Return the place by the marker of this very folder, with the person of the given place; None where there is none."""
    found = _marker_in(folder, [])
    return None if found is None else _by_marker(place, found, words)


def folder_of_uri(uri: str) -> str | None:
    """Return the folder that a ``file:`` URI names on this machine, None for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path:
        return None
    path = unquote(parts.path)
    if os.name == "nt":
        path = path.lstrip("/")  # /C:/work
    return path if Path(path).is_absolute() and "\0" not in path else None


def read_marker(file: Path) -> Mapping[str, Any]:
    """Return the tables of a marker.

    Raises:
        InvalidInput: it cannot be read, or is not TOML; in words that go on after the file's name.
    """
    import tomllib

    try:
        written = read_own(str(file), MARKER_LIMIT + 1)
    except UntrustedFile:
        raise InvalidInput(MARKER, "is a link or no ordinary file") from None
    except OSError:
        raise InvalidInput(MARKER, "cannot be read") from None
    if len(written) > MARKER_LIMIT:
        raise InvalidInput(MARKER, f"is longer than {MARKER_LIMIT // 1024} KiB")
    try:
        return tomllib.loads(written.decode("utf-8-sig").replace("\r\n", "\n"))
    except (ValueError, RecursionError):
        raise InvalidInput(MARKER, 'is not valid TOML; a line is written as namespace = "acme"') from None


def _by_marker(place: Place, found: _Marker, words: str) -> Place:
    return replace(
        place,
        project=None if found.problem else found.project,
        off=found.off or found.problem is not None,
        read_only=found.read_only,
        about_me=found.about_me or ABOUT_ME[0],
        marker=found.file,
        is_repository=False,
        why=f"the marker of {words}",
        problem=found.problem,
    )


def _first_marker(folders: Sequence[Path], home: Path | None, passed_over: list[str]) -> tuple[_Marker | None, int]:
    """Return the first marker of some folders, and the place of its folder among them; that behind all where there is none."""
    for at, folder in enumerate(folders):
        for one in _searched(folder, home):
            found = _marker_in(one, passed_over)
            if found is not None:
                return found, at
    return None, len(folders)


def _searched(folder: Path, home: Path | None) -> Iterator[Path]:
    """Yield the folders whose marker counts in a folder: it and those above, the home folder being the last where it is one of them.

    A worktree of git that lies elsewhere counts as a part of its repository.
    """
    for one in (folder, *folder.parents):
        yield one
        main = main_worktree_of(str(one))
        if main is not None and Path(main) not in folder.parents:
            yield Path(main)
        if one == home:
            return


def _marker_in(folder: Path, passed_over: list[str]) -> _Marker | None:
    file = folder / MARKER
    try:
        found = file.lstat()
    except (OSError, ValueError):
        return None
    if hasattr(os, "geteuid") and found.st_uid not in (os.geteuid(), 0):
        passed_over.append(f"the {MARKER} in {folder} is another user's and was passed over")
        return None
    try:
        return _checked(file, read_marker(file))
    except InvalidInput as error:
        return _Marker(file=file, problem=error.problem)


def _checked(file: Path, given: Mapping[str, Any]) -> _Marker:
    # Both spellings, because people write the names of a file as they read them.
    values = {name.replace("-", "_"): value for name, value in given.items()}
    kinds: dict[str, type] = {"namespace": str, "off": bool, "read_only": bool, "about_me": str}
    if unknown := next((name for name in values if name not in kinds), None):
        shown = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "?" for c in unknown[:_KEY_LENGTH])
        raise InvalidInput(MARKER, f"has a key that is not known, {shown}; known are {', '.join(kinds)}")
    if len(values) < len(given):
        raise InvalidInput(MARKER, "says one thing twice, with a dash and with an underscore")
    for name, value in values.items():
        if not isinstance(value, kinds[name]):
            must_be = "true or false" if kinds[name] is bool else 'text, as "acme"'
            raise InvalidInput(MARKER, f"has a wrong value: {name} must be {must_be}")
    if values.get("about_me", ABOUT_ME[0]) not in ABOUT_ME:
        raise InvalidInput(MARKER, 'has a wrong value: about_me must be "project" or "personal"')
    project = values.get("namespace")
    if project is not None:
        try:
            project = check_project_name("namespace", project)
        except InvalidInput as error:
            raise InvalidInput(MARKER, f"has a wrong value: namespace {error.problem}") from None
    elif not values:
        raise InvalidInput(MARKER, 'says nothing; write namespace = "acme", or off = true')
    return _Marker(
        file=file,
        project=project,
        off=values.get("off", False),
        read_only=values.get("read_only", False),
        about_me=values.get("about_me"),
    )


def _home() -> Path | None:
    try:
        return Path(os.path.realpath(Path.home()))
    except (RuntimeError, OSError):
        return None
