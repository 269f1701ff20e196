"""The server knows the formats of other programs by entry points alone."""

from hybrid_memory.extras import load_extra, names_of_extras
from hybrid_memory_importers.formats import format_named, format_names
from hybrid_memory_mcp.words.session_names import source_of

GROUP = "hybrid_memory.import_formats"


def test_each_format_is_listed_where_the_server_looks():
    assert names_of_extras(GROUP) == sorted(format_names())
    assert [load_extra(GROUP, name) for name in format_names()] == [format_named(name) for name in format_names()]


def test_a_conversation_that_was_imported_is_called_after_its_format():
    assert source_of("import:chatgpt:Trip") == "imported from ChatGPT export"
    assert source_of("import:another:Trip") == "imported"
