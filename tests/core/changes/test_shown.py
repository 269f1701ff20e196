"""What readers see of two statements of which the later likely changes the earlier."""

import pytest
from tests.changing import changes_everything, changes_only
from tests.core.speaking import remember

from hybrid_memory.model import Kind, MemoryType, Origin, Tier
from hybrid_memory.requests import ForgetRequest, ReadRequest
from hybrid_memory.trust import BESIDE_OTHERS

OLD, NEW = "The standup is on Mondays at nine", "The standup is on Thursdays at nine"


def told(service, scope, *, changed=True, old=Origin.USER, new=Origin.USER):
    first = remember(service, scope, OLD, memory_type=MemoryType.LONG_TERM, origin=old)
    if changed:
        service.change_model = changes_everything
    second = remember(service, scope, NEW, memory_type=MemoryType.LONG_TERM, origin=new)
    return first.id, second.id


def hits(service, scope, query="standup on Mondays at nine"):
    return service.read(scope, ReadRequest(query=query)).hits


def test_the_later_one_stands_first(service, scope):
    old, new = told(service, scope)
    assert [hit.memory.id for hit in hits(service, scope)] == [new, old]


def test_without_a_change_the_better_match_stands_first(service, scope):
    old, new = told(service, scope, changed=False)
    assert [hit.memory.id for hit in hits(service, scope)] == [old, new]


@pytest.mark.parametrize("changed", [True, False])
def test_the_later_one_comes_in_though_it_hardly_answers_the_question(service, scope, changed):
    for place in ("Graz", "Linz", "Wels"):
        remember(service, scope, f"The standup in {place} is on Mondays at nine", memory_type=MemoryType.LONG_TERM)
    old = remember(service, scope, OLD, memory_type=MemoryType.LONG_TERM).id
    if changed:
        service.change_model = changes_only(OLD)
    new = remember(service, scope, "Dana wants it two days later", memory_type=MemoryType.LONG_TERM).id
    shown = [hit.memory.id for hit in hits(service, scope)]
    assert [one for one in shown if one in (old, new)] == ([new, old] if changed else [old])


def test_what_changed_the_later_one_again_stands_before_both(service, scope):
    old = remember(service, scope, OLD, memory_type=MemoryType.LONG_TERM).id
    service.change_model = changes_only(OLD)
    moved = remember(service, scope, "Dana wants it two days later", memory_type=MemoryType.LONG_TERM).id
    service.change_model = changes_only("Dana wants it two days later")
    again = remember(service, scope, "Back to where it was, says Otto", memory_type=MemoryType.LONG_TERM).id
    for place in ("Graz", "Linz", "Wels"):
        remember(service, scope, f"The standup in {place} is on Mondays at nine", memory_type=MemoryType.LONG_TERM)
    shown = [hit.memory.id for hit in hits(service, scope)]
    assert [one for one in shown if one in (old, moved, again)] == [again, moved, old]


def test_a_prompt_recalls_the_later_one_with_the_earlier(service, scope):
    old = remember(service, scope, "Our dentist is Dr Hegarty in Graz", memory_type=MemoryType.LONG_TERM).id
    service.change_model = changes_everything
    new = remember(service, scope, "We had to go elsewhere, to Rosa Quill", memory_type=MemoryType.LONG_TERM).id
    found = service.read(scope, ReadRequest(query="Who is our dentist in Graz?", quiet=True)).hits
    assert [hit.memory.id for hit in found] == [new, old]


def test_a_memory_that_likely_changed_is_recalled_at_the_same_prompts_as_before(service, scope):
    old = remember(service, scope, "Our GP is Dr Hegarty", memory_type=MemoryType.LONG_TERM).id
    prompt = ReadRequest(query="Hegarty complains about the crash", quiet=True)
    assert [hit.memory.id for hit in service.read(scope, prompt).hits] == [old]
    service.change_model = changes_everything
    new = remember(service, scope, "We had to go elsewhere, to Rosa Quill", memory_type=MemoryType.LONG_TERM).id
    assert [hit.memory.id for hit in service.read(scope, prompt).hits] == [new, old]


def test_the_earlier_one_names_the_later_one(service, scope):
    old, new = told(service, scope)
    assert {hit.memory.id: hit.contradicted_by for hit in hits(service, scope)} == {old: new, new: None}


def test_both_are_current(service, scope):
    told(service, scope)
    assert all(hit.memory.superseded_by is None for hit in hits(service, scope))


