"""The agent API: asynchronous memories with the names and defaults of DB-GPT's, over the project's own store.

    from hybrid_memory.agent import AgentMemory, AgentMemoryFragment, HybridMemory

    memory = AgentMemory(HybridMemory.from_duckdb(vstore_path="~/my-agent"))
    await memory.write(AgentMemoryFragment("I prefer tea in the morning"))
    fragments = await memory.read("What should I drink?")

Names are loaded when they are first used; importing this package loads nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory.agent.agent_memory import AgentMemory as AgentMemory
    from hybrid_memory.agent.buffers import EnhancedShortTermMemory as EnhancedShortTermMemory
    from hybrid_memory.agent.buffers import SensoryMemory as SensoryMemory
    from hybrid_memory.agent.buffers import ShortTermMemory as ShortTermMemory
    from hybrid_memory.agent.fragments import AgentMemoryFragment as AgentMemoryFragment
    from hybrid_memory.agent.fragments import DiscardedMemoryFragments as DiscardedMemoryFragments
    from hybrid_memory.agent.fragments import InsightMemoryFragment as InsightMemoryFragment
    from hybrid_memory.agent.fragments import MemoryFragment as MemoryFragment
    from hybrid_memory.agent.fragments import StructuredAgentMemoryFragment as StructuredAgentMemoryFragment
    from hybrid_memory.agent.fragments import WriteOperation as WriteOperation
    from hybrid_memory.agent.gpts import GptsMemory as GptsMemory
    from hybrid_memory.agent.gpts import GptsMessage as GptsMessage
    from hybrid_memory.agent.gpts import GptsMessageMemory as GptsMessageMemory
    from hybrid_memory.agent.gpts import GptsPlan as GptsPlan
    from hybrid_memory.agent.gpts import GptsPlansMemory as GptsPlansMemory
    from hybrid_memory.agent.gpts import PlanStatus as PlanStatus
    from hybrid_memory.agent.hybrid import HybridMemory as HybridMemory
    from hybrid_memory.agent.long_term import LongTermMemory as LongTermMemory
    from hybrid_memory.agent.manager import ConversationContext as ConversationContext
    from hybrid_memory.agent.manager import MemoryConfig as MemoryConfig
    from hybrid_memory.agent.manager import MemoryEntry as MemoryEntry
    from hybrid_memory.agent.manager import MemoryManager as MemoryManager
    from hybrid_memory.agent.manager import MemoryTypes as MemoryTypes
    from hybrid_memory.agent.memory import Memory as Memory
    from hybrid_memory.agent.retriever import LongTermRetriever as LongTermRetriever
    from hybrid_memory.agent.retriever import RecallRules as RecallRules
    from hybrid_memory.agent.retriever import TimeWeightedEmbeddingRetriever as TimeWeightedEmbeddingRetriever
    from hybrid_memory.agent.vstore import Document as Document
    from hybrid_memory.agent.vstore import DuckDBVectorConfig as DuckDBVectorConfig
    from hybrid_memory.agent.vstore import DuckDBVectorStore as DuckDBVectorStore
    from hybrid_memory.agent.vstore import VectorStore as VectorStore
    from hybrid_memory.tiers.importance import ImportanceScorer as ImportanceScorer
    from hybrid_memory.tiers.importance import InsightExtractor as InsightExtractor
    from hybrid_memory.tiers.importance import LLMImportanceScorer as LLMImportanceScorer
    from hybrid_memory.tiers.importance import LLMInsightExtractor as LLMInsightExtractor

_HOMES = {
    "agent.agent_memory": ("AgentMemory",),
    "agent.buffers": ("EnhancedShortTermMemory", "SensoryMemory", "ShortTermMemory"),
    "agent.fragments": (
        "AgentMemoryFragment",
        "DiscardedMemoryFragments",
        "InsightMemoryFragment",
        "MemoryFragment",
        "StructuredAgentMemoryFragment",
        "WriteOperation",
    ),
    "agent.gpts": ("GptsMemory", "GptsMessage", "GptsMessageMemory", "GptsPlan", "GptsPlansMemory", "PlanStatus"),
    "agent.hybrid": ("HybridMemory",),
    "agent.long_term": ("LongTermMemory",),
    "agent.manager": ("ConversationContext", "MemoryConfig", "MemoryEntry", "MemoryManager", "MemoryTypes"),
    "agent.memory": ("Memory",),
    "agent.retriever": ("LongTermRetriever", "RecallRules", "TimeWeightedEmbeddingRetriever"),
    "agent.vstore": ("Document", "DuckDBVectorConfig", "DuckDBVectorStore", "VectorStore"),
    "tiers.importance": ("ImportanceScorer", "InsightExtractor", "LLMImportanceScorer", "LLMInsightExtractor"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"hybrid_memory.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
