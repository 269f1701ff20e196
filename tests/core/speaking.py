"""Short ways to write and read in the tests of the service."""

from hybrid_memory.requests import ReadRequest, WriteRequest


def remember(service, scope, content, **fields):
    return service.write(scope, WriteRequest(content=content, **fields))


def texts(service, scope, query="", **fields):
    return [hit.memory.content for hit in service.read(scope, ReadRequest(query=query, **fields)).hits]
