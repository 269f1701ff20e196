"""The command line for people; a client that only wants to be served never imports it."""


def main() -> None:
    """Run the command line."""
    from hybrid_memory_mcp.cli.commands import app

    app()
