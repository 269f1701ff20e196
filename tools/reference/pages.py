"""Which pages there are."""

from tools.reference import api_pages, commands, settings_page, tool_pages

_MADE = "<!-- made by `uv run python -m tools.reference`; change the code, not this page -->\n"
_ABOUT = {
    "commands.md": "Commands: what is typed into a terminal, with all options",
    "tools.md": "Tools: what a model can call, with their schemas",
    "resources.md": "Resources and prompts",
    "settings.md": "Settings: variables, `config.toml`, `.hybrid-memory.toml`",
    "errors.md": "Errors, and what they become",
    "library.md": "The library, for programs that use the memory without MCP",
    "testing.md": "For tests of agents: the context manager, the fixture, the clock",
}


def pages() -> dict[str, str]:
    """Return the text of every page by its name."""
    made = {
        "commands.md": commands.page(),
        "tools.md": tool_pages.tools_page(),
        "resources.md": tool_pages.resources_page(),
        "settings.md": settings_page.page(),
        "errors.md": api_pages.errors_page(),
        "library.md": api_pages.library_page(),
        "testing.md": api_pages.testing_page(),
    }
    there = {name: text for name, text in made.items() if text is not None}
    index = "\n".join(f"- [{_ABOUT[name]}]({name})" for name in there)
    there["README.md"] = (
        f"# Reference\n\nMade from the code, so it is what the program of this version does.\n\n{index}\n"
    )
    return {name: _MADE + "\n" + text.rstrip() + "\n" for name, text in there.items()}
