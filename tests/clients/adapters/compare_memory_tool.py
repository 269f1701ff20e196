"""Has the memory tool over a store and the SDK's own one over a disk do the same commands, and compares what a model reads."""

import random
import sys
from pathlib import Path

from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

from hybrid_memory_adapters.memory_tool import MemoryTool

PATHS = [
    *(
        f"/memories/{one}"
        for one in ("a.txt", "b.md", "d/x.txt", "d/e/y.txt", "d/e/f/z.txt", "d", "d/e", ".hidden", "no")
    ),
    *("/memories", "/memories/q/../a.txt", "/memories/../etc", "/etc/passwd", "/memories/a.txt/", "/memories//b.md"),
]
TEXTS = ["one\ntwo\nthree\n", "one\none", "", "\n", "  ", "x", "ä\r\nb\r\n", "a\nb\nc\nd\ne\nf\ng"]
RANGES = [None, None, [1, 2], [2, -1], [0, 1], [5, 9], [3, 1]]
OTHERWISE = "another error"


def a_command(choose):
    name = choose(["view", "view", "create", "create", "str_replace", "insert", "delete", "rename"])
    more = {
        "view": lambda: {"view_range": choose(RANGES)},
        "create": lambda: {"file_text": choose(TEXTS)},
        "str_replace": lambda: {
            "old_str": choose(["one", "x", "b", "two\n", "", "\n"]),
            "new_str": choose(["", "p\nq"]),
        },
        "insert": lambda: {
            "insert_line": choose([0, 1, 3, -1, 9]),
            "insert_text": choose(["new", "new\n", "", "m\nn\n\n"]),
        },
        "delete": dict,
        "rename": lambda: {"old_path": choose(PATHS), "new_path": choose(PATHS)},
    }[name]()
    return {"command": name, "path": choose(PATHS), **more}


def said(tool, command):
    try:
        text = tool.call(command)
    except ToolError as error:
        return f"error: {error.content}"
    except OSError:  # what a disk says of a file that is taken for a folder
        return OTHERWISE
    if not text.startswith("Here're"):
        return text
    return [line.rpartition("\t")[2] for line in text.split("\n")]  # a folder has another size on a disk


def without_empty_folders(root):
    for folder in sorted((one for one in root.rglob("*") if one.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def main():
    choose = random.Random(sys.argv[1]).choice
    ours, theirs = MemoryTool("store"), BetaLocalFilesystemMemoryTool("disk")
    for at in range(300):
        command = a_command(choose)
        mine, expected = said(ours, command), said(theirs, command)
        if expected == OTHERWISE:
            expected = mine if mine[:6] == "error:" else "an error"
        assert mine == expected, f"{at}: {command}\n{mine!r}\n{expected!r}"
        without_empty_folders(Path("disk/memories"))


main()
