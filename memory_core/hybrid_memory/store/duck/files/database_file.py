"""The database file: the names of the files alongside it, who may read them, and how DuckDB opens it.

Opened privately, with the settings of this project, and locked down: no other file, no extension, no change of a setting.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import duckdb

from hybrid_memory.errors import InvalidInput
from hybrid_memory.private_files import FILE_MODE, FOLDER_MODE, open_plain_file
from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.pandas_lookup import without_pandas
from hybrid_memory.store.home_files import BACKUPS

OTHERS = stat.S_IRWXG | stat.S_IRWXO
_FILE_MARK = b"DUCK"
_MEBIBYTE = 2**20
_LEAST_MEMORY_MIB = 64  # reads and writes of a usual store need less
_LEAST_MEMORY_FOR_COPIES_MIB = 256  # copying a whole database builds its indexes again
_PAGES_SHARE = 8  # an eighth of the file: a copy of the whole store needs a sixteenth of it

_ALLOWED_FOLDERS = "SET allowed_directories=?"
_UNCOMPRESSED = "SET force_compression='uncompressed'"
_TEMP_FOLDER = "SET temp_directory=?"
_TEMP_SIZE = "SET max_temp_directory_size='4GiB'"
# A checkpoint over damaged blocks can end the process, so `close` makes one only when nothing was found damaged.
_NO_LAST_CHECKPOINT = "PRAGMA disable_checkpoint_on_shutdown"
_NO_FILES = "SET enable_external_access=false"
_NO_SETTINGS = "SET lock_configuration=true"


FORMAT: Mapping[str, str | bool] = {
    "allow_unsigned_extensions": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "storage_compatibility_version": "v1.5.0",
}
"""Settings of every database of this program, other files included that it writes or reads."""


def make_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter; one that is there already stays as it is.

    Raises:
        StoreReadOnly: it cannot be made.
    """
    with translated():
        for missing in reversed([parent for parent in (folder, *folder.parents) if not parent.exists()]):
            missing.mkdir(FOLDER_MODE, exist_ok=True)


def connect(path: Path, memory_limit: str | None) -> duckdb.DuckDBPyConnection:
    """Open or make the database file; the settings are applied in the only order that DuckDB accepts.

    ``memory_limit`` is DuckDB's text, such as ``512MiB``; None gives 64 MiB, or an eighth of the file where that is more:
    DuckDB keeps as many pages, and almost none is read a second time after the search structures are loaded, but a copy
    of the whole store needs a sixteenth of it. One thread is fastest for single rows. Compression is off because it makes scans
    of vectors three times slower, and format v1.5.0 because only that refuses another database's write-ahead log.

    Errors are DuckDB's own: their text says where a log is damaged.
    """
    check_name_of(path)
    if path.exists():
        open_plain_file(path).close()  # the engine would wait for a pipe forever
    keep_private(path)
    connection = duckdb.connect(
        str(path),
        config={**FORMAT, "memory_limit": memory_limit or _memory_for(path), "threads": 1},
    )
    try:
        keep_private(path)
        make_folder(temp_folder(path))
        with without_pandas:
            connection.execute(_TEMP_FOLDER, [str(temp_folder(path))])
            connection.execute(_TEMP_SIZE)
            connection.execute(_UNCOMPRESSED)
            connection.execute(_NO_LAST_CHECKPOINT)
            connection.execute(_ALLOWED_FOLDERS, [[str(backup_folder(path))]])
            connection.execute(_NO_FILES)
            connection.execute(_NO_SETTINGS)
    except BaseException:
        connection.close()
        raise
    return connection


def check_name_of(path: Path) -> None:
    """Check that the engine can open a file of that name: it takes what follows a question mark for options, and names are UTF-8 to it.

    Raises:
        InvalidInput: it cannot.
    """
    name = str(path.absolute())
    if "?" in name:
        raise InvalidInput(
            "home",
            "a name with a question mark is none that the database engine can open; choose another folder or file",
        )
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            "home", "a name that is not UTF-8 is none that the database engine can open; choose another folder or file"
        ) from None


def plain_connection(file: Path, *, read_only: bool, folder: Path | None) -> duckdb.DuckDBPyConnection:
    """Open a database file that is no store in use; copies of it may be written into ``folder``."""
    check_name_of(file)
    connection = duckdb.connect(
        str(file.absolute()),
        read_only=read_only,
        config={
            **FORMAT,
            "memory_limit": _memory_for(file, least=_LEAST_MEMORY_FOR_COPIES_MIB),
            "threads": 1,
            "temp_directory": "",
        },
    )
    try:
        if folder is not None:
            make_folder(temp_folder(file))
        with without_pandas:
            if folder is not None:
                connection.execute(_TEMP_FOLDER, [str(temp_folder(file).absolute())])
            connection.execute(_UNCOMPRESSED)
            connection.execute(_ALLOWED_FOLDERS, [[str(folder.absolute())] if folder else []])
            connection.execute(_NO_FILES)
            connection.execute(_NO_SETTINGS)
    except BaseException:
        connection.close()
        raise
    return connection


def _memory_for(path: Path, least: int = _LEAST_MEMORY_MIB) -> str:
    return f"{max(least, size_on_disk(path) // _PAGES_SHARE // _MEBIBYTE)}MiB"


def backup_folder(path: Path) -> Path:
    """Return where copies of a database file are kept, the only other folder that DuckDB may write to."""
    return path.absolute().parent / BACKUPS


def temp_folder(path: Path) -> Path:
    """Return where DuckDB puts what does not fit into its memory; made beforehand so that only its owner can enter."""
    return path.with_suffix(".tmp")


def log_file(path: Path) -> Path:
    """Return where DuckDB keeps the write-ahead log of a database file."""
    return path.with_name(path.name + ".wal")


def journal_file(path: Path) -> Path:
    """Return where the journal of a database file is; see `hybrid_memory.store.duck.recovery.journal`."""
    return path.with_suffix(".journal")


def is_database(file: Path) -> bool:
    """Return True if a file begins as DuckDB's do: eight bytes of checksum, then its mark."""
    with suppress(OSError), open_plain_file(file) as stream:
        return stream.read(12)[8:] == _FILE_MARK
    return False


def keep_private(path: Path) -> None:
    """Take the rights of others from the database file and its log.

    DuckDB makes a new log after each checkpoint with the rights that the process's umask leaves. Changing the umask
    instead would also change the files that a program around this library makes in the meantime.
    """
    for file in (path, log_file(path)):
        try:
            mode = file.stat().st_mode
        except FileNotFoundError:
            continue
        if mode & OTHERS:
            file.chmod(FILE_MODE)


def size_on_disk(path: Path) -> int:
    """Return the bytes of the database file and its log, without opening them."""
    total = 0
    for file in (path, log_file(path)):
        try:
            total += file.stat().st_size
        except FileNotFoundError:
            continue
    return total
