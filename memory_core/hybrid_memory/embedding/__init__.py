"""Texts to vectors: the built-in table (``static.py``), or a fastembed model that is on the machine.

``registry.py`` chooses; ``embedder.py`` is the interface; ``background_embedder.py`` loads a slow model alongside the calls.
"""
