"""What a client starts: a small process between the client's pipes and the hub that has the store open.

Standard library only, and of that only what is quick to import: no dataclasses, pathlib or typing.
"""
