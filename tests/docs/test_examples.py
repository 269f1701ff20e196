"""Every example of docs/from-db-gpt.md runs as it stands."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from-db-gpt.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

MEMORY_NAMES = (
    "AgentMemory AgentMemoryFragment ConversationContext EnhancedShortTermMemory GptsMemory HybridMemory LongTermMemory"
    " MemoryConfig MemoryEntry MemoryFragment MemoryManager MemoryTypes SensoryMemory ShortTermMemory"
    " StructuredAgentMemoryFragment TimeWeightedEmbeddingRetriever"
)
AGENT_NAMES = "ActionOutput AgentContext BlankAction ConversableAgent LLMConfig ProfileConfig UserProxyAgent"
OTHER_NAMES = "ChromaStore ChromaVectorConfig DefaultEmbeddingFactory OpenAILLMClient"
NAMES = {
    "hybrid_memory_dbgpt": f"{MEMORY_NAMES} {AGENT_NAMES} {OTHER_NAMES}",
}


@pytest.mark.slow
@pytest.mark.parametrize("source", EXAMPLES, ids=lambda source: re.sub(r"\W+", " ", source[-60:]).strip()[-30:])
def test_an_example_runs(source, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    exec(compile(source, "from-db-gpt.md", "exec"), {"__name__": "example"})  # noqa: S102 - our own page


def test_every_section_of_the_page_has_an_example():
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert [section.splitlines()[0] for section in sections if "```python" not in section] == []


@pytest.mark.parametrize(("module", "names"), NAMES.items())
def test_every_name_that_the_documents_use_can_be_imported(module, names):
    imported = {}
    exec(f"from {module} import {', '.join(names.split())}", imported)  # noqa: S102 - names above
    assert set(names.split()) <= set(imported)
