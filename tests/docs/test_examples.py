"""Every example of docs/from-db-gpt.md runs as it stands."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from-db-gpt.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

SEED_NAMES = {
    "hybrid_memory_dbgpt": (
        "AgentMemory AgentMemoryFragment ConversationContext EnhancedShortTermMemory GptsMemory HybridMemory LongTermMemory"
        " MemoryConfig MemoryEntry MemoryFragment MemoryManager MemoryTypes SensoryMemory ShortTermMemory"
        " StructuredAgentMemoryFragment TimeWeightedEmbeddingRetriever"
    ),
    "hybrid_memory_dbgpt.agents": (
        "ActionOutput AgentContext BlankAction ConversableAgent LLMConfig ProfileConfig UserProxyAgent"
    ),
}


@pytest.mark.parametrize("source", EXAMPLES, ids=lambda source: re.sub(r"\W+", " ", source[-60:]).strip()[-30:])
def test_an_example_runs(source, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    exec(compile(source, "from-db-gpt.md", "exec"), {"__name__": "example"})  # noqa: S102 - our own page


def test_the_page_has_all_examples_of_the_documents():
    assert len(EXAMPLES) == 9


@pytest.mark.parametrize(("module", "names"), SEED_NAMES.items())
def test_every_name_that_the_documents_use_can_be_imported(module, names):
    imported = {}
    exec(f"from {module} import {', '.join(names.split())}", imported)  # noqa: S102 - names above
    assert set(names.split()) <= set(imported)
