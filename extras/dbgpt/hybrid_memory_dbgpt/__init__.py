"""The agent memories of DB-GPT by name, parameter and default, over the project's own store. Asynchronous.

    from hybrid_memory_dbgpt import AgentMemory, AgentMemoryFragment, HybridMemory

    memory = AgentMemory(HybridMemory.from_duckdb(vstore_path="~/my-agent"))
    await memory.write(AgentMemoryFragment("I prefer tea in the morning"))
    fragments = await memory.read("What should I drink?")

The names are all here, the smallest agents that use these memories included, and are loaded when they are first used;
importing this package loads nothing heavy. ``docs/from-db-gpt.md`` says what replaces what.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory_dbgpt.agent_memory import AgentMemory
    from hybrid_memory_dbgpt.agents import (
        ActionOutput,
        AgentContext,
        BlankAction,
        CallableLLM,
        ConversableAgent,
        LLMConfig,
        ProfileConfig,
        UserProxyAgent,
    )
    from hybrid_memory_dbgpt.buffers import EnhancedShortTermMemory, SensoryMemory, ShortTermMemory
    from hybrid_memory_dbgpt.fragments import (
        AgentMemoryFragment,
        DiscardedMemoryFragments,
        InsightMemoryFragment,
        MemoryFragment,
        StructuredAgentMemoryFragment,
        WriteOperation,
    )
    from hybrid_memory_dbgpt.gpts_memory import (
        GptsMemory,
        GptsMessage,
        GptsMessageMemory,
        GptsPlan,
        GptsPlansMemory,
        PlanStatus,
    )
    from hybrid_memory_dbgpt.hybrid import HybridMemory
    from hybrid_memory_dbgpt.long_term import LongTermMemory
    from hybrid_memory_dbgpt.memory_base import Memory
    from hybrid_memory_dbgpt.memory_manager import (
        ConversationContext,
        MemoryConfig,
        MemoryEntry,
        MemoryManager,
        MemoryTypes,
    )
    from hybrid_memory_dbgpt.openai_api import (
        DefaultEmbeddingFactory,
        ModelUnavailable,
        OpenAIEmbeddings,
        OpenAILLMClient,
    )
    from hybrid_memory_dbgpt.retriever import LongTermRetriever, RecallRules, TimeWeightedEmbeddingRetriever
    from hybrid_memory_dbgpt.scoring import ImportanceScorer, InsightExtractor, LLMImportanceScorer, LLMInsightExtractor
    from hybrid_memory_dbgpt.vector_store import (
        ChromaStore,
        ChromaVectorConfig,
        Document,
        DuckDBVectorConfig,
        DuckDBVectorStore,
        VectorStore,
    )

__all__ = [
    "ActionOutput",
    "AgentContext",
    "AgentMemory",
    "AgentMemoryFragment",
    "BlankAction",
    "CallableLLM",
    "ChromaStore",
    "ChromaVectorConfig",
    "ConversableAgent",
    "ConversationContext",
    "DefaultEmbeddingFactory",
    "DiscardedMemoryFragments",
    "Document",
    "DuckDBVectorConfig",
    "DuckDBVectorStore",
    "EnhancedShortTermMemory",
    "GptsMemory",
    "GptsMessage",
    "GptsMessageMemory",
    "GptsPlan",
    "GptsPlansMemory",
    "HybridMemory",
    "ImportanceScorer",
    "InsightExtractor",
    "InsightMemoryFragment",
    "LLMConfig",
    "LLMImportanceScorer",
    "LLMInsightExtractor",
    "LongTermMemory",
    "LongTermRetriever",
    "Memory",
    "MemoryConfig",
    "MemoryEntry",
    "MemoryFragment",
    "MemoryManager",
    "MemoryTypes",
    "ModelUnavailable",
    "OpenAIEmbeddings",
    "OpenAILLMClient",
    "PlanStatus",
    "ProfileConfig",
    "RecallRules",
    "SensoryMemory",
    "ShortTermMemory",
    "StructuredAgentMemoryFragment",
    "TimeWeightedEmbeddingRetriever",
    "UserProxyAgent",
    "VectorStore",
    "WriteOperation",
]

_NAMES_OF_MODULE = {
    "agent_memory": "AgentMemory",
    "agents": "ActionOutput AgentContext BlankAction CallableLLM ConversableAgent LLMConfig ProfileConfig UserProxyAgent",
    "buffers": "EnhancedShortTermMemory SensoryMemory ShortTermMemory",
    "fragments": (
        "AgentMemoryFragment DiscardedMemoryFragments InsightMemoryFragment MemoryFragment "
        "StructuredAgentMemoryFragment WriteOperation"
    ),
    "gpts_memory": "GptsMemory GptsMessage GptsMessageMemory GptsPlan GptsPlansMemory PlanStatus",
    "hybrid": "HybridMemory",
    "long_term": "LongTermMemory",
    "memory_base": "Memory",
    "memory_manager": "ConversationContext MemoryConfig MemoryEntry MemoryManager MemoryTypes",
    "openai_api": "DefaultEmbeddingFactory ModelUnavailable OpenAIEmbeddings OpenAILLMClient",
    "retriever": "LongTermRetriever RecallRules TimeWeightedEmbeddingRetriever",
    "scoring": "ImportanceScorer InsightExtractor LLMImportanceScorer LLMInsightExtractor",
    "vector_store": "ChromaStore ChromaVectorConfig Document DuckDBVectorConfig DuckDBVectorStore VectorStore",
}
_MODULE_OF_NAME = {name: module for module, names in _NAMES_OF_MODULE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF_NAME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
