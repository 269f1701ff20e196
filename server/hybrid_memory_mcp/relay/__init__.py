"""The relay: the process that an MCP client starts. It connects the client's pipes with the hub, which has the store open.

It has to be there in tens of milliseconds, so these modules import only the standard library, and of that only what is quick to
import: no dataclasses, pathlib or typing.
"""
