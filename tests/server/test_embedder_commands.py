"""The commands about embedding models, on a tiny model and on a real one, and without a network."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from tests.core.embedding.loading import once_loaded
from tests.core.embedding.tiny_model import write_tiny_model
from tests.server.model_hub import serving
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.embedding.fastembed_models import find_model
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service import background
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.cli.commands import app

SCOPE = Scope(session="s")
PUPPY = "We adopted a red puppy from the shelter."
SMALL = "BAAI/bge-small-en-v1.5"


def run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(autouse=True)
def own_models(tmp_path, monkeypatch):
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "models"))
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER", raising=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A store with three memories, which each test gets a copy of."""
    home = tmp_path_factory.mktemp("written") / "home"
    service = opened(home)
    for words in (PUPPY, "The blue train to the airport takes forty minutes.", "The red flat is due on Monday."):
        service.write(SCOPE, WriteRequest(content=words))
    service.close()
    return home


@pytest.fixture
def home(tmp_path, written):
    return shutil.copytree(written, tmp_path / "home")


@pytest.fixture
def without_minilm(monkeypatch):
    """The machine of somebody who did not install the extra."""
    monkeypatch.setattr("hybrid_memory.embedding.minilm.PACKAGE", "no_such_package")


@pytest.fixture
def tiny(tmp_path):
    """A folder with a model of two dimensions, which is loaded in a tenth of the time of the real one."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    return write_tiny_model(folder)


def opened(home):
    return MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())


def state(home):
    return json.loads(run("embedder", "status", "--home", home, "--json").output)


def config(home):
    return (home / "config.toml").read_text(encoding="utf-8")


def test_the_list_tells_dimensions_size_and_licence():
    models = {one["name"]: one for one in json.loads(run("embedder", "list", "--json").output)}
    assert models["static"]["here"] is True
    known = models[SMALL]
    assert (known["dimensions"], known["licence"], known["here"]) == (384, "mit", False)
    assert SMALL in run("embedder", "list").output


def test_no_name_of_the_list_is_broken_in_a_terminal_of_80_columns(tmp_path):
    names = [one["name"] for one in json.loads(run("embedder", "list", "--json").output)]
    lines = (
        CliRunner(env={"COLUMNS": "80"}).invoke(app, ["embedder", "list", "--home", str(tmp_path)]).output.splitlines()
    )
    assert set(names) <= {word for line in lines for word in line.split()[:1]}
    assert max(map(len, lines[:-1])) <= 80


def test_the_list_can_be_of_this_machine_alone(without_minilm):
    here = [one["name"] for one in json.loads(run("embedder", "list", "--here", "--json").output)]
    assert here == ["universal", "static", "multilingual"]


@pytest.mark.slow
def test_the_list_tells_whether_the_extra_is_installed(minilm, monkeypatch):
    def told():
        models = {one["name"]: one for one in json.loads(run("embedder", "list", "--json").output)}
        return models["minilm"]["here"], models["minilm"]["dimensions"], models["minilm"]["licence"]

    assert told() == (True, 384, "apache-2.0")
    monkeypatch.setattr("hybrid_memory.embedding.minilm.PACKAGE", "no_such_package")
    assert told()[0] is False


@pytest.mark.slow
def test_the_multilingual_table_is_used_without_anything_else(home):
    done = run("embedder", "use", "multilingual", "--home", home)
    assert "3 memories have vectors of multilingual-v1:" in done.output
    assert (state(home)["licence"], state(home).get("problem")) == ("mit", None)
    assert "puppy" in run("recall", "Welches Haustier haben wir?", "--home", home, "--limit", "1").output


def test_without_the_extra_the_error_says_what_to_install_and_nothing_changes(home, without_minilm):
    done = run("embedder", "use", "minilm", "--home", home)
    assert done.exit_code == 1
    assert 'uv tool install "hybrid-memory-mcp[minilm]"' in done.output
    assert "Traceback" not in done.output
    assert not (home / "config.toml").exists()


@pytest.mark.slow
def test_going_from_the_extra_back_to_the_table_needs_no_model(home, minilm, monkeypatch):
    run("embedder", "use", minilm, "--home", home)
    monkeypatch.setattr("hybrid_memory.embedding.minilm.PACKAGE", "no_such_package")
    assert "not installed" in state(home)["problem"]
    done = run("embedder", "use", "static", "--home", home)
    assert "3 memories have vectors of static" in done.output
    assert "former_embedder" not in config(home)


@pytest.mark.slow
def test_status_doctor_and_list_say_why_the_store_has_its_embedder(home):
    why = "the default of an earlier version, to be replaced by universal"
    assert state(home)["reason"] == why
    assert why in run("status", "--verbose", "--home", home).output
    assert why in run("doctor", "--home", home).output
    assert why in run("embedder", "list", "--home", home).output
    run("embedder", "use", "static", "--home", home)
    assert state(home)["reason"] == "a setting names the embedder"


def test_the_list_needs_no_store(tmp_path):
    assert "The store has" not in run("embedder", "list", "--home", tmp_path / "none").output


def test_the_status_tells_what_the_vectors_are_of(home):
    told = state(home)
    assert told["pinned"].startswith("static")
    assert (told["dimensions"], told["waiting_for_vectors"], told["changing_to"]) == (256, 0, None)
    assert "vectors of" in run("embedder", "status", "--home", home).output


@pytest.mark.daily
@pytest.mark.slow
def test_using_a_model_makes_all_vectors_anew_and_notes_it(home, minilm):
    (home / "config.toml").write_text("# mine\nsensory_buffer = 3  # small\n", encoding="utf-8")
    done = run("embedder", "use", minilm, "--home", home)
    assert done.exit_code == 0, done.output
    assert "3 memories have vectors of minilm:" in done.output
    now = state(home)
    assert (now["dimensions"], now["licence"], now.get("problem")) == (384, "apache-2.0", None)
    assert config(home).startswith("# mine\nsensory_buffer = 3  # small\n")
    assert 'embedder = "minilm"' in config(home)
    assert "puppy" in run("recall", "Which pet lives with us?", "--home", home, "--limit", "1").output


@pytest.mark.slow
def test_going_back_needs_no_note_of_the_former_model(home, tiny):
    run("embedder", "use", tiny, "--home", home)
    done = run("embedder", "use", "static", "--home", home)
    assert "3 memories have vectors of static" in done.output
    assert 'embedder = "static"' in config(home)
    assert state(home)["pinned"].startswith("static")


@pytest.mark.slow
def test_the_place_of_a_former_model_is_noted_only_while_it_is_needed(home, tmp_path, tiny):
    other = tmp_path / "other"
    other.symlink_to(tiny, target_is_directory=True)
    run("embedder", "use", tiny, "--home", home)
    run("embedder", "use", other, "--home", home, "--later")
    assert f'former_embedder = "fastembed:{tiny}"' in config(home)
    run("embedder", "use", "static", "--home", home, "--later")
    assert f'former_embedder = "fastembed:{tiny}"' in config(home)
    service = opened(home)
    once_loaded(service._encoder.active)
    assert not service.write(SCOPE, WriteRequest(content="A robin nests under the red roof.")).pending
    service.close()
    assert run("embedder", "use", "--home", home).exit_code == 0
    assert "former_embedder" not in config(home)


@pytest.mark.slow
def test_later_only_notes_the_wish_and_reembed_fulfils_it(home, tiny):
    assert "next server start" in run("embedder", "use", tiny, "--home", home, "--later").output
    assert state(home)["pinned"].startswith("static")
    assert "`embedder use` changes that" in state(home)["problem"]
    done = run("embedder", "use", "--home", home)
    assert done.exit_code == 0, done.output
    assert state(home)["pinned"].startswith("fastembed:local/")


def test_reembed_without_a_wish_says_that_all_is_done(home, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_EMBEDDER", "static")
    assert "3 memories have vectors of static" in run("embedder", "use", "--home", home).output


@pytest.mark.slow
def test_an_interrupted_reembed_says_how_to_go_on(home, tiny, monkeypatch):
    def interrupt(_progress):
        raise KeyboardInterrupt

    def interrupted(self, progress):
        assert progress
        return real(self, progress=interrupt)

    run("embedder", "use", tiny, "--home", home, "--later")
    monkeypatch.setattr(background, "BATCH_MEMORIES", 1)
    real = MemoryService.reembed
    with monkeypatch.context() as once:
        once.setattr(MemoryService, "reembed", interrupted)
        done = run("embedder", "use", "--home", home)
    assert done.exit_code == 130
    assert "Run `embedder use` to go on" in done.output
    now = state(home)
    assert now["pinned"].startswith("static")
    assert (now["changing_to"]["done"], now["changing_to"]["total"]) == (1, 3)
    assert run("embedder", "use", "--home", home).exit_code == 0
    assert state(home)["changing_to"] is None


@pytest.mark.slow
def test_reembed_gives_late_vectors_too(home, tmp_path, tiny, monkeypatch):
    model = tmp_path / "model"
    model.symlink_to(tiny, target_is_directory=True)
    run("embedder", "use", model, "--home", home)
    model.unlink()
    service = opened(home)
    assert service.write(SCOPE, WriteRequest(content="A robin nests under the red roof.")).pending
    service.close()
    assert "does not exist" in state(home)["problem"]
    assert run("embedder", "use", "--home", home).exit_code == 1
    model.symlink_to(tiny, target_is_directory=True)
    assert "1 of them had waited" in run("embedder", "use", "--home", home).output
    assert state(home)["waiting_for_vectors"] == 0


def test_a_new_store_gets_the_model_from_its_first_memory_on(tmp_path, tiny):
    done = run("embedder", "use", tiny, "--home", tmp_path / "fresh")
    assert "no memory has a vector yet" in done.output
    assert not (tmp_path / "fresh" / "memory.duckdb").exists()
    service = opened(tmp_path / "fresh")
    once_loaded(service._encoder.active)
    service.write(SCOPE, WriteRequest(content=PUPPY))
    assert service.store.info().dimensions == 2
    service.close()


@pytest.mark.slow
def test_a_store_in_use_gets_the_wish_noted(home, tiny):
    service = opened(home)
    done = run("embedder", "use", tiny, "--home", home)
    service.close()
    assert done.exit_code == 0
    assert "in use by process" in done.output
    assert str(tiny) in config(home)
    service = opened(home)
    once_loaded(service._encoder.pending_change)
    assert not service.read(SCOPE, ReadRequest(query="puppy")).words_alone
    while service.run_background_step():
        pass
    assert service.store.info().dimensions == 2
    service.close()


def test_a_variable_that_says_otherwise_is_told(home, tiny, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_EMBEDDER", "static")
    done = run("embedder", "use", tiny, "--home", home)
    assert "HYBRID_MEMORY_EMBEDDER" in done.output
    assert state(home)["pinned"].startswith("static")


@pytest.mark.parametrize("model", ["bge-smal", "no such thing at all", "./absent"])
def test_an_unknown_model_changes_nothing(home, model):
    done = run("embedder", "use", model, "--home", home)
    assert done.exit_code == 1
    assert "model:" in done.output
    assert "Traceback" not in done.output
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize(
    ("typed", "meant"), [("multilngual", "multilingual"), ("minlm", "minilm"), ("Static", "static")]
)
def test_a_typing_error_suggests_the_built_in_names_first(home, typed, meant):
    assert f"did you mean {meant}" in run("embedder", "use", typed, "--home", home).output


def test_a_folder_without_a_model_changes_nothing(home, tmp_path):
    done = run("embedder", "use", tmp_path, "--home", home)
    assert done.exit_code == 1
    assert "cannot be loaded" in done.output
    assert not (home / "config.toml").exists()


def test_a_config_that_is_not_toml_is_left_as_it_is(home, tiny):
    (home / "config.toml").write_text("embedder = = 3", encoding="utf-8")
    done = run("embedder", "use", tiny, "--home", home)
    assert done.exit_code == 1
    assert config(home) == "embedder = = 3"


def program(*arguments, endpoint):
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "COLUMNS": "200", "NO_PROXY": "127.0.0.1"}  # noqa: TID251 - handed on
    environment.pop("HF_HUB_OFFLINE", None)
    return subprocess.run(
        [sys.executable, "-m", "hybrid_memory_mcp", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_without_a_connection_using_a_model_fails_at_once_and_changes_nothing(home):
    done = program("embedder", "use", SMALL, "--home", home, endpoint="http://127.0.0.1:9")
    assert done.returncode == 1
    assert "could not be downloaded" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (home / "config.toml").exists()
    assert state(home)["pinned"].startswith("static")


@pytest.mark.stress
def test_a_model_is_downloaded_once_and_then_used_without_a_connection(tmp_path, home):
    files = tmp_path / "files"
    files.mkdir()
    write_tiny_model(files).joinpath("model.onnx").rename(files / "model_optimized.onnx")
    with serving(find_model(SMALL).source, files) as endpoint:
        done = program("embedder", "use", SMALL, "--home", home, endpoint=endpoint)
    assert done.returncode == 0, done.stderr
    assert f"{SMALL}: about 67 MB, licence mit" in done.stdout
    assert state(home)["pinned"].startswith(f"fastembed:{SMALL}@")
    here = {one["name"] for one in json.loads(run("embedder", "list", "--here", "--json").output)}
    assert here - {"minilm"} == {"universal", "static", "multilingual", SMALL}
    assert run("embedder", "use", "static", "--home", home).exit_code == 0
    assert program("embedder", "use", SMALL, "--home", home, endpoint="http://127.0.0.1:9").returncode == 0
