"""The list of a memory's fields is whole, and every statement is made from all of it."""

import re
from dataclasses import fields

from tests.tables import each

from hybrid_memory.model import Memory
from hybrid_memory.store.duck import memory_table
from hybrid_memory.store.memory_fields import MEMORY_FIELDS, NAMES, UNCHANGEABLE

COLUMNS = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'memory' ORDER BY column_index"


def test_the_list_names_each_field_of_a_memory_once():
    assert sorted(NAMES) == sorted(field.name for field in fields(Memory))


def test_the_table_has_the_columns_of_the_list_in_its_order(duck):
    with duck._engine.reading() as session:
        assert session.rows(COLUMNS) == [(field.name, field.type.sql) for field in MEMORY_FIELDS]


@each("name", ["_INSERT", "_INSERT_MANY", "_ONE", "_EIGHT", "_MANY", "_MEMBERS", "_BY_ROWID"])
def test_a_statement_of_whole_memories_names_each_field(name):
    words = re.findall(r"\w+", getattr(memory_table, name))
    assert [one for one in NAMES if one not in words] == []


def test_an_update_writes_each_changeable_field_and_no_other():
    written = re.findall(r"(\w+) = \?", memory_table._UPDATE.partition("WHERE")[0])
    assert {*written, *UNCHANGEABLE} == set(NAMES)
    assert set(written).isdisjoint(UNCHANGEABLE)


def test_the_short_insert_leaves_out_what_is_rare_only():
    words = re.findall(r"\w+", memory_table._INSERT_WITHOUT_RARE)
    assert [field.name for field in MEMORY_FIELDS if field.name not in words] == [
        field.name for field in MEMORY_FIELDS if field.rare
    ]
