"""Says whether the container is well: over HTTP the server must answer; over stdin and stdout being there is enough.

Exit code 0 for well, 1 for not. Standard library only.
"""

import sys
from http.client import HTTPConnection, HTTPException
from pathlib import Path

PORT = 8765
SECONDS = 4
WELL = (200, 204)  # the first where it also tells how far it is behind other hubs


def arguments_of_server() -> list[str]:
    """Return what the container's first process was started with."""
    return Path("/proc/1/cmdline").read_bytes().decode(errors="replace").split("\0")


def port_of(arguments: list[str]) -> int:
    """Return the port that the arguments name, or the usual one."""
    for option, value in zip(arguments, [*arguments[1:], ""], strict=True):
        if option == "--port" and value.isdecimal():
            return int(value)
        if option.startswith("--port=") and option[7:].isdecimal():
            return int(option[7:])
    return PORT


def answers(port: int) -> bool:
    """Return True if the server says that it is well."""
    connection = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status in WELL
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def main() -> int:
    """Look, and return the exit code."""
    arguments = arguments_of_server()
    return 0 if "--http" not in arguments or answers(port_of(arguments)) else 1


if __name__ == "__main__":
    sys.exit(main())
