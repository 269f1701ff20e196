"""Every promise of the README has tests that hold it, and every test named here exists."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
README = (TESTS.parent / "README.md").read_text(encoding="utf-8")

HELD_BY = {
    "durable": [
        "core/store/test_duck_kill.py::test_a_killed_writer_loses_nothing_that_it_acknowledged",
        "stress/test_fail_points.py::test_a_kill_at_a_named_place_loses_nothing",
        "core/store/test_duck_full.py::test_a_full_disk_loses_nothing_that_was_acknowledged",
        "server/test_process.py::test_what_one_process_wrote_the_next_one_reads",
        "server/hub/test_hub_processes.py::test_a_hub_killed_in_the_middle_of_writes_costs_no_write_and_doubles_none",
        "stress/test_killed_hub.py::test_clients_of_a_hub_that_is_killed_again_and_again_see_no_error_and_lose_nothing",
        "stress/test_cancelled.py::test_cancelled_calls_are_done_whole_or_not_at_all_and_leave_nothing_behind",
    ],
    "together": [
        "core/store/test_duck_engine.py::test_every_change_in_turn_may_fail_and_nothing_is_left_half_done",
        "core/store/test_requests.py::test_readers_beside_a_writer_see_whole_writes_only",
    ],
    "opens or explains": [
        "core/store/test_damage.py::test_a_damaged_log_costs_nothing_that_the_journal_has",
        "core/store/test_damage.py::test_without_a_journal_the_log_is_kept_up_to_the_damage_and_the_loss_is_told",
        "core/store/test_damage.py::test_the_files_as_they_were_found_are_in_quarantine",
        "core/store/test_duck_opening.py::test_a_damaged_file_is_refused_with_what_to_do_and_left_alone",
        "core/store/test_journal.py::test_what_the_journal_knows_and_the_database_will_lack_is_always_told",
        "core/store/test_golden.py::test_a_store_of_an_old_schema_opens_whole_and_is_sound",
        "core/test_failing_store.py::test_a_call_of_the_store_that_fails_leaves_a_verb_undone_and_repeatable",
        "stress/test_damage.py::test_turned_bits",
    ],
    "index is a cache": [
        "core/retrieval/test_index.py::test_following_the_log_leads_to_the_state_of_a_fresh_snapshot",
        "model/test_machine.py::TestLives",
        "stress/test_nearest.py::test_the_nearest_are_found_and_the_dead_are_not_after_changes_a_restart_and_a_lost_index",
    ],
    "serial": [
        "core/store/test_requests.py::test_threads_that_repeat_each_others_requests_write_each_once",
        "core/store/test_requests.py::test_a_repeated_request_is_answered_and_not_done_again",
        "server/hub/test_exactly_once.py::test_a_write_that_comes_again_has_the_same_answer_and_is_done_once",
        "stress/test_concurrent.py::test_calls_of_many_clients_at_once_have_an_order_that_explains_all_that_they_saw",
        "server/hub/test_client_requests.py::test_the_key_of_a_request_is_its_relay_and_line_also_when_it_comes_again",
    ],
    "one hub": [
        "server/hub/test_hub_processes.py::test_a_hub_killed_in_the_middle_of_writes_costs_no_write_and_doubles_none",
        "stress/test_killed_hub.py::test_clients_of_a_hub_that_is_killed_again_and_again_see_no_error_and_lose_nothing",
        "server/hub/test_leaving.py::test_a_second_hub_finds_the_lock_taken",
        "server/hub/test_leaving.py::test_what_a_killed_hub_left_behind_is_no_hindrance",
    ],
    "many hubs": [
        "postgres/test_killed_server.py::test_what_was_acknowledged_is_there_once",
        "postgres/test_lost_connections.py::test_a_write_whose_connection_breaks_at_any_byte_is_done_once_and_answered",
        "postgres/test_lost_commits.py::test_a_write_is_answered_and_done_once_when_the_server_is_back",
        "postgres/test_several_hubs.py::test_hubs_that_are_killed_a_hundred_times_lose_nothing",
        "postgres/test_several_hubs.py::test_a_server_that_crashes_again_and_again_costs_the_clients_of_hubs_nothing",
        "postgres/test_several_hubs.py::test_a_network_that_drops_delays_and_halves_costs_the_clients_of_hubs_nothing",
        "postgres/test_hubs_follow.py::test_each_finds_what_the_others_wrote",
        "postgres/test_hub_without_its_filter.py::test_no_read_tells_anything_of_another",
        "postgres/test_hub_without_its_filter.py::test_no_write_changes_anything_of_another",
        "core/store/test_requests.py::test_threads_that_repeat_each_others_requests_write_each_once",
    ],
    "trusted": [
        "core/test_trust.py::test_an_untrusted_memory_disputes_what_it_was_to_supersede",
        "core/test_trust.py::test_a_disputed_memory_is_found_in_front_of_what_disputes_it",
        "core/test_trust.py::test_forgetting_a_lie_leaves_the_fact",
        "core/admin/test_purge.py::test_purging_a_lie_leaves_the_fact_and_lets_it_be_current_again",
        "core/test_trust.py::test_a_tool_cannot_pin",
        "model/test_machine.py::TestLives",
    ],
    "bounded": [
        "server/mcp_api/test_tool_results.py::test_no_part_of_a_page_is_ever_over_the_budget",
        "core/test_validation.py::test_a_wrong_argument_is_refused_by_its_name_without_its_value",
        "server/runtime/test_provider.py::test_work_whose_caller_left_keeps_its_place_until_it_is_done",
    ],
    "every client": [
        "clients/test_scenario.py::test_a_client_plays_the_scenario",
        "clients/test_conformance.py::test_every_scenario_passes_where_the_server_has_what_it_wants",
        "clients/test_conformance.py::test_the_server_as_it_is_fails_only_what_is_listed_with_its_reason",
        "clients/test_inspector.py::test_the_inspector_has_nothing_to_say_about_the_tools_and_calls_them",
    ],
    "quiet": [
        "server/test_process.py::test_every_line_that_needs_an_answer_gets_one_and_nothing_else_is_printed",
        "server/test_process.py::test_a_server_at_work_opens_no_network_connection",
        "stress/test_lines.py::test_nonsense_is_answered_or_ignored_and_never_ends_the_server",
    ],
    "seen": [
        "browser/test_hostile_texts.py::test_no_view_lets_a_text_do_anything",
        "browser/test_hostile_texts.py::test_every_hostile_text_is_shown_as_text_on_its_own_page",
        "browser/test_foreign_pages.py::test_a_foreign_page_reads_nothing_and_changes_nothing",
        "browser/test_foreign_pages.py::test_a_name_that_was_made_to_lead_here_is_refused",
        "server/page/test_door.py::test_a_foreign_origin_is_refused_whatever_it_asks",
        "server/page/test_door.py::test_a_token_is_good_once",
    ],
    "unasked": [
        "server/hooks/test_no_token.py::test_nothing_was_asked_of_the_client",
        "server/hooks/test_no_token.py::test_no_process_of_the_session_looked_for_a_network",
        "server/hooks/test_no_token.py::test_no_program_was_started_but_the_hub",
        "server/hooks/test_two_sessions.py::test_what_was_said_in_one_conversation_is_in_the_context_of_the_next",
    ],
    "apart": [
        "server/test_project_table.py::test_the_page_shows_who_sees_what",
        "core/test_person_and_project.py::test_two_projects_never_see_each_other_and_the_person_sees_neither",
        "core/test_project_names.py::test_a_projects_namespace_is_never_that_of_a_person",
    ],
    "attributed": [
        "core/test_changes_of_mind.py::test_an_insight_is_trusted_no_further_than_its_evidence",
        "core/test_changes_of_mind.py::test_a_correction_by_the_agent_is_trusted_no_further_than_the_agent",
    ],
    "data, not orders": [
        "prompts/test_render.py::test_stored_text_never_stands_outside_its_quotation",
        "prompts/test_render.py::test_stored_text_refuses_to_be_printed",
    ],
    "reversible": [
        "core/test_changes_of_mind.py::test_what_is_forgotten_is_not_found_and_can_be_restored",
        "core/test_changes_of_mind.py::test_new_words_make_a_new_version_and_keep_the_attributes",
        "core/test_service.py::test_a_group_that_is_consolidated_keeps_its_members_and_their_lineage",
    ],
    "erasable": [
        "core/admin/test_purge.py::test_no_byte_of_what_was_purged_is_left_in_any_file",
        "core/admin/test_purge.py::test_without_a_rewrite_the_bytes_would_still_be_there",
        "stress/test_transfer.py::test_two_hundred_canaries_are_gone_from_every_file",
    ],
    "portable": [
        "core/admin/test_export_import.py::test_what_was_imported_is_exported_byte_by_byte_the_same",
        "core/admin/test_backup.py::test_a_restore_that_is_killed_leaves_the_old_store_or_the_new_one",
        "postgres/test_moving.py::test_there_and_back_the_export_is_the_same_byte_by_byte",
        "core/admin/test_migrate.py::test_a_move_that_is_killed_is_not_done_and_is_gone_on_from",
        "stress/test_transfer.py::test_five_hundred_random_stores_are_the_same_after_export_and_import",
    ],
}


def promised():
    table = README.split("## Promises", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| ([a-z, ]+) \|", table, re.MULTILINE)[1:]


def test_the_promises_of_the_readme_are_those_that_are_held():
    assert promised() == list(HELD_BY)


@pytest.mark.slow
@pytest.mark.parametrize("test", [test for tests in HELD_BY.values() for test in tests])
def test_a_test_that_holds_a_promise_exists(test):
    file, name = test.split("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    names |= {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if hasattr(target, "id")
    }
    assert name in names
