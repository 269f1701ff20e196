"""google-genai: its automatic function calling with an MCP session; the model is a scripted HTTP server on loopback."""

import json
import threading
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
from google import genai
from google.genai import types
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from steps import HEADERS, JOB, play


class Gemini(BaseHTTPRequestHandler):
    """Asks for one call, and keeps the tools that it was offered and what it is told."""

    call = None
    tools = ()
    told = None

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Gemini.tools = [one["name"] for tool in request.get("tools", ()) for one in tool["functionDeclarations"]]
        told = [one["functionResponse"] for one in request["contents"][-1]["parts"] if "functionResponse" in one]
        Gemini.told = told[0]["response"] if told else None
        part = {"text": "done"} if told or Gemini.call is None else {"functionCall": Gemini.call}
        answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class GoogleGenAi:
    def __init__(self, session, client):
        self.session, self.client = session, client

    async def run(self, call):
        Gemini.call, Gemini.told = call, None
        config = {"tools": [self.session]}  # an object would be copied, which a session cannot be
        await self.client.aio.models.generate_content(model="gemini-2.5-flash", contents="go", config=config)

    async def tools(self):
        await self.run(None)
        return Gemini.tools

    async def call(self, tool, arguments):
        await self.run({"name": tool, "args": arguments})
        return json.dumps(Gemini.told, ensure_ascii=False), None


@asynccontextmanager
async def session():
    if JOB["transport"] == "http":
        async with (
            httpx2.AsyncClient(headers=HEADERS, timeout=30) as http,
            streamable_http_client(JOB["url"], http_client=http) as streams,
            ClientSession(*streams[:2]) as opened,
        ):
            yield opened
    else:
        server = StdioServerParameters(command=JOB["command"][0], args=JOB["command"][1:])
        async with stdio_client(server) as streams, ClientSession(*streams) as opened:
            yield opened


@asynccontextmanager
async def connect():
    model = ThreadingHTTPServer(("127.0.0.1", 0), Gemini)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    options = types.HttpOptions(base_url=f"http://127.0.0.1:{model.server_port}")
    try:
        async with session() as opened:
            await opened.initialize()
            yield GoogleGenAi(opened, genai.Client(api_key="none", http_options=options))
    finally:
        model.shutdown()
        model.server_close()


play(connect)
