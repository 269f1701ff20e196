# What a contributor runs. `just` alone: lint, then test.
default: setup lint test

# the linters, which are not installed by default
setup:
    uv sync --quiet --group check

# everything that reads the code without running it
lint: setup
    uv run ruff check .
    uv run ruff format --check .
    uv run mypy
    uv run lint-imports

# the quick tier
test:
    uv run pytest

# what the quick tier leaves to CI: whole processes, files written anew
slow:
    uv run pytest -m 'slow and not stress and not clients and not browser and not postgres'

# everything but the long tier: before a release, and each night
all: lint thorough
    uv run --group check pytest -n 3 -m '(slow or tools or postgres) and not stress and not clients and not browser'
    uv run pytest -m clients -n 0 tests/clients
    uv run --group browser pytest -m 'browser and not stress' tests/browser

# the quick tier with many more examples of its properties
thorough:
    uv run pytest --hypothesis-profile thorough --timeout 600

# tests of the measuring tools
tools:
    uv run pytest -m 'tools and not stress'

# the long tier
stress:
    uv run pytest -m stress -n 2 --timeout 1800

# real clients, each in an environment of its own that is made from the registries
clients:
    uv run pytest -m clients -n 0 tests/clients

# the page in a real browser; Chromium is the system's (Debian: apt install chromium)
browser:
    uv run --group browser pytest -m 'browser and not stress' tests/browser

# over a real PostgreSQL server, which the tests start themselves (Debian: apt install postgresql pgbouncer)
postgres:
    uv run --group check pytest -m 'postgres and not stress'

# build wheel and source archive, and use both in empty environments with pip and with uv
smoke:
    uv run python tools/smoke_wheel.py

# what version all files name; with one, writes it into each: `just version 0.2.0`
version *NEW:
    uv run python tools/set_version.py {{NEW}}

# the bundle for desktop programs, by the official tool (needs Node)
bundle:
    npx --yes @anthropic-ai/mcpb@2.1.2 pack packaging/mcpb dist/hybrid-memory-mcp.mcpb

# the main job on a real MCP client
demo:
    uv run hybrid-memory-mcp demo

# figures of docs/benchmarks.md
bench:
    uv run python -m benchmarks.service

# the figures that the README shows, next to those of docs/figures.json; fails where one moved by more than a third
figures *PARTS:
    uv run python -m benchmarks.figures {{PARTS}}
