"""A fake of huggingface.co on this machine's loopback: what its client needs to fetch one repository."""

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

REVISION = "5" * 40


def handler_of(repository: str, folder: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_arguments):
            pass

        def do_HEAD(self):
            self.answer(with_body=False)

        def do_GET(self):
            self.answer(with_body=True)

        def answer(self, *, with_body):
            path = self.path.partition("?")[0]
            headers, body = found(path, repository, folder)
            self.send_response(404 if body is None else 200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if with_body and body:
                self.wfile.write(body)

    return Handler


def found(path, repository, folder):
    """Return headers and body of an answer; no body where there is nothing."""
    json_type = {"Content-Type": "application/json"}
    if path.startswith(f"/api/models/{repository}/tree/"):
        return json_type, json.dumps([entry(file) for file in sorted(folder.iterdir())]).encode()
    if path.startswith(f"/api/models/{repository}"):
        siblings = [{"rfilename": file.name} for file in folder.iterdir()]
        about = {"id": repository, "sha": REVISION, "siblings": siblings, "private": False, "downloads": 0}
        return json_type, json.dumps(about | {"tags": [], "likes": 0}).encode()
    file = folder / path.rsplit("/", 1)[-1]
    if path.startswith(f"/{repository}/resolve/") and file.is_file():
        headers = {"ETag": f'"{blob(file)}"', "X-Repo-Commit": REVISION, "Content-Type": "application/octet-stream"}
        return headers, file.read_bytes()
    return {}, None


@contextmanager
def serving(repository: str, folder: Path):
    """Serve the files of a folder as a repository; gives the hub's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(repository, folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def entry(file: Path) -> dict[str, object]:
    return {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": blob(file)}


def blob(file: Path) -> str:
    return hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
