"""Texts to vectors: the table in this package, or a fastembed model that is on the machine."""
