"""Figures of a hub, where the standard variables ask for them."""

import subprocess
import sys

import pytest
from mcp.client import Client
from tests.server.services import ObservedService, make_server
from tests.tables import each

from hybrid_memory_mcp.runtime.provider import ServiceProvider
from hybrid_memory_mcp.runtime.telemetry import Telemetry, is_wanted, telemetry_of

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@each(
    "environ, wanted",
    [
        ({}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:4318/v1/metrics"}, True),
        ({"OTEL_METRICS_EXPORTER": "otlp"}, True),
        (ENDPOINT | {"OTEL_METRICS_EXPORTER": "none"}, False),
        (ENDPOINT | {"OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_the_standard_variables_say_whether_there_are_figures(environ, wanted):
    assert is_wanted(environ) == wanted


def test_without_them_nothing_measures(provider):
    assert telemetry_of(provider, {}) is None
    assert provider.measure is None


@pytest.mark.slow
def test_without_them_nothing_of_it_is_imported():
    program = (
        "import sys, hybrid_memory_mcp.hub.run, hybrid_memory_mcp.runtime.telemetry as t; t.telemetry_of(None, {})\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_without_the_extra_the_log_says_what_to_install(provider, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.metrics", None)
    assert telemetry_of(provider, ENDPOINT) is None
    assert "hybrid-memory-mcp[otel]" in caplog.text


@pytest.fixture
def measured():
    """A server that is measured, its provider, and what reads its figures."""
    metrics = pytest.importorskip("opentelemetry.sdk.metrics", reason="the extra otel is not installed")
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    service = ObservedService()
    provider = ServiceProvider(lambda: service)
    telemetry = Telemetry(metrics.MeterProvider([reader], shutdown_on_exit=False), provider)
    provider.report_to(telemetry)
    yield make_server(provider, measure=provider.measure), service, reader
    provider.close(None)


def points(reader, name):
    found = reader.get_metrics_data()
    return [
        point
        for resource in found.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
    ]


@pytest.mark.anyio
async def test_calls_are_measured_by_tool_and_outcome(measured):
    server, _, reader = measured
    async with Client(server) as client:
        await client.call_tool("write_memory", {"content": "Ada keeps bees"})
        await client.call_tool("write_memory", {"content": ""})
    found = {
        (point.attributes["tool"], point.attributes["outcome"]): point.count
        for point in points(reader, "hybrid_memory.call.duration")
    }
    assert found == {("write_memory", "done"): 1, ("write_memory", "error"): 1}


@pytest.mark.anyio
async def test_commits_are_counted_and_name_nobody(measured):
    server, _, reader = measured
    async with Client(server) as client:
        await client.call_tool("write_memory", {"content": "Ada keeps bees"})
    (point,) = points(reader, "hybrid_memory.changes")
    assert point.value >= 1
    assert not point.attributes


@pytest.mark.anyio
async def test_lag_and_connections_are_told(measured):
    server, service, reader = measured
    service.store.behind_seconds = lambda: 1.5
    service.store.connection_counts = lambda: {"open": 4, "idle": 3, "waiting": 0}
    async with Client(server) as client:
        await client.call_tool("read_memories", {"query": "bees"})
    assert [point.value for point in points(reader, "hybrid_memory.store.behind")] == [1.5]
    told = {point.attributes["state"]: point.value for point in points(reader, "hybrid_memory.store.connections")}
    assert told == {"open": 4, "idle": 3, "waiting": 0}


@pytest.mark.anyio
async def test_a_name_that_is_no_tool_of_ours_is_no_name_of_a_figure(measured):
    server, _, reader = measured
    async with Client(server) as client:
        await client.call_tool("tool-of-a-stranger", {})
    assert [point.attributes["tool"] for point in points(reader, "hybrid_memory.call.duration")] == ["other"]
