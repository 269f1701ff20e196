"""Which git repository a folder is in, and the name of the project that it is by itself. Standard library only: hooks ask it too.

Git itself is not run: it may be missing, and it takes as long as a whole hook.
"""

from __future__ import annotations

import os

from hybrid_memory_mcp.relay import processes

_MOST_BYTES = 64 * 1024  # of a file of git that names a folder
_READABLE = 40  # characters of a folder's name that its project's name begins with
# Nobody who gives a folder away can choose its path so that it has the name of another repository on this machine.
_DIGEST_BYTES = 8


def repository_of(folder: str, home: str | None) -> str | None:
    """Return the folder that stands for the git repository around a folder; None outside of one.

    All worktrees of a repository have one: its main work tree, or the bare repository. A submodule is a repository of its own.
    ``home``, the person's home folder, and what is above it are not looked at: a repository of settings files is no project. Both
    folders are real paths.
    """
    one = folder
    while one != home:
        if os.path.lexists(os.path.join(one, ".git")):
            shared = _shared_folder(one)
            return one if shared is None else os.path.dirname(shared) if os.path.basename(shared) == ".git" else shared
        above = os.path.dirname(one)
        if above == one:
            return None
        one = above
    return None


def main_worktree_of(folder: str) -> str | None:
    """Return the main work tree of the repository of which this folder is another work tree; None for any other folder."""
    shared = _shared_folder(folder)
    return None if shared is None or os.path.basename(shared) != ".git" else os.path.dirname(shared)


def project_name_of(repository: str) -> str:
    """Return the name of the project that a repository is by itself: two folders of one name are two projects."""
    import hashlib

    digest = hashlib.blake2b(os.fsencode(os.path.normcase(repository)), digest_size=_DIGEST_BYTES).hexdigest()
    name = os.path.basename(repository).removesuffix(".git")
    if name == ".bare":  # as a bare repository in the midst of its work trees is called
        name = os.path.basename(os.path.dirname(repository))
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in name)[:_READABLE].strip("-")
    return f"{plain}-{digest}" if plain else f"repository-{digest}"


def _shared_folder(folder: str) -> str | None:
    """Return git's own folder of a work tree whose ``.git`` is a file, if that folder is the work tree's own or knows of it.

    The file alone is no evidence: whoever gives a folder away could name any repository in it.
    """
    dot_git = os.path.join(folder, ".git")
    named = _line_of(dot_git)
    if named is None or not named.startswith("gitdir:"):
        return None
    inside = os.path.realpath(os.path.join(folder, named.removeprefix("gitdir:").strip()))
    if inside.startswith(os.path.realpath(folder) + os.sep):
        return inside  # as in a folder with a bare repository and its work trees
    worktrees = os.path.dirname(inside)
    back = _line_of(os.path.join(inside, "gitdir"))
    if os.path.basename(worktrees) != "worktrees" or back is None:
        return None
    agrees = os.path.realpath(os.path.join(inside, back)) == os.path.realpath(dot_git)
    return os.path.dirname(worktrees) if agrees else None


def _line_of(path: str) -> str | None:
    try:
        return processes.read_own(path, _MOST_BYTES).decode().strip() if os.path.isfile(path) else None
    except (OSError, ValueError):
        return None