def test_what_is_trusted_more_still_stands_in_front(service, scope):
    old, new = told(service, scope, new=Origin.AGENT)
    found = hits(service, scope)
    assert [hit.memory.id for hit in found] == [old, new]
    assert found[0].disputed_by == (new,)
    assert found[1].disputes == old


def test_what_a_tool_says_changes_nothing(service, scope):
    old, new = told(service, scope, new=Origin.TOOL)
    found = service.read(scope, ReadRequest(ids=(old, new))).hits
    assert [hit.memory.disputes for hit in found] == [None, None]


def test_a_brief_has_the_later_one_in_front_of_the_earlier(service, scope):
    old, new = told(service, scope)
    ids = [hit.memory.id for hit in service.read(scope, ReadRequest()).hits]
    assert ids.index(new) < ids.index(old)


def test_a_brief_has_the_later_one_in_the_place_of_the_earlier(service, scope):
    old = remember(service, scope, "My name is Robert", memory_type=MemoryType.LONG_TERM)
    service.change_model = changes_everything
    new = remember(service, scope, "Robert will be called Bob in the team", memory_type=MemoryType.LONG_TERM)
    sections = {hit.memory.id: hit.section for hit in service.read(scope, ReadRequest()).hits}
    assert sections == {new.id: "about the user", old.id: "recent"}


def test_what_is_forgotten_changes_nothing_any_more(service, scope):
    old, new = told(service, scope)
    service.forget(scope, ForgetRequest(ids=(new,)))
    (hit,) = hits(service, scope)
    assert (hit.memory.id, hit.contradicted_by) == (old, None)


def test_who_writes_is_told_of_what_is_surely_changed(service, scope):
    remember(service, scope, OLD)
    service.change_model = changes_everything
    assert [one.excerpt for one in remember(service, scope, NEW).related] == [OLD]


def test_who_writes_is_not_told_of_what_is_hardly_changed(service, scope):
    remember(service, scope, OLD)
    service.change_model = lambda: changes_everything(0.5)
    assert remember(service, scope, NEW).related == ()


def test_what_was_said_in_passing_is_kept_where_it_surely_changes_what_lasts(service, scope):
    def kinds(chance, text):
        service.change_model = lambda: changes_everything(chance)
        written = remember(service, scope, text, origin=Origin.USER, episode=True)
        return service.get(scope, written.id).kind, written.tier

    remember(service, scope, OLD, memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
    assert kinds(0.5, "the standup was long on Mondays") == (Kind.EPISODE, Tier.SENSORY)
    assert kinds(0.9, NEW) == (Kind.OBSERVATION, Tier.LONG_TERM)


def test_what_was_said_in_passing_stays_so_where_it_hardly_changes_what_lasts(service, scope):
    old = remember(service, scope, OLD, memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
    service.change_model = lambda: changes_everything(0.5)
    new = remember(service, scope, NEW, origin=Origin.USER, episode=True)
    assert (new.tier, [hit.memory.id for hit in hits(service, scope)]) == (Tier.SENSORY, [new.id, old.id])
    assert [hit.memory.id for hit in service.read(scope, ReadRequest()).hits] == [old.id]


def test_what_was_said_in_passing_is_changed_where_nothing_that_was_kept_is(service, scope):
    old = remember(service, scope, OLD, origin=Origin.USER, episode=True)
    service.change_model = changes_everything
    new = remember(service, scope, NEW, memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
    assert {hit.memory.id: hit.contradicted_by for hit in hits(service, scope)} == {old.id: new.id, new.id: None}


def test_what_was_kept_is_changed_rather_than_what_was_said_in_passing(service, scope):
    kept = remember(service, scope, OLD, memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
    passing = remember(service, scope, f"{OLD} again", origin=Origin.USER, episode=True)
    service.change_model = changes_everything
    new = remember(service, scope, NEW, memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
    changed = {hit.memory.id: hit.contradicted_by for hit in hits(service, scope)}
    assert (changed[kept.id], changed[passing.id]) == (new.id, None)


@pytest.mark.parametrize("of", [{"origin": Origin.TOOL}, {"origin": Origin.USER, "source": f"hook:x{BESIDE_OTHERS}"}])
def test_what_others_said_in_passing_is_not_changed(service, scope, of):
    remember(service, scope, OLD, episode=True, **of)
    service.change_model = changes_everything
    remember(service, scope, NEW, memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
    assert all(hit.contradicted_by is None for hit in hits(service, scope))


def test_a_statement_of_somebody_by_name_changes_nothing(service, scope):
    remember(service, scope, OLD)
    service.change_model = changes_everything
    written = remember(service, scope, NEW, speaker="Ada")
    assert written.related == ()
