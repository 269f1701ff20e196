"""What the lines of a file become when they come in: as they are, or as the words of a stranger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from hybrid_memory.admin.jsonl import Header, item_of, plain_of
from hybrid_memory.clock import to_micros
from hybrid_memory.errors import InvalidInput
from hybrid_memory.ids import id_of
from hybrid_memory.model import Kind, Memory, Origin, Tier, Trust
from hybrid_memory.requests import WriteRequest
from hybrid_memory.store.transfer import ExistingMemory, MemoryItem, TransferItem
from hybrid_memory.text import content_hash, lexical_text, terms
from hybrid_memory.tiers.importance import heuristic_importance
from hybrid_memory.validation import check_name, check_write

_FADES = {Tier.SENSORY, Tier.SHORT_TERM, Tier.WORKING}
_SESSION = "import"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPolicy:
    """How a file is to be taken.

    ``namespace`` is where another program's lines go (``default`` when None), and which lines of an export are wanted (all
    when None). ``trusted`` says that an export is the person's own, so that origin, trust and everything else stay as they are.
    """

    now: datetime
    namespace: str | None = None
    trusted: bool = False


class LineReader:
    """Gives the items of a file's lines; ``header`` is None for a file of another program."""

    def __init__(self, header: Header | None, incoming: ImportPolicy) -> None:
        self.header = header
        self.trusted = header is not None and incoming.trusted
        self._incoming = incoming
        self._dimensions = header.dimensions if header else None
        if incoming.namespace is not None:
            check_name("namespace", incoming.namespace)
        if header is not None and incoming.namespace not in {None, *header.namespaces}:
            raise InvalidInput("namespace", "is none of this export; leave it away to import everything")
        if header is None and incoming.trusted:
            raise InvalidInput("trusted", "is for exports of this program; lines of another one come in as untrusted")

    def is_header(self, number: int) -> bool:
        """Say whether a line is the header."""
        return self.header is not None and number == 1

    def item(self, number: int, line: bytes) -> TransferItem | None:
        """Return the item of a line, None where it is not wanted.

        Raises:
            InvalidInput: names the line and what is wrong with it.
        """
        if self.is_header(number):
            return None
        if self.header is None:
            return MemoryItem(self._plain(number, line))
        item = item_of(line, number, self._dimensions)
        namespace = item.memory.namespace if isinstance(item, MemoryItem) else item.namespace
        if namespace not in self.header.namespaces:
            raise InvalidInput(f"line {number}", "is of a namespace that the first line does not name")
        if self._incoming.namespace not in {None, namespace}:
            return None
        if self.trusted:
            return item
        return MemoryItem(self._stranger(number, item.memory), item.usage) if isinstance(item, MemoryItem) else None

    def is_same(self, one: MemoryItem, there: ExistingMemory) -> bool:
        """Say whether a memory is the one of that id that is there."""
        if one.memory.content_hash != there.content_hash:
            return False
        return self.header is None or to_micros(one.memory.created_at) == there.created_at

    def _plain(self, number: int, line: bytes) -> Memory:
        said = plain_of(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, number)
        namespace = self._incoming.namespace or "default"
        session = said.session or _SESSION
        when = said.created_at.astimezone(UTC) if said.created_at else None
        name = f"{namespace}\n{session}\n{when.isoformat() if when else ''}\n{said.speaker or ''}\n{said.content}"
        memory = Memory(
            id=id_of(name.encode("utf-8", "replace").decode()),
            namespace=namespace,
            session=session,
            agent="default",
            content=said.content,
            kind=Kind.OBSERVATION,
            tier=Tier.LONG_TERM,
            importance=heuristic_importance(said.content, explicit=said.importance, kind=Kind.OBSERVATION),
            created_at=when or self._incoming.now,
            content_hash="",
            tags=tuple(said.tags),
            metadata=said.metadata,
            source=said.source,
            speaker=said.speaker,
            occurred_at=said.occurred_at,
            expires_at=said.expires_at,
        )
        return self._stranger(number, memory)

    def _stranger(self, number: int, memory: Memory) -> Memory:
        """Return a memory as one of unknown origin: checked like a write, analysed anew, and in nobody's attention."""
        request = WriteRequest(
            content=memory.content,
            importance=memory.importance,
            tags=memory.tags,
            metadata=memory.metadata,
            source=memory.source,
            speaker=memory.speaker,
            session=memory.session,
            occurred_at=memory.occurred_at,
        )
        try:
            for field in ("namespace", "agent", "id"):
                check_name(field, getattr(memory, field))
            for one in (memory.superseded_by, memory.supersedes, memory.duplicate_of, *memory.parents):
                if one is not None:
                    check_name("id", one)
            request = check_write(request, self._incoming.now)
        except InvalidInput as error:
            raise InvalidInput(f"line {number}", str(error)) from None
        created = min(memory.created_at, self._incoming.now)
        said = lexical_text(memory.content, memory.speaker, memory.occurred_at or created)
        return replace(
            memory,
            tags=request.tags,
            created_at=created,
            content_hash=content_hash(memory.content),
            terms=terms(said),
            tier=Tier.FADED if memory.tier in _FADES else memory.tier,
            key=None,
            pinned=False,
            origin=Origin.IMPORT,
            trust=Trust.UNTRUSTED,
            rev=1,
        )
