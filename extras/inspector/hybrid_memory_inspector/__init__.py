"""The inspector: the page that `inspect` opens, with the map of the memories, and the card inside a chat.

`command` is the command, `inspection` serves the page in a hub, `page` has its HTTP and HTML, `views` what it shows as data (what the
terminal shows too is in `hybrid_memory_mcp.views`), `overview` the map and the names, `chat_app` the card.
"""
