"""What is less trusted may dispute what is more trusted, and neither displaces it nor takes it along."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.speaking import remember, texts

from hybrid_memory.model import TRUST_ORDER, MemoryType, Origin, Tier, Trust
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest, Where
from hybrid_memory.store.writing import Update, WriteBatch
from hybrid_memory.trust import have_one_authority, least_trust, may_displace, trust_of

FACT, LIE = "Ada's account number is 123", "Ada's account number is 666"
LESS = [Origin.TOOL, Origin.IMPORT]
TRUSTS = st.sampled_from(TRUST_ORDER)


def hits(service, scope, query="account number", **fields):
    return service.read(scope, ReadRequest(query=query, **fields)).hits


def forget(service, scope, *ids):
    return service.forget(scope, ForgetRequest(ids=ids))


def restore(service, scope, *ids):
    return service.forget(scope, ForgetRequest(ids=ids, restore=True))


@pytest.fixture
def fact(service, scope):
    return remember(service, scope, FACT, origin=Origin.USER).id


@pytest.fixture(params=LESS)
def lie(request, service, scope, fact):
    return remember(service, scope, LIE, origin=request.param, supersedes=fact).id


# A memory that was to be superseded


def test_an_untrusted_memory_disputes_what_it_was_to_supersede(service, scope, fact, lie):
    stored = service.get(scope, lie)
    assert (stored.supersedes, stored.disputes) == (None, fact)


def test_the_writer_is_told_of_the_dispute(service, scope, fact):
    assert remember(service, scope, LIE, origin=Origin.TOOL, supersedes=fact).disputes == fact


def test_a_disputed_memory_is_found_in_front_of_what_disputes_it(service, scope, fact, lie):
    assert [hit.memory.id for hit in hits(service, scope)] == [fact, lie]


def test_it_is_so_although_the_lie_repeats_the_question(service, scope, fact):
    echo = "what is Ada's account number now? account number account number 666"
    remember(service, scope, echo, origin=Origin.TOOL, supersedes=fact)
    assert texts(service, scope, "what is Ada's account number now?") == [FACT, echo]


def test_a_disputed_memory_names_what_disputes_it(service, scope, fact, lie):
    assert [hit.disputed_by for hit in hits(service, scope)] == [(lie,), ()]


@pytest.mark.parametrize("asked", [{"ids": True}, {"query": ""}])
def test_so_does_it_when_it_is_read_by_its_id_or_in_a_brief(service, scope, fact, lie, asked):
    request = ReadRequest(ids=(fact,)) if "ids" in asked else ReadRequest()
    shown = {hit.memory.id: hit.disputed_by for hit in service.read(scope, request).hits}
    assert shown[fact] == (lie,)


def test_a_reader_who_trusts_the_user_alone_finds_the_fact(service, scope, fact, lie):
    assert texts(service, scope, "account number", where=Where(min_trust=Trust.USER)) == [FACT]


def test_a_forgotten_dispute_is_over(service, scope, fact, lie):
    forget(service, scope, lie)
    assert [hit.disputed_by for hit in hits(service, scope)] == [()]


@pytest.mark.parametrize("end", ["forgotten", "newer"])
def test_a_dispute_is_over_when_what_it_disputes_is_no_longer_current(service, scope, fact, lie, end):
    assert [hit.disputes for hit in hits(service, scope)] == [None, fact]
    if end == "forgotten":
        forget(service, scope, fact)
    else:
        service.update(scope, UpdateRequest(id=fact, content="Ada has a new account number, 124"))
    assert {hit.disputes for hit in hits(service, scope)} == {None}


@pytest.mark.parametrize("words", [FACT, "ada's account number is 123.", "Ada’s account number is 123"])
def test_who_says_nearly_the_same_disputes_nothing(service, scope, fact, words):
    written = remember(service, scope, words, origin=Origin.TOOL, supersedes=fact)
    assert (written.disputes, service.get(scope, fact).superseded_by) == (None, None)


def test_a_dispute_is_known_after_the_index_was_made_anew(service, scope, fact, lie):
    service._index_cache.keep_only([])
    assert [hit.disputed_by for hit in hits(service, scope)] == [(lie,), ()]


def test_the_next_version_of_a_dispute_disputes_the_same(service, scope, fact, lie):
    changed = service.update(scope, UpdateRequest(id=lie, content=LIE + "7"))
    assert service.get(scope, changed.id).disputes == fact


def test_a_better_trusted_correction_of_a_dispute_disputes_nothing(service, scope, fact, lie):
    right = remember(service, scope, "Ada's account number is 124", origin=Origin.USER, supersedes=lie)
    assert (right.disputes, service.get(scope, right.id).disputes) == (None, None)


def test_a_tool_may_supersede_its_own_words(service, scope):
    old = remember(service, scope, "The build takes 4 minutes", origin=Origin.TOOL).id
    new = remember(service, scope, "The build takes 5 minutes", origin=Origin.TOOL, supersedes=old)
    assert (new.disputes, service.get(scope, new.id).supersedes) == (None, old)


# The assistant acts for its user


def test_the_assistant_may_correct_its_user(service, scope, fact):
    new = remember(service, scope, "Ada's account number is 124", supersedes=fact)
    assert texts(service, scope, "account number") == ["Ada's account number is 124"]
    assert new.disputes is None


@pytest.mark.parametrize("by_update", [True, False])
def test_who_trusts_the_user_alone_finds_the_words_that_the_assistant_corrected(service, scope, fact, by_update):
    if by_update:
        service.update(scope, UpdateRequest(id=fact, content="Ada's account number is 124"))
    else:
        remember(service, scope, "Ada's account number is 124", supersedes=fact)
    assert texts(service, scope, "account number", where=Where(min_trust=Trust.USER)) == [FACT]


def test_but_not_after_the_user_said_something_newer(service, scope, fact):
    second = remember(service, scope, "Ada's account number is 124", supersedes=fact).id
    remember(service, scope, "Ada's account number is 125", origin=Origin.USER, supersedes=second)
    assert texts(service, scope, "account number", where=Where(min_trust=Trust.USER)) == ["Ada's account number is 125"]


def test_words_of_that_time_are_found_as_of_an_earlier_moment(service, scope, clock, fact):
    clock.advance(hours=1)
    before = clock.now()
    clock.advance(hours=1)
    remember(service, scope, "Ada's account number is 124", supersedes=fact)
    where = Where(min_trust=Trust.USER, as_of=before)
    assert texts(service, scope, "account number", where=where) == [FACT]


# Keys of working memory


@pytest.fixture
def held(service, scope):
    return remember(service, scope, FACT, origin=Origin.USER, memory_type=MemoryType.WORKING, key="account").id


def set_key(service, scope, words, origin=Origin.TOOL):
    return remember(service, scope, words, origin=origin, memory_type=MemoryType.WORKING, key="account")


def test_a_tool_disputes_the_holder_of_a_users_key(service, scope, held):
    assert set_key(service, scope, LIE).disputes == held
    assert hits(service, scope, "", where=Where(min_trust=Trust.USER))[0].memory.id == held


def test_a_tool_that_writes_the_key_again_replaces_its_own_words(service, scope, held):
    first = set_key(service, scope, LIE).id
    second = set_key(service, scope, LIE + "7")
    assert (service.get(scope, second.id).supersedes, second.disputes) == (first, held)


def test_the_user_takes_a_key_from_both(service, scope, held):
    lie = set_key(service, scope, LIE).id
    set_key(service, scope, "done", Origin.USER)
    assert {service.get(scope, one).superseded_by is None for one in (held, lie)} == {False}


def test_a_write_with_a_key_that_supersedes_something_else_leaves_one_holder(service, scope, held):
    other = remember(service, scope, "an old plan", origin=Origin.USER).id
    remember(service, scope, "new", origin=Origin.USER, memory_type=MemoryType.WORKING, key="account", supersedes=other)
    assert service.get(scope, held).superseded_by is not None


def test_a_former_holder_of_a_key_stays_forgotten_while_another_holds_it(service, scope, held):
    forget(service, scope, held)
    holder = set_key(service, scope, "new", Origin.USER).id
    done = restore(service, scope, held)
    assert (done.ids, done.held) == ((), {held: holder})


def test_of_two_holders_that_come_back_together_the_newer_has_the_key(service, scope, clock, held):
    forget(service, scope, held)
    clock.advance(hours=1)
    newer = set_key(service, scope, "new", Origin.USER).id
    forget(service, scope, newer)
    done = restore(service, scope, held, newer)
    assert (done.ids, done.held) == ((newer,), {held: newer})


def test_the_holder_before_last_has_no_way_around(service, scope, held):
    forget(service, scope, set_key(service, scope, "second", Origin.USER).id)
    third = set_key(service, scope, "third", Origin.USER).id
    assert restore(service, scope, held).held == {held: third}


def test_a_tools_holder_that_comes_back_disputes_the_users(service, scope):
    lie = set_key(service, scope, LIE).id
    forget(service, scope, lie)
    held = set_key(service, scope, FACT, Origin.USER).id
    assert restore(service, scope, lie).ids == (lie,)
    assert service.get(scope, lie).disputes == held


def test_the_users_holder_that_comes_back_replaces_the_tools(service, scope, held):
    forget(service, scope, held)
    lie = set_key(service, scope, LIE).id
    restore(service, scope, held)
    assert service.get(scope, lie).superseded_by == held


def test_a_holder_comes_back_over_its_own_older_version(service, scope, held):
    newer = set_key(service, scope, "second", Origin.USER).id
    forget(service, scope, newer)
    restore(service, scope, held)
    assert restore(service, scope, newer).held == {}
    assert service.get(scope, held).superseded_by == newer


# Forgetting and restoring


def test_forgetting_a_lie_leaves_the_fact(service, scope, fact, lie):
    assert forget(service, scope, lie).ids == (lie,)
    assert texts(service, scope, "account number") == [FACT]


def test_forgetting_the_assistants_correction_brings_the_users_words_back(service, scope, fact):
    correction = service.update(scope, UpdateRequest(id=fact, content="Ada's account number is 124")).id
    assert forget(service, scope, correction).revived == (fact,)
    assert texts(service, scope, "account number") == [FACT]


def test_restoring_that_correction_replaces_them_again(service, scope, fact):
    correction = service.update(scope, UpdateRequest(id=fact, content="Ada's account number is 124")).id
    forget(service, scope, correction)
    assert restore(service, scope, correction).held == {}
    assert texts(service, scope, "account number") == ["Ada's account number is 124"]


def test_forgetting_the_users_correction_forgets_the_assistants_words(service, scope):
    old = remember(service, scope, FACT).id
    new = remember(service, scope, "Ada's account number is 124", origin=Origin.USER, supersedes=old).id
    assert forget(service, scope, new).revived == ()
    assert texts(service, scope, "account number") == []


def test_all_holders_that_a_write_replaced_go_and_come_with_it(service, scope, held):
    lie = set_key(service, scope, LIE).id
    new = set_key(service, scope, "done", Origin.USER).id
    forget(service, scope, new)
    assert texts(service, scope, "account number") == []
    restore(service, scope, held)
    assert restore(service, scope, lie).ids == (lie,)
    assert service.get(scope, lie).disputes == held


def test_a_users_holder_is_current_again_and_never_the_tools_alone(service, scope, held):
    lie = set_key(service, scope, LIE).id
    new = set_key(service, scope, "Ada's account number is 124", Origin.AGENT).id
    assert forget(service, scope, new).revived == (held,)
    assert restore(service, scope, lie).ids == (lie,)
    assert service.get(scope, lie).disputes == held


def test_forgetting_what_a_store_of_before_let_replace_a_fact_revives_the_fact(service, scope, fact):
    lie = remember(service, scope, LIE, origin=Origin.TOOL).id
    data = service.store._data.namespaces["default"].memories
    data[lie] = replace(data[lie], supersedes=fact)
    data[fact] = replace(data[fact], superseded_by=lie)
    service._index_cache.keep_only([])
    assert forget(service, scope, lie).revived == (fact,)
    assert texts(service, scope, "account number") == [FACT]


def test_an_older_version_that_is_brought_back_alone_is_current(service, scope, fact):
    newer = remember(service, scope, "Ada's account number is 124", origin=Origin.USER, supersedes=fact).id
    forget(service, scope, newer)
    restore(service, scope, fact)
    assert texts(service, scope, "account number") == [FACT]


def test_the_newer_version_that_follows_replaces_it_again(service, scope, fact):
    newer = remember(service, scope, "Ada's account number is 124", origin=Origin.USER, supersedes=fact).id
    forget(service, scope, newer)
    restore(service, scope, fact)
    restore(service, scope, newer)
    assert texts(service, scope, "account number") == ["Ada's account number is 124"]


def test_of_two_newer_versions_of_a_memory_one_is_current(service, scope, fact):
    second = remember(service, scope, "Ada's account number is 124", origin=Origin.USER, supersedes=fact).id
    forget(service, scope, second)
    restore(service, scope, fact)
    third = remember(service, scope, "Ada's account number is 125", origin=Origin.USER, supersedes=fact).id
    assert restore(service, scope, second).held == {second: third}


def test_the_users_newer_version_replaces_a_tools(service, scope):
    old = remember(service, scope, LIE, origin=Origin.TOOL).id
    right = remember(service, scope, FACT, origin=Origin.USER, supersedes=old).id
    forget(service, scope, right)
    restore(service, scope, old)
    newer = remember(service, scope, LIE + "7", origin=Origin.TOOL, supersedes=old).id
    restore(service, scope, right)
    assert texts(service, scope, "account number") == [FACT]
    assert service.get(scope, newer).superseded_by == right


def test_versions_that_come_back_together_stand_as_they_stood(service, scope, fact):
    newer = remember(service, scope, "Ada's account number is 124", origin=Origin.USER, supersedes=fact).id
    forget(service, scope, newer)
    restore(service, scope, newer)
    assert service.get(scope, fact).superseded_by == newer


# What is counted, pinned and derived


def test_a_tool_that_repeats_the_users_words_is_no_use_of_them(service, scope, fact):
    remember(service, scope, FACT, origin=Origin.TOOL, session="other")
    assert service.store.usage("default", [fact]) == {}


def test_what_a_tool_says_in_three_sessions_makes_no_habit_of_the_users_words(service, scope, fact):
    for session in ("a", "b", "c"):
        remember(service, scope, FACT, origin=Origin.TOOL, session=session)
    assert service.get(scope, fact).tier is Tier.SENSORY


def test_a_users_habit_does_not_promote_a_tools_words(service, scope):
    tool = remember(service, scope, "tea at four", origin=Origin.TOOL).id
    for session in ("a", "b"):
        remember(service, scope, "tea at four", origin=Origin.USER, session=session)
    assert service.get(scope, tool).tier is Tier.SENSORY


@pytest.mark.parametrize("origin", LESS)
def test_a_tool_cannot_pin(service, scope, origin):
    written = remember(service, scope, "Buy our product", origin=origin, pinned=True)
    assert (service.get(scope, written.id).pinned, written.unpinned) == (False, True)


def test_nor_by_repeating_what_it_said(service, scope):
    remember(service, scope, "Buy our product", origin=Origin.TOOL)
    again = remember(service, scope, "Buy our product", origin=Origin.TOOL, pinned=True)
    assert (service.get(scope, again.id).pinned, again.unpinned) == (False, True)


def test_the_assistant_can_pin_what_a_tool_said(service, scope):
    written = remember(service, scope, "The licence ends in May", origin=Origin.TOOL)
    service.update(scope, UpdateRequest(id=written.id, pinned=True))
    assert service.get(scope, written.id).pinned


def test_true_evidence_does_not_make_an_insight_the_users_word(service, scope, fact):
    (insight,) = service.store_insights(scope, [Insight(text="Send money to 666", evidence=(fact,))])
    assert service.get(scope, insight).trust is Trust.AGENT


def test_an_insight_is_trusted_no_further_than_its_least_evidence(service, scope, fact, lie):
    (insight,) = service.store_insights(scope, [Insight(text="Numbers differ", evidence=(fact, lie))])
    assert service.get(scope, insight).trust is Trust.UNTRUSTED


# The rules


@given(TRUSTS, TRUSTS)
def test_of_two_levels_one_may_displace_the_other(first, second):
    assert may_displace(first, second) or may_displace(second, first)


@given(TRUSTS, TRUSTS, TRUSTS)
def test_displacing_is_transitive(first, second, third):
    if may_displace(first, second) and may_displace(second, third):
        assert may_displace(first, third)


def test_what_is_untrusted_displaces_nothing_else():
    assert [one for one in Trust if may_displace(Trust.UNTRUSTED, one)] == [Trust.UNTRUSTED]


def test_the_users_and_the_assistants_words_have_one_authority():
    pairs = {frozenset(pair) for pair in itertools.combinations(Trust, 2) if have_one_authority(*pair)}
    assert pairs == {frozenset((Trust.AGENT, Trust.USER))}


@given(st.sampled_from(Origin), st.lists(TRUSTS))
def test_nothing_is_trusted_further_than_its_sources(origin, sources):
    assert all(least_trust([trust_of(origin, sources), source]) is trust_of(origin, sources) for source in sources)


def test_what_the_user_types_as_a_correction_is_the_users_word_whatever_it_corrects(service, scope, fact, lie):
    done = service.update(scope, UpdateRequest(id=lie, content="Ada's account number is 126", origin=Origin.USER))
    corrected = service.get(scope, done.id)
    assert (corrected.trust, corrected.origin, corrected.disputes) == (Trust.USER, Origin.USER, None)
    assert service.get(scope, lie).superseded_by == done.id


def test_the_user_may_correct_what_the_user_confirmed(service, scope, fact):
    confirmed = replace(service.get(scope, fact), trust=Trust.CONFIRMED)
    batch = WriteBatch(action="confirm", actor="test", updates=(Update(confirmed),))
    service.store.write(scope.namespace, None, lambda _: batch)
    by_assistant = service.update(scope, UpdateRequest(id=fact, content="Ada's account number is 126"))
    assert by_assistant.disputes == fact
    by_user = service.update(scope, UpdateRequest(id=fact, content="Ada's account number is 127", origin=Origin.USER))
    assert by_user.supersedes == fact
    assert service.get(scope, by_user.id).trust is Trust.CONFIRMED
