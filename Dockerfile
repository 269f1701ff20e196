# The memory in a container: `docker build -t hybrid-memory-mcp .`; how it is run stands in docs/packages.md.
# One process serves one client over stdin and stdout; `serve --http` serves many.

FROM docker.io/library/python:3.13-slim AS build
# As "[postgresql]", for a memory that several machines share.
ARG EXTRAS=""
WORKDIR /source
COPY . .
# A wheel first, so that nothing but the installed packages is in the image.
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
    && python -m venv /program \
    && /program/bin/pip install --no-cache-dir --compile "$(echo /wheels/*.whl)${EXTRAS}" \
    && /program/bin/pip uninstall --yes pip

FROM docker.io/library/python:3.13-slim
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="hybrid-memory-mcp" \
      org.opencontainers.image.description="A human-like memory for every MCP client" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/hybrid-memory-mcp/hybrid-memory-mcp" \
      io.modelcontextprotocol.server.name="io.github.hybrid-memory-mcp/hybrid-memory-mcp"
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin memory \
    && install --directory --owner=memory --group=memory --mode=0700 /data /tokens
COPY --from=build /program /program
COPY packaging/container/healthcheck.py /program/healthcheck.py
ENV PATH=/program/bin:$PATH \
    HYBRID_MEMORY_HOME=/data \
    PYTHONUNBUFFERED=1
USER 10001
# The folder of the process is nobody's project.
WORKDIR /
VOLUME ["/data"]
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["python", "/program/healthcheck.py"]
ENTRYPOINT ["hybrid-memory-mcp"]
CMD ["serve", "--standalone"]
