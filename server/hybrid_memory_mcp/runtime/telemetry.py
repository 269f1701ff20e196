"""Figures of a hub as OpenTelemetry metrics, where the standard ``OTEL_*`` variables ask for them and the extra ``otel`` is installed.

Nothing of it is imported otherwise. Names of namespaces, clients and tokens are no part of the figures.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.runtime.error_log import log

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.metrics import CallbackOptions, Observation
    from opentelemetry.sdk.metrics import MeterProvider

    from hybrid_memory_mcp.runtime.provider import ServiceProvider

Measure: TypeAlias = Callable[[str], AbstractContextManager[None]]
"""Measures one call of a tool, by the tool's name, while the body runs."""

_ASKING = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_METRICS_EXPORTER")
_SERVICE = "hybrid-memory-mcp"
_MISSING = "OTEL_* variables ask for metrics, for which a part is missing: install hybrid-memory-mcp[otel]"
_LAST_MILLIS = 1_000  # a hub that leaves does not wait longer for who collects its figures
# The usual limits of a histogram are those of milliseconds.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Telemetry:
    """The instruments of one hub over a ``meter_provider`` of the SDK."""

    def __init__(self, meter_provider: MeterProvider, provider: ServiceProvider) -> None:
        from opentelemetry.metrics import Observation

        self._meters = meter_provider
        self._provider = provider
        self._observation = Observation
        meter = meter_provider.get_meter(_SERVICE, __version__)
        self._calls = meter.create_histogram(
            "hybrid_memory.call.duration",
            unit="s",
            description="Calls of tools, by tool and outcome.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._changes = meter.create_counter(
            "hybrid_memory.changes", description="Commits that this hub made, or heard of from another one."
        )
        meter.create_observable_gauge(
            "hybrid_memory.store.behind",
            callbacks=[self._behind],
            unit="s",
            description="How long ago it was last certain what other hubs wrote.",
        )
        meter.create_observable_gauge(
            "hybrid_memory.store.connections",
            callbacks=[self._connections],
            description="Connections to the database: open, idle, and callers that wait for one.",
        )

    @contextmanager
    def measure(self, tool: str) -> Iterator[None]:
        """Measure a call of a tool while the body runs."""
        begun, outcome = time.perf_counter(), "error"
        try:
            yield
            outcome = "done"
        finally:
            self._calls.record(time.perf_counter() - begun, {"tool": tool, "outcome": outcome})

    def note_commit(self, namespace: str, sessions: frozenset[str]) -> None:
        """Count a commit."""
        del namespace, sessions
        self._changes.add(1)

    def close(self) -> None:
        """Send what is left, and stop."""
        self._meters.shutdown(timeout_millis=_LAST_MILLIS)

    def _behind(self, _: CallbackOptions) -> Iterable[Observation]:
        lag = self._provider.lag()
        seconds = self._provider.behind_seconds() if lag is None else lag.seconds
        return [self._observation(seconds)] if seconds < float("inf") else []

    def _connections(self, _: CallbackOptions) -> Iterable[Observation]:
        return [self._observation(count, {"state": state}) for state, count in self._provider.connections().items()]


def telemetry_of(provider: ServiceProvider, environ: Mapping[str, str] | None = None) -> Telemetry | None:
    """Return what measures a hub, None where nobody asked for it or it is not installed; a log line tells of the latter."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - the standard variables of OpenTelemetry
    if not is_wanted(environ):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
    except ImportError:
        log.warning(_MISSING)
        return None
    # Where to, how often and with which headers and names the SDK reads of the variables itself.
    named = {} if environ.get("OTEL_SERVICE_NAME") else {"service.name": _SERVICE}
    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    return Telemetry(MeterProvider([reader], Resource.create(named), shutdown_on_exit=False), provider)


def is_wanted(environ: Mapping[str, str]) -> bool:
    """Return whether the standard variables ask for metrics over OTLP."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environ.get("OTEL_METRICS_EXPORTER", "").strip().lower()
    return exporter in ("", "otlp") and any(environ.get(name) for name in _ASKING)
