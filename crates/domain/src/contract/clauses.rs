//! The list of all clauses, from which each backend makes its tests.

/// Makes every clause of the database ports a test of one backend.
///
/// `$name` becomes a module of tests; `$open` is an expression that is awaited for each test and
/// gives the [`Stores`](crate::contract::Stores) of an empty database and something that is dropped
/// after the test, such as its folder. The calling crate needs tokio with macros and its
/// multi-thread runtime.
///
/// ```text
/// domain::store_contract!(sqlite, open_fresh_database());
/// ```
#[macro_export]
macro_rules! store_contract {
    ($name:ident, $open:expr) => {
        mod $name {
            #[allow(unused_imports, reason = "the expression may name everything by whole paths")]
            use super::*;

            async fn open() -> ($crate::contract::Stores, impl Sized) {
                ($open).await
            }

            $crate::store_clauses! {
                resource_store {
                    a_new_resource_is_found_as_it_was_stored,
                    a_newer_resource_replaces_the_stored_one_whole,
                    an_older_resource_is_refused_and_changes_nothing,
                    a_resource_with_an_equal_timestamp_is_refused,
                    one_microsecond_makes_a_resource_newer,
                    timestamps_of_all_years_are_kept,
                    an_unnamed_domain_is_private_at_first,
                    an_unnamed_domain_keeps_the_stored_one,
                    a_named_domain_replaces_the_stored_one,
                    the_replaced_blob_is_discarded_at_the_time_of_the_call,
                    organizations_keep_their_own_resource_under_one_guid,
                    of_concurrent_updates_the_newest_wins,
                    of_concurrent_equal_timestamps_exactly_one_is_stored,
                    concurrent_writes_of_different_resources_all_land,
                    texts_are_kept_byte_for_byte,
                    sizes_of_all_magnitudes_are_kept,
                    a_store_that_was_begun_ends_without_its_caller,
                }
                resource_delete {
                    a_deleted_resource_is_gone,
                    the_deleted_blob_is_discarded_at_the_time_of_the_call,
                    what_is_not_there_cannot_be_deleted,
                    another_organizations_resource_is_not_deleted,
                    a_resource_that_a_queue_uses_is_not_deleted,
                    a_resource_that_a_job_uses_is_not_deleted,
                    a_resource_of_another_state_is_not_deleted,
                    a_resource_of_the_state_that_is_meant_is_deleted,
                    a_concurrent_update_is_not_deleted_for_the_state_before,
                    uses_of_another_organization_do_not_hold_a_resource,
                    a_use_that_was_replaced_no_longer_holds_a_resource,
                    a_resource_in_use_can_be_updated,
                    a_deleted_resource_can_be_added_again_with_an_older_timestamp,
                    of_concurrent_deletions_exactly_one_deletes,
                    concurrent_updates_and_deletions_lose_no_blob,
                    a_deletion_that_was_begun_ends_without_its_caller,
                }
                resource_find {
                    only_the_own_resource_is_found,
                    concurrent_lookups_each_find_their_own_resource,
                    a_public_resource_of_a_publisher_is_published,
                    a_public_resource_of_another_organization_is_not_published,
                    a_private_resource_of_a_publisher_is_not_published,
                    who_is_no_publisher_any_more_publishes_nothing,
                    of_several_published_resources_the_newest_is_found,
                    of_equally_new_published_resources_the_lowest_organizations_is_found,
                    a_resource_of_any_organization_exists_anywhere,
                    pmm_values_are_compared_without_case_over_unicode,
                    each_pmm_value_counts,
                    a_pmm_lookup_stays_within_the_organization,
                    of_several_pmm_matches_the_newest_is_found,
                    of_equally_new_pmm_matches_the_lowest_guid_is_found,
                    an_updated_resource_is_found_under_its_new_pmm_values_only,
                    very_long_pmm_values_are_told_apart_by_their_last_character,
                }
                resource_list {
                    a_list_item_carries_guid_type_checksum_and_name,
                    a_list_holds_the_own_resources_of_one_domain,
                    an_empty_list_is_no_error,
                    types_are_matched_without_case,
                    a_list_of_very_many_types_is_answered,
                    a_list_is_sorted_by_folded_name_then_guid,
                    resources_of_one_name_are_sorted_by_guid,
                    names_that_agree_in_200_characters_are_sorted_by_guid,
                    very_long_names_are_listed,
                    a_list_of_thousands_is_whole_and_in_order,
                    slow_readers_keep_nobody_waiting,
                    a_list_holds_a_resource_that_is_renamed_meanwhile_once,
                }
                resource_catalog {
                    an_entry_shows_the_resource_as_it_is_stored,
                    resources_of_all_organizations_are_in_one_order,
                    filters_of_resources_combine,
                    a_name_is_searched_for_without_case_and_taken_literally,
                    a_guid_is_found_in_every_organization,
                    pages_of_resources_follow_each_other_while_others_come_and_go,
                    uses_of_a_resource_are_queues_then_jobs,
                }
                log_entry {
                    an_entry_is_listed_as_it_was_stored,
                    empty_members_stay_empty,
                    only_the_own_entries_are_listed,
                    an_empty_list_is_no_error,
                    the_newest_entry_comes_first,
                    of_equal_times_the_last_received_comes_first,
                    equal_entries_are_all_kept,
                    a_list_of_thousands_of_equal_times_is_whole,
                    a_list_of_thousands_is_in_order,
                    texts_are_kept_byte_for_byte,
                    descriptions_of_a_mebibyte_are_kept,
                    concurrent_entries_all_land,
                    an_entry_that_was_begun_ends_without_its_caller,
                    slow_readers_keep_nobody_waiting,
                }
                log_filter {
                    each_text_filter_sees_its_own_member,
                    text_filters_match_without_case_over_unicode,
                    only_the_star_is_special,
                    very_long_patterns_are_answered,
                    patterns_of_very_many_stars_are_answered,
                    the_type_filter_lists_one_type,
                    from_and_to_are_inclusive,
                    filters_combine_with_and,
                    filters_stay_within_the_organization,
                    rare_matches_among_thousands_are_all_found,
                }
                crash_report {
                    a_report_is_found_as_it_was_stored,
                    what_a_report_lacks_stays_absent,
                    only_the_own_report_is_found,
                    a_report_of_hundreds_of_parts_keeps_their_order,
                    texts_are_kept_byte_for_byte,
                    concurrent_reports_all_land,
                    a_report_that_was_begun_ends_without_its_caller,
                }
                device_history {
                    a_change_of_state_is_kept_with_its_messages,
                    an_equal_state_is_no_change,
                    the_state_at_the_beginning_of_a_period_is_known,
                    measured_values_are_kept_once_in_an_interval,
                    a_clock_that_was_set_back_does_not_stop_the_samples,
                    only_the_history_of_the_device_is_read,
                    the_history_of_many_devices_at_once_is_whole,
                    a_year_of_samples_is_thinned_and_in_order,
                    thousands_of_changes_are_listed_in_order,
                    statuses_of_one_time_are_one_record,
                }
                device_status {
                    a_status_is_found_as_it_was_put,
                    a_status_replaces_the_former_one_whole,
                    an_equal_status_renews_the_time_of_receipt,
                    only_the_own_status_is_found,
                    devices_keep_their_own_status,
                    every_word_and_measure_is_kept,
                    numbers_are_kept_exactly,
                    texts_are_kept_byte_for_byte,
                    very_many_inks_keep_their_order,
                    of_concurrent_calls_the_last_wins,
                }
                fleet_directory {
                    records_are_found_by_guid_with_their_names,
                    records_of_another_organization_are_not_found,
                    unknown_records_are_not_found,
                    a_record_without_a_name_bears_its_guid,
                }
                fleet_records {
                    a_renamed_organization_keeps_all_that_it_has,
                    a_renamed_user_keeps_keys_and_computers,
                    a_name_that_is_taken_or_unknown_is_refused,
                    what_is_retired_does_not_authenticate,
                    what_is_retired_is_no_target,
                    what_is_retired_holds_no_resource,
                    what_is_retired_is_shown_and_left_alone_by_a_file,
                    a_retired_user_gets_no_key,
                    the_hardware_hash_of_a_retired_computer_can_be_taken_over,
                    relations_to_what_is_retired_are_reported,
                    only_own_records_are_retired,
                }
                key_registry {
                    keys_are_listed_by_organization_user_and_age,
                    keys_are_found_by_user_and_by_the_beginning_of_their_id,
                    one_key_is_revoked_and_the_other_stays_valid,
                    the_last_use_of_a_key_is_kept,
                }
                fleet_registry {
                    what_was_applied_is_exported_without_credentials,
                    applying_a_file_again_changes_nothing,
                    applying_an_export_changes_nothing,
                    an_export_is_sorted,
                    one_organization_is_exported_alone,
                    names_and_relations_are_updated,
                    what_a_file_leaves_out_stays_as_it_is,
                    an_organization_is_no_publisher_at_first,
                    names_are_kept_byte_for_byte,
                    a_large_fleet_is_applied_in_one_step,
                    a_preview_tells_what_applying_would_do_and_does_nothing,
                    a_preview_of_a_new_fleet_adds_all_of_it_and_conflicts_are_seen,
                    one_file_applied_many_times_at_once_is_applied,
                }
                fleet_conflicts {
                    a_computer_of_another_organization_is_a_conflict,
                    a_device_of_another_organization_is_a_conflict,
                    a_queue_of_another_organization_is_a_conflict,
                    a_job_of_another_organization_is_a_conflict,
                    one_guid_in_two_organizations_of_a_file_is_a_conflict,
                    a_hardware_hash_of_another_computer_is_a_conflict,
                    a_key_of_another_user_is_a_conflict,
                    a_revoked_key_of_another_user_is_a_conflict,
                    one_key_for_two_users_of_a_file_is_a_conflict,
                    a_relation_to_an_unknown_record_is_a_conflict,
                    relations_within_a_file_are_no_conflict,
                    a_conflict_with_what_is_retired_says_so,
                }
                fleet_keys {
                    a_user_without_a_key_is_issued_the_new_one,
                    what_is_new_and_differs_by_case_only_is_told,
                    the_key_of_the_file_goes_before_a_new_one,
                    a_user_with_a_key_is_issued_none,
                    a_new_key_for_nobody_in_the_file_is_not_registered,
                    another_key_for_a_user_who_has_one_is_left_out,
                    a_revoked_user_gets_no_key_by_a_file,
                    a_revoked_key_is_no_longer_found,
                    all_keys_of_a_user_are_revoked,
                    a_revoked_user_gets_a_new_key_by_issue,
                    revoking_reaches_one_organization_only,
                    keys_of_unknown_users_are_a_conflict,
                    issuing_a_key_that_is_taken_is_a_conflict,
                    of_concurrent_applications_one_issues_the_key,
                }
                credentials {
                    a_key_is_found_with_its_user_and_organization,
                    a_hardware_hash_is_found_with_its_computer,
                    unknown_credentials_are_not_found,
                    a_registration_takes_effect_soon,
                    a_changed_computer_is_found_as_it_is_now,
                }
                refusal {
                    a_refusal_is_listed_as_it_was_kept,
                    its_texts_are_kept_byte_for_byte,
                    refusals_are_listed_newest_first,
                    refusals_are_listed_in_pages,
                    filters_of_refusals_combine,
                    of_each_owner_the_newest_refusals_stay,
                    refusals_of_unknown_callers_are_bounded_in_all,
                    refusals_that_name_a_computer_count_by_address,
                    old_refusals_are_pruned,
                    refusals_are_counted_by_reason,
                    computers_are_found_by_guid_and_by_serial_number,
                }
                retention {
                    what_is_older_is_removed_and_nothing_younger,
                    each_kind_is_removed_alone,
                    old_history_of_devices_is_removed_and_their_status_stays,
                    batches_take_the_oldest_of_each_organization_in_turn,
                    a_batch_of_nothing_comes_to_an_end,
                    entries_of_a_mebibyte_are_removed,
                    a_report_is_removed_with_all_its_parts,
                    blobs_of_removed_reports_are_discarded_at_the_time_of_the_call,
                    thousands_of_organizations_are_gone_through,
                    concurrent_removals_remove_each_record_once,
                    a_removal_that_was_begun_ends_without_its_caller,
                }
                inspection {
                    organizations_are_listed_by_name,
                    one_organization_is_found_by_its_exact_name,
                    devices_are_listed_with_their_last_status,
                    devices_are_sorted_by_name_then_guid,
                    devices_are_listed_by_status,
                    only_the_devices_of_the_organization_are_listed,
                    a_list_of_thousands_of_devices_is_whole_and_in_order,
                    devices_are_counted_by_organization_and_status,
                    a_resource_is_found_in_every_organization_that_has_it,
                }
                inspection_computers {
                    computers_are_listed_with_user_and_serial_number,
                    computers_are_sorted_by_name_then_guid,
                    a_computer_is_last_seen_at_its_newest_entry_and_report,
                    only_the_computers_of_the_organization_are_listed,
                    a_list_of_thousands_of_computers_is_whole_and_in_order,
                }
                activity {
                    the_last_request_is_shown_with_computer_and_user,
                    the_latest_request_wins,
                    requests_of_unknown_users_are_left_out,
                    a_resource_shows_who_has_which_content,
                    a_computer_shows_its_outdated_resources,
                    an_unpublished_resource_is_hidden_from_other_organizations,
                    of_each_user_and_resource_the_latest_fetches_stay,
                    fetches_of_thousands_of_computers_are_whole_and_in_order,
                }
                timeline {
                    all_kinds_of_events_are_in_one_order,
                    pages_follow_each_other_by_cursor,
                    only_the_events_of_the_subject_are_listed,
                    a_renamed_computer_and_device_keep_their_log_entries,
                }
                inspection_logs {
                    an_entry_is_shown_with_its_time_of_receipt,
                    entries_of_several_organizations_are_in_one_order,
                    filters_hold_for_every_organization,
                    the_entries_of_a_renamed_computer_are_found_by_its_guid,
                    a_list_over_thousands_of_entries_is_whole_and_in_order,
                    a_follower_is_given_what_is_added_after_it_began,
                    a_follower_is_given_what_matches,
                    a_follower_is_given_every_concurrent_entry_once,
                    a_follower_is_given_thousands_of_entries_in_order,
                }
                inspection_log_pages {
                    pages_of_the_log_follow_each_other,
                    a_page_goes_on_after_its_cursor,
                    a_page_holds_what_matches_all_filters,
                    few_matches_of_a_search_among_thousands_are_found,
                    very_long_entries_are_listed_in_pages,
                    a_follower_goes_on_after_a_number,
                    followers_one_after_another_are_given_every_concurrent_entry_once,
                }
                inspection_crashes {
                    a_report_is_listed_without_its_parts,
                    what_a_listed_report_lacks_stays_absent,
                    reports_of_several_organizations_are_in_one_order,
                    reports_are_filtered,
                    thousands_of_reports_are_listed_in_order,
                    a_report_is_found_with_its_organization,
                }
                device_board {
                    devices_that_need_attention_come_first,
                    a_device_is_shown_with_all_that_is_known_of_it,
                    filters_of_devices_combine,
                    devices_are_counted_by_status_and_need,
                    pages_of_devices_follow_each_other,
                    texts_of_devices_stay_as_they_are,
                    a_forecast_is_replaced_and_outlives_the_next_status,
                }
                overview {
                    new_and_regressed_groups_are_counted_with_the_last_of_them,
                    refusals_are_counted_by_reason,
                    log_entries_are_counted_by_hour,
                    resources_that_are_outdated_on_computers_are_counted,
                    unpublished_resources_of_other_organizations_are_not_counted,
                }
                operator {
                    an_operator_is_found_by_name_without_case,
                    a_name_is_taken_without_case,
                    of_concurrent_operators_of_one_name_one_is_added,
                    an_operator_of_an_organization_belongs_to_it,
                    operators_are_listed_by_name_in_pages,
                    a_new_password_ends_all_sessions,
                    a_removed_operator_is_gone_with_sessions_and_tokens,
                    names_are_kept_byte_for_byte,
                }
                setup {
                    a_code_counts_while_there_is_no_operator,
                    a_code_expires_and_an_operator_ends_it,
                    of_concurrent_completions_one_succeeds,
                }
                session {
                    a_session_is_found_with_its_operator,
                    a_session_does_not_begin_with_a_former_password,
                    the_last_use_of_a_session_is_kept,
                    an_ended_session_is_gone,
                    old_sessions_are_pruned,
                }
                token {
                    a_token_is_found_with_its_operator,
                    tokens_are_listed_newest_first_in_pages,
                    a_token_is_revoked_once,
                    the_last_use_of_a_token_is_kept,
                }
                audit {
                    a_record_is_listed_as_it_was_stored,
                    texts_of_records_are_kept_byte_for_byte,
                    records_are_listed_newest_first_in_pages,
                    filters_of_records_combine,
                    a_change_and_its_record_are_stored_together,
                    concurrent_records_are_all_stored,
                    changes_of_the_fleet_are_recorded,
                    a_preview_and_a_refused_change_are_not_recorded,
                }
                crash_analysis {
                    reports_wait_from_their_receipt_on_and_are_taken_once,
                    concurrent_processes_take_different_reports,
                    an_analysis_is_found_as_it_was_stored,
                    reports_are_counted_in_the_group_of_their_signature,
                    concurrent_analyses_of_a_report_count_it_once,
                    a_new_analysis_moves_a_report_to_its_new_group,
                    a_report_after_the_resolution_makes_a_group_regressed,
                    removed_reports_are_no_longer_counted,
                }
                crash_group {
                    pages_of_groups_follow_each_other,
                    groups_are_filtered,
                    a_group_is_found_and_changed_by_its_organization_only,
                    a_group_is_changed_in_the_version_that_was_seen_only,
                    groups_are_sorted_by_times_and_by_reports,
                    the_reports_of_a_group_are_counted_by_day,
                    groups_of_a_computer_are_listed,
                    texts_of_groups_stay_as_they_are,
                }
                crash_archive {
                    archived_reports_are_listed_in_pages,
                    archived_reports_are_filtered,
                    an_archived_report_is_listed_with_its_signature,
                    an_archived_report_is_found_with_its_organization,
                }
                computer {
                    computers_are_listed_by_name_in_pages,
                    computers_are_filtered,
                    a_computer_is_found_with_its_last_request,
                }
                search {
                    a_guid_or_its_beginning_leads_to_what_it_is,
                    names_and_serial_numbers_lead_to_what_they_are,
                    a_request_id_leads_to_its_refusal,
                    a_search_stays_within_its_organization_and_limit,
                }
                ledger {
                    discarded_blobs_are_named_oldest_first,
                    no_more_discarded_blobs_are_named_than_asked_for,
                    forgotten_blobs_are_no_longer_named,
                    a_blob_discarded_twice_is_named_once,
                    postponed_blobs_are_named_last,
                    lists_of_any_length_are_taken,
                    referenced_and_discarded_blobs_are_known,
                    every_claim_of_a_record_is_referenced,
                    thousands_of_claims_are_all_referenced,
                    a_claim_is_current_until_its_record_changes,
                }
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! store_clauses {
    ($($port:ident { $($clause:ident,)+ })+) => {$(
        mod $port {
            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $clause() -> $crate::contract::Kept {
                    let (stores, guard) = super::open().await;
                    let kept = $crate::contract::$port::$clause(&stores).await;
                    drop(stores);
                    drop(guard);
                    kept
                }
            )+
        }
    )+};
}
