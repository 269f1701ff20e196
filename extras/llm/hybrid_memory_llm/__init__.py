"""A model of your own judges each conversation that has ended, at an address that speaks as OpenAI's does; see ``docs/llm.md``."""
