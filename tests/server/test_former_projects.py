"""What becomes of a project at hand whose marker is gone."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory_mcp.former_projects import FormerProject, former_of, keep_project, read_former
from hybrid_memory_mcp.projects import MARKER, Place, place_of
from hybrid_memory_mcp.runtime.client_options import Options

OPTIONS = Options(home=Path("/store"))
ACME = FormerProject(project="acme")


@pytest.fixture
def acme(tmp_path):
    folder = tmp_path.resolve() / "work" / "acme"
    folder.mkdir(parents=True)
    (folder / MARKER).write_text('namespace = "acme"')
    return folder


def again(folder, former, project=None):
    found = place_of(folder, replace(OPTIONS, project=project), home=folder.parent.parent)
    return keep_project(found, former)


def former(folder):
    return former_of(place_of(folder, OPTIONS, home=folder.parent.parent))


def test_a_marker_that_is_taken_away_leaves_the_project_and_says_so(acme):
    before = former(acme)
    (acme / MARKER).unlink()
    kept = again(acme, before)
    assert (kept.namespaces, kept.is_kept) == (("project:acme", "default"), True)
    assert kept.marker is None


def test_a_folder_that_is_gone_leaves_the_project(acme):
    before = former(acme)
    acme.rename(acme.parent.parent.parent / "elsewhere")
    assert again(acme, before).project == "acme"


def test_a_folder_with_another_name_is_known_and_its_marker_goes_on_to_count(acme):
    before = former(acme)
    moved = acme.rename(acme.parent / "renamed")
    found = again(acme, before)
    assert (found.project, found.is_kept, found.marker) == ("acme", False, moved / MARKER)
    (moved / MARKER).write_text('namespace = "acme"\noff = true')
    assert again(acme, before).off


def test_a_folder_above_with_another_name_is_known_too(acme):
    before = former(acme)
    acme.parent.rename(acme.parent.parent / "renamed")
    assert again(acme, before).marker.parent == acme.parent.parent / "renamed" / "acme"


def test_a_renamed_folder_whose_marker_names_another_project_is_not_believed(acme):
    before = former(acme)
    moved = acme.rename(acme.parent / "renamed")
    (moved / MARKER).write_text('namespace = "beta"')
    assert again(acme, before).project == "acme"


def test_another_marker_decides_anew(acme):
    before = former(acme)
    (acme / MARKER).write_text('namespace = "beta"')
    assert again(acme, before).project == "beta"


def test_a_repository_that_is_a_project_by_itself_stays_one_when_it_is_renamed(tmp_path):
    repository = tmp_path.resolve() / "work" / "api"
    (repository / ".git").mkdir(parents=True)
    found = place_of(repository, replace(OPTIONS, project="auto"), home=tmp_path.resolve())
    repository.rename(repository.parent / "renamed")
    assert again(repository, former_of(found), "auto").project == found.project


def test_an_option_decides_anew(acme):
    before = former(acme)
    (acme / MARKER).unlink()
    assert again(acme, before, "off").project is None
    assert again(acme, before, "beta").project == "beta"


def test_other_roots_decide_anew():
    assert keep_project(Place(), ACME, ("/else",)).project is None


def test_what_a_marker_forbade_stays_forbidden_when_it_is_gone(acme):
    (acme / MARKER).write_text('namespace = "acme"\nread_only = true')
    before = former(acme)
    (acme / MARKER).unlink()
    assert "connects again" in again(acme, before).refuses_writes


@given(
    st.none()
    | st.integers()
    | st.text()
    | st.dictionaries(
        st.sampled_from(["project", "folder", "inode", "roots", "off"]),
        st.none() | st.text() | st.lists(st.integers() | st.text()),
    )
)
def test_whatever_is_told_is_read_or_passed_over(told):
    found = read_former(told)
    assert found is None or read_former(found.told()) == found
