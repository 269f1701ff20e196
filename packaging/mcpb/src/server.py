"""What the bundle starts: the program, with the fields of the bundle that a person has filled in."""

import os

from hybrid_memory_mcp.__main__ import main

FIELDS = ("HYBRID_MEMORY_HOME", "HYBRID_MEMORY_NAMESPACE", "HYBRID_MEMORY_PROJECT")


def forget_what_is_empty() -> None:
    """Take out what was left empty: hosts then hand over nothing, or the name of the field as it stands in the manifest."""
    for name in FIELDS:
        value = os.environ.get(name, "").strip()  # noqa: TID251 - before the settings are read
        if not value or value.startswith("${user_config."):
            os.environ.pop(name, None)  # noqa: TID251 - as above


if __name__ == "__main__":
    forget_what_is_empty()
    main()
