"""A hub's figures as they arrive at a collector: the SDK's own exporter, over HTTP, to a receiver of the test's own."""

import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.server.raw import started

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

PATIENCE_SECONDS = 60


class Collector:
    """Takes what is sent to ``/v1/metrics``, and keeps the newest value of each figure by its name and attributes."""

    def __init__(self, parse):
        self.seen = {}
        self.services = set()
        self._parse = parse
        self._news = threading.Condition()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/v1/metrics" and self.headers["Content-Type"] == "application/x-protobuf":
                    collector.take(body)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, body):
        with self._news:
            for resource in self._parse(body).resource_metrics:
                named = {one.key: one.value.string_value for one in resource.resource.attributes}
                self.services.add(named["service.name"])
                for scope in resource.scope_metrics:
                    for metric in scope.metrics:
                        self._keep(metric)
            self._news.notify_all()

    def _keep(self, metric):
        for point in getattr(metric, metric.WhichOneof("data")).data_points:
            said = tuple(sorted((one.key, one.value.string_value) for one in point.attributes))
            value = point.count if metric.HasField("histogram") else getattr(point, point.WhichOneof("value"))
            self.seen[metric.name, said] = value

    def wait_for(self, name, **attributes):
        """Return a figure as soon as it has come."""
        key = name, tuple(sorted(attributes.items()))
        with self._news:
            assert self._news.wait_for(lambda: key in self.seen, PATIENCE_SECONDS), sorted(self.seen)
            return self.seen[key]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def collector():
    sent = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2", reason="needs otel")
    made = Collector(sent.ExportMetricsServiceRequest.FromString)
    yield made
    made.close()


def test_a_hubs_figures_arrive_at_a_collector(collector, database):
    variables = {
        "HYBRID_MEMORY_STORE": database.address,
        "HYBRID_MEMORY_LINGER_SECONDS": "0",
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address,
        "OTEL_METRIC_EXPORT_INTERVAL": "200",
    }
    with (
        tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as folder,
        started(Path(folder) / "home", alone=False, environment=variables) as client,
    ):
        client.initialize()
        assert not client.call(1, "write_memory", content="Ada keeps bees").get("isError")
        assert client.call(2, "write_memory", content="").get("isError")
        assert collector.wait_for("hybrid_memory.call.duration", tool="write_memory", outcome="done") == 1
        assert collector.wait_for("hybrid_memory.call.duration", tool="write_memory", outcome="error") == 1
        assert collector.wait_for("hybrid_memory.changes") >= 1
        assert 0 <= collector.wait_for("hybrid_memory.store.behind") < PATIENCE_SECONDS
        assert collector.wait_for("hybrid_memory.store.connections", state="open") >= 1
    assert collector.services == {"hybrid-memory-mcp"}
    told = repr(collector.seen)
    assert "default" not in told
    assert "bees" not in told


def test_a_collector_that_is_not_there_holds_nobody_up(database):
    variables = {
        "HYBRID_MEMORY_STORE": database.address,
        "HYBRID_MEMORY_LINGER_SECONDS": "0",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
        "OTEL_METRIC_EXPORT_INTERVAL": "100",
    }
    with (
        tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as folder,
        started(Path(folder) / "home", alone=False, environment=variables) as client,
    ):
        client.initialize()
        for number in range(1, 6):
            assert not client.call(number, "write_memory", content=f"Ada keeps bees {number}").get("isError")
