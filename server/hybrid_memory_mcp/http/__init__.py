"""Streamable HTTP: the same servers as over stdin and stdout, behind a listener that asks for a token."""
