"""The address of a store on a server: where it leads, what may be shown of it, and that the way there is encrypted."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hybrid_memory.errors import InvalidInput
from hybrid_memory_postgres.target import (
    holds_secret,
    is_address,
    refuse_secret,
    shown_address,
    target_of,
)

PARTS = st.characters(exclude_categories=["Cs", "Cc"])
SECRET = "s3cr3t-of-nobody"  # noqa: S105 - it opens nothing


def parameters(address: str, environ: dict[str, str] | None = None) -> dict[str, object]:
    """Return what libpq is told for an address."""
    conninfo = pytest.importorskip("psycopg.conninfo")
    found: dict[str, object] = conninfo.conninfo_to_dict(target_of(address, environ or {}).conninfo)
    return found


def refusal(address: str, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(InvalidInput) as caught:
        target_of(address, environ or {})
    return str(caught.value)


def outcome(address: str) -> str:
    """Return what may be shown of a target, or the words of its refusal."""
    try:
        return target_of(address, {}).shown
    except InvalidInput as error:
        return str(error)


class TestWhereItLeads:
    def test_an_address_names_user_host_port_and_database(self) -> None:
        found = parameters("postgresql://hub@db.example:6432/memory")
        assert (found["user"], found["host"], found["port"], found["dbname"]) == ("hub", "db.example", "6432", "memory")

    @pytest.mark.parametrize("scheme", ["postgresql://", "postgres://", "PostgreSQL://"])
    def test_both_schemes_are_addresses(self, scheme: str) -> None:
        assert is_address(scheme + "hub@db/memory")

    @pytest.mark.parametrize("text", ["/home/ann/memory", "memory.duckdb", "mysql://db/x", "", "C:\\memory"])
    def test_a_folder_is_none(self, text: str) -> None:
        assert not is_address(text)

    def test_a_socket_folder_may_stand_in_the_query_or_escaped_as_host(self) -> None:
        assert parameters("postgresql:///memory?host=/run/pg")["host"] == "/run/pg"
        assert parameters("postgresql://%2Frun%2Fpg/memory")["host"] == "/run/pg"

    def test_a_network_address_of_version_six_stands_in_brackets(self) -> None:
        found = parameters("postgresql://hub@[::1]:6432/memory")
        assert (found["host"], found["port"]) == ("::1", "6432")

    def test_of_several_servers_the_one_that_takes_writes_is_asked_for(self) -> None:
        found = parameters("postgresql://one.example:5432,two.example:5433/memory")
        assert (found["host"], found["port"]) == ("one.example,two.example", "5432,5433")
        assert found["target_session_attrs"] == "read-write"

    def test_a_schema_may_be_named(self) -> None:
        assert parameters("postgresql:///memory?options=-csearch_path%3Dteam")["options"] == "-csearch_path=team"

    def test_what_the_address_leaves_out_comes_from_the_environment(self) -> None:
        assert parameters("postgresql:///memory", {"PGHOST": "/run/pg", "PGUSER": "ann"})["host"] == "/run/pg"

    def test_a_dead_network_is_noticed_in_seconds(self) -> None:
        assert parameters("postgresql://db.example/memory")["tcp_user_timeout"] == "10000"

    @pytest.mark.parametrize(
        "address",
        [
            "postgresql://db/memory?ssl_mode=require",
            "postgresql://db/memory?service=other",
            "postgresql://db/memory?sslmode",
            "postgresql://db:99999/memory",
            "postgresql://db:x/memory",
            "postgresql://[::1/memory",
            "postgresql://db/mem ory",
            "postgresql://db/%ff",
            "postgresql://db/%00",
            "mysql://db/memory",
            "postgresql://db/" + "x" * 5000,
        ],
    )
    def test_what_is_no_address_is_refused_in_words(self, address: str) -> None:
        assert refusal(address).startswith("store: ")

    def test_a_service_of_the_environment_cannot_lead_elsewhere(self) -> None:
        assert "PGSERVICE" in refusal("postgresql://localhost/memory", {"PGSERVICE": "other"})

    @given(user=st.text(), password=st.text(), database=st.text())
    @example(user="a@b", password="p?w/:@'\\", database="x y")  # noqa: S106 - it opens nothing
    @example(user=",", password=",", database=",")  # noqa: S106 - it opens nothing
    def test_libpq_reads_what_was_meant(self, user: str, password: str, database: str) -> None:
        conninfo = pytest.importorskip("psycopg.conninfo")
        parts = [
            "".join(c for c in one if c != "\0" and not 0xD800 <= ord(c) <= 0xDFFF)
            for one in (user, password, database)
        ]
        address = "postgresql://{}:{}@localhost/{}".format(*(quote(one, safe="") for one in parts))
        ours = conninfo.conninfo_to_dict(target_of(address, {}).conninfo)
        theirs = conninfo.conninfo_to_dict(address)
        for name in ("user", "password", "dbname", "host"):
            assert (ours.get(name) or "") == (theirs.get(name) or "")


class TestEncryption:
    @pytest.mark.parametrize("host", ["db.example", "10.1.2.3", "192.168.0.1", "[2001:db8::1]", "localhost,db.example"])
    def test_beyond_this_machine_the_server_has_to_prove_its_name(self, host: str) -> None:
        address = f"postgresql://hub@{host}/memory"
        assert parameters(address)["sslmode"] == "verify-full"
        assert target_of(address, {}).encrypted

    @pytest.mark.parametrize("mode", ["disable", "allow", "prefer"])
    def test_less_than_encryption_is_refused_there(self, mode: str) -> None:
        assert "without TLS" in refusal(f"postgresql://db.example/memory?sslmode={mode}")
        assert "without TLS" in refusal("postgresql://db.example/memory", {"PGSSLMODE": mode})

    def test_encryption_without_proof_is_taken_on_demand_and_told(self) -> None:
        target = target_of("postgresql://db.example/memory?sslmode=require", {})
        assert "not checked" in target.notices[0]

    def test_proof_needs_no_notice(self) -> None:
        assert target_of("postgresql://db.example/memory", {}).notices == ()

    @pytest.mark.parametrize(
        "address",
        [
            "postgresql:///memory",
            "postgresql:///memory?host=/run/pg",
            "postgresql://localhost/memory",
            "postgresql://127.0.0.1/memory",
            "postgresql://127.9.9.9/memory?sslmode=disable",
            "postgresql://[::1]/memory",
        ],
    )
    def test_this_machine_needs_none(self, address: str) -> None:
        assert not target_of(address, {}).encrypted

    @pytest.mark.parametrize("variable", ["PGHOST", "PGHOSTADDR"])
    def test_a_host_of_the_environment_counts(self, variable: str) -> None:
        assert target_of("postgresql:///memory", {variable: "10.0.0.7"}).encrypted

    def test_an_address_beside_a_local_name_counts(self) -> None:
        assert target_of("postgresql://localhost/memory?hostaddr=10.0.0.7", {}).encrypted

    def test_a_name_without_an_address_counts_beside_one_that_has_a_local_one(self) -> None:
        assert target_of("postgresql://localhost,db.example/memory?hostaddr=127.0.0.1,", {}).encrypted

    def test_an_unknown_mode_is_refused_everywhere(self) -> None:
        assert "sslmode" in refusal("postgresql://localhost/memory?sslmode=full")

    def test_the_certificates_are_those_that_the_address_names(self) -> None:
        assert parameters("postgresql://db.example/memory?sslrootcert=/x/ca.pem")["sslrootcert"] == "/x/ca.pem"

    def test_another_encryption_does_not_take_its_place_unasked(self) -> None:
        assert parameters("postgresql://db.example/memory")["gssencmode"] == "disable"


class TestSecrets:
    @pytest.mark.parametrize(
        "address",
        [
            f"postgresql://hub:{SECRET}@db.example/memory",
            f"postgresql://hub@db.example/memory?password={SECRET}",
            f"postgresql://db.example/memory?sslpassword={SECRET}&sslmode=require",
        ],
    )
    def test_a_password_is_never_shown(self, address: str) -> None:
        target = target_of(address, {})
        assert SECRET not in target.shown + repr(target) + shown_address(address)

    @pytest.mark.parametrize("begin", ["p@", "12/", "p/", "p@12/", "p/x@"])
    def test_nothing_is_shown_of_a_password_whose_marks_were_not_escaped(self, begin: str) -> None:
        address = f"postgresql://hub:{begin}{SECRET}@db.example/memory"
        assert holds_secret(address)
        assert SECRET not in shown_address(address) + outcome(address)

    def test_what_stands_in_the_place_of_a_port_and_is_none_is_not_shown(self) -> None:
        assert SECRET not in shown_address(f"postgresql://hub:{SECRET}/memory")

    def test_what_is_shown_names_user_host_database_and_schema(self) -> None:
        address = f"postgresql://hub:{SECRET}@db.example:6432/memory?options=-csearch_path%3Dteam"
        assert target_of(address, {}).shown == "postgresql://hub@db.example:6432/memory?options=-csearch_path%3Dteam"

    def test_the_folder_of_a_socket_is_shown_where_an_address_has_it(self) -> None:
        address = "postgresql://hub@/memory?host=/tmp/pg/sock&port=6432"
        assert target_of(address, {}).shown == address
        assert (
            shown_address("postgresql://hub@%2Ftmp%2Fpg:6432/memory")
            == "postgresql://hub@/memory?host=/tmp/pg&port=6432"
        )

    @given(
        user=st.text(PARTS, max_size=8),
        host=st.sampled_from(
            ["", "db.example", "::1", "a.example,b.example", "/run/a b", "@abstract", "10.0.0.1", "/a,/b"]
        ),
        port=st.sampled_from(["", "6432"]),
        database=st.text(PARTS, max_size=8),
        schema=st.sampled_from(["", "team", "a,b", "Zo\u00eb"]),
    )
    def test_what_is_shown_can_be_typed_and_means_the_same_store(
        self, user: str, host: str, port: str, database: str, schema: str
    ) -> None:
        said = [("host", host), ("port", port), ("user", user), ("dbname", database)]
        said += [("options", f"-csearch_path={schema}")] if schema else []
        address = "postgresql://?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in said)
        shown = shown_address(address)
        digests = [target_of(one, {"PGSSLMODE": "require"}).digest for one in (address, shown)]
        assert digests[0] == digests[1], shown
        assert shown_address(shown) == shown

    @given(text=st.text())
    @example(text="postgresql://u:p@[/x")
    def test_anything_can_be_shown(self, text: str) -> None:
        shown_address("postgresql://hub:" + SECRET + "@db/" + text)
        assert SECRET not in shown_address("postgresql://hub:" + SECRET + "@db/" + text)

    @given(text=st.text(min_size=1))
    def test_no_outcome_quotes_the_password(self, text: str) -> None:
        assert SECRET not in outcome(f"postgresql://hub:{SECRET}@db.example{text}")

    def test_arguments_and_files_that_others_read_hold_no_password(self) -> None:
        address = f"postgresql://hub:{SECRET}@db.example/memory"
        assert holds_secret(address)
        with pytest.raises(InvalidInput) as caught:
            refuse_secret(address, "FROM")
        assert SECRET not in str(caught.value)
        assert str(caught.value).startswith("FROM: holds a password")

    def test_an_address_without_one_passes(self) -> None:
        assert refuse_secret("postgresql://hub@db/memory", "FROM") == "postgresql://hub@db/memory"
        assert not holds_secret("postgresql://hub@db/memory")

    def test_the_password_of_a_file_wins(self, tmp_path: Path) -> None:
        file = tmp_path / "password"
        file.write_text(SECRET + "\n")
        file.chmod(0o600)
        target = target_of("postgresql://hub:other@localhost/memory", {}, file)
        assert SECRET in target.conninfo
        assert "other" not in target.conninfo


class TestComparing:
    def test_addresses_of_the_same_store_have_one_digest(self) -> None:
        one = target_of(f"postgresql://hub:{SECRET}@DB.example/memory?connect_timeout=3", {})
        two = target_of("postgres://hub@db.example:5432/memory", {})
        assert one.digest == two.digest

    @pytest.mark.parametrize(
        "other",
        [
            "postgresql://hub@db.example/other",
            "postgresql://hub@db2.example/memory",
            "postgresql://hub@db.example:5433/memory",
            "postgresql://ann@db.example/memory",
            "postgresql://hub@db.example/memory?options=-csearch_path%3Dteam",
        ],
    )
    def test_others_have_another(self, other: str) -> None:
        assert target_of("postgresql://hub@db.example/memory", {}).digest != target_of(other, {}).digest
