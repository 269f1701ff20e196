"""The memory inside your own program, without MCP: write, read, correct, reflect, forget.

    uv run python examples/library.py

The memories lie in a folder of their own and are gone when the program ends. Name a lasting folder to keep them.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from hybrid_memory import (
    ForgetRequest,
    Insight,
    MemoryService,
    ReadRequest,
    Scope,
    UpdateRequest,
    WriteRequest,
)

SAID = (
    "Ada is learning Portuguese in Lisbon.",
    "Ada's Portuguese teacher in Lisbon is called Rui.",
    "Rui wants the Portuguese homework by Thursday.",
)


def main(folder: Path) -> None:
    """Play each verb once and print what came of it."""
    memory = MemoryService.open(folder)
    # Which memories are meant: a namespace (nothing crosses it), an agent, and the conversation.
    scope = Scope(namespace="default", agent="example", session="monday")

    # Write. When this returns, the memory is on disk and can be found.
    for sentence in SAID:
        memory.write(scope, WriteRequest(content=sentence, importance=0.6))
    dentist = memory.write(scope, WriteRequest(content="The dentist appointment is on Tuesday at ten."))
    print("written:", dentist.id, "in tier", dentist.tier.value)

    # Read. The best hit comes first; `unknown` is true where it is clear that nothing is known.
    found = memory.read(scope, ReadRequest(query="When is the dentist appointment?", limit=3))
    print("found:", found.hits[0].memory.content)

    # Correct. New words make a new version; the old one is kept, but no longer offered.
    corrected = memory.update(
        scope, UpdateRequest(id=dentist.id, content="The dentist appointment is on Thursday at four.")
    )
    found = memory.read(scope, ReadRequest(query="When is the dentist appointment?", limit=3))
    print("corrected:", found.hits[0].memory.content)

    # Reflect. The memory offers groups that belong together; the thought is yours, or your model's.
    groups = memory.offer_reflection(scope, focus="learning Portuguese in Lisbon")
    evidence = tuple(one.id for one in groups[0].memories)
    thought = Insight(text="Ada is settling in Lisbon.", evidence=evidence, importance=0.8)
    (insight,) = memory.store_insights(scope, [thought])
    print("insight:", memory.get(scope, insight).content, "from", len(evidence), "memories")

    # Forget, and bring back. The older version goes with it.
    gone = memory.forget(scope, ForgetRequest(ids=(corrected.id,)))
    back = memory.forget(scope, ForgetRequest(ids=(corrected.id,), restore=True))
    print("forgotten:", len(gone.ids), "and restored:", len(back.ids))

    memory.end_session(scope)  # empties the conversation's buffers by their rules
    memory.close()


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        main(Path(place))
