"""Streamable HTTP: the same servers as over stdin and stdout, behind a door that asks for a token."""
