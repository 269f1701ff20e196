"""The clients that can be given this memory: where their files lie, what belongs into them, and how it gets in and out again.

``table.py`` has the clients as data, ``changes.py`` makes a new text of an old one, ``files.py`` puts it on disk.
"""
