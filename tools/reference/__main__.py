"""Write docs/reference again, or say what there is not what the code says.

uv run python -m tools.reference            # writes the pages
uv run python -m tools.reference --check    # changes nothing; exit code 1 where a page is not current
"""

import sys
from pathlib import Path

from tools.reference.pages import pages

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"


def main(arguments: list[str]) -> int:
    """Write or check; returns the exit code."""
    made = pages()
    there = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    changed = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
    if "--check" in arguments:
        print("\n".join(f"not current: docs/reference/{name}" for name in changed) or "all is current")
        return 1 if changed else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in changed:
        if name in made:
            (FOLDER / name).write_text(made[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
        print(("written: " if name in made else "removed: ") + name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
