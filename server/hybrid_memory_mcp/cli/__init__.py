"""The command line for people. ``__main__.py`` imports it only where no relay or hub is asked for."""


def main() -> None:
    """Run the command line."""
    from hybrid_memory_mcp.cli.commands import app

    app()
