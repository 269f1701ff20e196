"""The memory behind interfaces that agent frameworks define themselves.

`memory_tool` is the memory tool of Anthropic's SDK, `langgraph_store` a store of LangGraph, `agents_session` a session of the OpenAI Agents
SDK. Each needs its framework, which you install yourself. All ask the store's hub, so that they work alongside your assistants.
"""
