#pragma once
// The records of all messages: their fields by number, name and meaning, as in proto/coxswain/v1
// (which a test compares). A number is never given to another field.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/model/record.hpp"

namespace coxswain::core {

template <>
inline constexpr enumeration<task_state> enumeration_of<task_state>{task_state::returning,
                                                                    task_state::never_connected};
template <>
inline constexpr enumeration<severity> enumeration_of<severity>{severity::error, severity::info};
template <>
inline constexpr enumeration<event_kind> enumeration_of<event_kind>{event_kind::draining,
                                                                    event_kind::other};
template <>
inline constexpr enumeration<reduction> enumeration_of<reduction>{reduction::all_equal,
                                                                  reduction::unknown};
template <>
inline constexpr enumeration<lease_change> enumeration_of<lease_change>{lease_change::extend,
                                                                        lease_change::unknown};
template <>
inline constexpr enumeration<job_end> enumeration_of<job_end>{job_end::drain, job_end::unknown};
template <>
inline constexpr enumeration<role> enumeration_of<role>{role::relay, role::worker, 1};
template <>
inline constexpr enumeration<epoch_ends::cause> enumeration_of<epoch_ends::cause>{
    epoch_ends::last_cause, epoch_ends::cause::asked};
template <>
inline constexpr enumeration<snapshot::kind> enumeration_of<snapshot::kind>{
    snapshot::kind::topology, snapshot::kind::tasks};
template <>
inline constexpr enumeration<job_state::kind> enumeration_of<job_state::kind>{
    job_state::kind::draining, job_state::kind::unknown};
template <>
inline constexpr enumeration<why_answer::kind> enumeration_of<why_answer::kind>{
    why_answer::last_kind, why_answer::kind::barrier};

// Parts of several messages.

template <>
inline constexpr auto record_of<status> =
    part(field<1>("code", std::identity{}, as::status_code),
           field<2>("message", std::identity{}, as::status_message));

template <>
inline constexpr auto record_of<missing_task> =
    part(field<1>("task", &missing_task::task),
           field<2>("state", &missing_task::state),
           field<3>("suspect", &missing_task::suspect),
           field<4>("last_heard_ms_ago", &missing_task::last_heard, as::milliseconds),
           field<5>("label", &missing_task::label, as::text),
           field<6>("waits_for", &missing_task::waits_for, as::text),
           field<7>("step", &missing_task::step),
           field<8>("answers", &missing_task::answers),
           field<9>("unanswered_ms", &missing_task::unanswered, as::milliseconds),
           field<10>("last_call", &missing_task::last_call, as::text),
           field<11>("last_call_unix_ms", &missing_task::last_call_at, as::unix_ms),
           field<12>("last_call_utc_offset_s", &missing_task::last_call_at, as::utc_offset_s));

template <>
inline constexpr auto record_of<barrier_failure> =
    message<7>("barrier_failure", field<1>("round", &barrier_failure::round),
           field<2>("arrived", &barrier_failure::arrived),
           field<3>("expected", &barrier_failure::expected),
           field<4>("missing", &barrier_failure::missing, as::text),
           field<5>("missing_cut", &barrier_failure::missing_cut),
           field<6>("known", &barrier_failure::known));

template <>
inline constexpr auto record_of<failure> =
    part(field<1>("task", &failure::task),
           field<2>("status", &failure::why),
           field<3>("is_reported", &failure::is_reported));

template <>
inline constexpr auto record_of<job_error> =
    message<14>("job_error", field<1>("cause", &job_error::cause),
           field<2>("later", &job_error::later),
           field<3>("later_count", &job_error::later_count));

template <>
inline constexpr auto record_of<device_attribute> =
    part(field<1>("name", &device_attribute::name, as::text),
           field<2>("text", &device_attribute::value, as::alternative<std::string, as::text_t>),
           field<3>("flag", &device_attribute::value, as::alternative<bool>),
           field<4>("number", &device_attribute::value, as::alternative<std::int64_t>),
           field<5>("numbers", &device_attribute::value,
                    as::alternative<std::vector<std::int64_t>>),
           field<6>("fraction", &device_attribute::value, as::alternative<float>));

// The list of numbers of an attribute.
template <>
inline constexpr auto record_of<std::vector<std::int64_t>> =
    part(field<1>("values", std::identity{}));

template <>
inline constexpr auto record_of<device> =
    part(field<1>("ordinal", &device::ordinal),
           field<2>("name", &device::name, as::text),
           field<3>("vendor", &device::vendor, as::text),
           field<4>("kind", &device::kind, as::text),
           field<5>("compute_capability", &device::compute_capability, as::text),
           field<6>("core_count", &device::core_count),
           field<7>("numa_node", &device::numa_node),
           field<8>("fabric_uuid", &device::fabric_uuid, as::text),
           field<9>("memory_bytes", &device::memory_bytes),
           field<10>("shared_memory_per_block_bytes", &device::shared_memory_per_block_bytes),
           field<11>("text", &device::text, as::text),
           field<12>("debug_text", &device::debug_text, as::text),
           field<13>("attributes", &device::attributes),
           field<14>("partition", &device::partition),
           field<15>("global_id", &device::global_id));

// Enough devices for the coordinator to refuse them.
template <>
inline constexpr auto record_of<local_topology> =
    part(field<1>("boot_id", &local_topology::boot_id, as::text),
           field<2>("network_nodes", &local_topology::network_nodes, as::text),
           field<3>("devices", &local_topology::devices, as::at_most<topology_devices_max + 1>),
           field<4>("partition_index", &local_topology::partition_index));

// Requests.

template <>
inline constexpr auto record_of<guest_args> =
    part(field<1>("task", &guest_args::task), field<2>("secret", &guest_args::secret, as::secret));

template <>
inline constexpr auto record_of<hello_args> =
    message<4>("hello", field<1>("protocol_version", &hello_args::version),
           field<2>("job", &hello_args::job, as::text),
           field<3>("attempt", &hello_args::attempt),
           field<4>("token", &hello_args::token, as::token),
           field<5>("label", &hello_args::label, as::text),
           field<7>("acts_for", &hello_args::acts_for),
           field<8>("relay", &hello_args::relay),
           field<9>("num_tasks", &hello_args::num_tasks),
           field<10>("supervises", &hello_args::supervises),
           field<11>("takes_stacks", &hello_args::takes_stacks));

template <>
inline constexpr auto record_of<resume_args> =
    message<5>("resume", field<1>("session", &resume_args::session),
           field<2>("secret", &resume_args::secret, as::secret),
           field<3>("coordinator_incarnation", &resume_args::coordinator),
           field<4>("open", &resume_args::open, as::distances),
           field<5>("term_seen", &resume_args::term_seen),
           field<6>("resume_count", &resume_args::resume_count));

template <>
inline constexpr auto record_of<bye_args> =
    message<6>("bye", field<1>("abandoned", &bye_args::abandoned));

template <>
inline constexpr auto record_of<cancel_args> =
    message<7>("cancel", field<1>("request", &cancel_args::request));

template <>
inline constexpr auto record_of<ask_waiting_args> =
    message<43>("ask_waiting", field<1>("request", &ask_waiting_args::request));

template <>
inline constexpr auto record_of<join_args> =
    message<8>("join", field<1>("incarnation", &join_args::self),
           field<2>("timeout_ms", &join_args::timeout, as::timeout),
           field<3>("recoverable", &join_args::recoverable),
           field<4>("take_over", &join_args::take_over),
           field<5>("any", &join_args::any),
           field<6>("member", &join_args::member),
           field<7>("placement", &join_args::placement),
           field<8>("with_hello", &join_args::with_hello),
           field<9>("is_jax", &join_args::is_jax));

template <>
inline constexpr auto record_of<leave_args> =
    message<9>("leave", field<1>("timeout_ms", &leave_args::timeout, as::timeout),
           field<2>("returning", &leave_args::returning));

template <>
inline constexpr auto record_of<next_epoch_args> =
    message<49>("next_epoch", field<1>("timeout_ms", &next_epoch_args::timeout, as::wide_timeout),
           field<2>("after", &next_epoch_args::after),
           field<3>("shrink_only", &next_epoch_args::shrink_only));

template <>
inline constexpr auto record_of<epoch_members_args> =
    message<50>("epoch_members", field<1>("first_task", &epoch_members_args::first_task));

template <>
inline constexpr auto record_of<resize_args> =
    message<51>("resize", field<1>("num_tasks", &resize_args::num_tasks));

template <>
inline constexpr auto record_of<end_job_args> =
    message<39>("end_job", field<1>("how", &end_job_args::how),
           field<2>("reason", &end_job_args::reason, as::text));

template <>
inline constexpr auto record_of<report_error_args> =
    message<10>("report_error", field<1>("code", &report_error_args::what, as::status_code),
           field<2>("message", &report_error_args::what, as::status_message));

template <>
inline constexpr auto record_of<barrier_args> =
    message<11>("barrier", field<1>("name", &barrier_args::name, as::name),
           field<2>("timeout_ms", &barrier_args::timeout, as::timeout),
           field<3>("participants", &barrier_args::participants),
           field<4>("gather", &barrier_args::gather),
           field<5>("data", &barrier_args::data, as::value),
           field<6>("progress_every_ms", &barrier_args::progress_every, as::short_period),
           field<7>("reduction", &barrier_args::reduce),
           field<9>("fail_when_lost", &barrier_args::fail_when_lost),
           field<10>("of_jax_tasks", &barrier_args::of_jax_tasks));

template <>
inline constexpr auto record_of<cancel_barrier_args> =
    message<18>("cancel_barrier", field<1>("name", &cancel_barrier_args::name, as::name),
           field<2>("round", &cancel_barrier_args::round));

template <>
inline constexpr auto record_of<count_barrier_args> =
    message<19>("count_barrier", field<1>("name", &count_barrier_args::name, as::name),
           field<2>("count", &count_barrier_args::count),
           field<3>("timeout_ms", &count_barrier_args::timeout, as::timeout));

template <>
inline constexpr auto record_of<put_args> =
    message<12>("put", field<1>("key", &put_args::key, as::name),
           field<2>("value", &put_args::value, as::value),
           field<3>("overwrite", &put_args::overwrite),
           field<4>("ephemeral", &put_args::ephemeral),
           field<5>("replaces_predecessor", &put_args::replaces_predecessor));

template <>
inline constexpr auto record_of<get_args> =
    message<13>("get", field<1>("key", &get_args::key, as::name),
           field<2>("timeout_ms", &get_args::timeout, as::timeout));

template <>
inline constexpr auto record_of<try_get_args> =
    message<14>("try_get", field<1>("key", &try_get_args::key, as::name));

template <>
inline constexpr auto record_of<list_args> =
    message<17>("list", field<1>("directory", &list_args::directory, as::name),
           field<2>("after", &list_args::after, as::name),
           field<3>("version", &list_args::version));

template <>
inline constexpr auto record_of<remove_args> =
    message<16>("remove", field<1>("key", &remove_args::key, as::name));

template <>
inline constexpr auto record_of<remove_tree_args> =
    message<47>("remove_tree", field<1>("directory", &remove_tree_args::directory, as::name),
           field<2>("all", &remove_tree_args::all),
           field<3>("after", &remove_tree_args::after, as::name));

template <>
inline constexpr auto record_of<increment_args> =
    message<15>("increment", field<1>("key", &increment_args::key, as::name),
           field<2>("by", &increment_args::by, as::signed_number));

template <>
inline constexpr auto record_of<inspect_args> =
    message<20>("inspect", field<1>("first_task", &inspect_args::first_task));

template <>
inline constexpr auto record_of<preempt_args> =
    message<25>("preempt", field<1>("task", &preempt_args::task),
           field<2>("in_ms", &preempt_args::in, as::milliseconds));

template <>
inline constexpr auto record_of<frozen_args> =
    message<26>("frozen", field<1>("agreement", &frozen_args::agreement),
           field<2>("step", &frozen_args::step),
           field<3>("abstains", &frozen_args::abstains));

template <>
inline constexpr auto record_of<reset_args> =
    message<22>("reset", field<1>("incarnation", &reset_args::self));

template <>
inline constexpr auto record_of<compare_and_set_args> =
    message<28>("compare_and_set", field<1>("key", &compare_and_set_args::key, as::name),
           field<2>("value", &compare_and_set_args::value, as::value),
           field<3>("expected_version", &compare_and_set_args::expected,
                    as::alternative<std::uint64_t>),
           field<4>("expected_value", &compare_and_set_args::expected,
                    as::alternative<std::string, as::value_t>),
           field<5>("expected_absent", &compare_and_set_args::expected,
                    as::alternative<absent_value>),
           field<6>("ephemeral", &compare_and_set_args::ephemeral));

template <>
inline constexpr auto record_of<append_args> =
    message<29>("append", field<1>("key", &append_args::key, as::name),
           field<2>("value", &append_args::value, as::value));

template <>
inline constexpr auto record_of<get_all_args> =
    message<30>("get_all", field<1>("keys", &get_all_args::keys, as::name),
           field<2>("timeout_ms", &get_all_args::timeout, as::timeout),
           field<3>("without_values", &get_all_args::without_values));

template <>
inline constexpr auto record_of<put_all_args::entry> =
    part(field<1>("key", &put_all_args::entry::key, as::name),
           field<2>("value", &put_all_args::entry::value, as::value));

template <>
inline constexpr auto record_of<put_all_args> =
    message<31>("put_all", field<1>("entries", &put_all_args::entries),
           field<2>("overwrite", &put_all_args::overwrite));

template <>
inline constexpr auto record_of<count_keys_args> =
    message<32>("count_keys", field<1>("directory", &count_keys_args::directory, as::name),
           field<2>("of_queue", &count_keys_args::of_queue));

template <>
inline constexpr auto record_of<push_args> =
    message<33>("push", field<1>("queue", &push_args::queue, as::name),
           field<2>("value", &push_args::value, as::value));

template <>
inline constexpr auto record_of<pop_args> =
    message<34>("pop", field<1>("queue", &pop_args::queue, as::name),
           field<2>("timeout_ms", &pop_args::timeout, as::timeout));

template <>
inline constexpr auto record_of<take_args> =
    message<52>("take", field<1>("queue", &take_args::queue, as::name),
           field<2>("timeout_ms", &take_args::timeout, as::timeout),
           field<3>("lease_ms", &take_args::lease, as::timeout));

template <>
inline constexpr auto record_of<update_lease_args> =
    message<53>("update_lease", field<1>("item", &update_lease_args::item),
           field<2>("redeliveries", &update_lease_args::redeliveries),
           field<3>("change", &update_lease_args::change),
           field<4>("lease_ms", &update_lease_args::lease, as::timeout));

template <>
inline constexpr auto record_of<lock_args> =
    message<44>("lock", field<1>("name", &lock_args::name, as::name),
           field<2>("timeout_ms", &lock_args::timeout, as::timeout));

template <>
inline constexpr auto record_of<try_lock_args> =
    message<45>("try_lock", field<1>("name", &try_lock_args::name, as::name));

template <>
inline constexpr auto record_of<unlock_args> =
    message<46>("unlock", field<1>("name", &unlock_args::name, as::name),
           field<2>("token", &unlock_args::token));

template <>
inline constexpr auto record_of<watch_keys_args> =
    message<35>("watch_keys", field<1>("directory", &watch_keys_args::directory, as::name),
           field<2>("after_version", &watch_keys_args::after),
           field<3>("timeout_ms", &watch_keys_args::timeout, as::timeout));

template <>
inline constexpr auto record_of<alive_args> =
    message<24>("alive_tasks", field<1>("tasks", &alive_args::tasks),
           field<2>("timeout_ms", &alive_args::timeout, as::timeout));

template <>
inline constexpr auto record_of<watch_tasks_args> =
    message<36>("watch_tasks", field<1>("after_version", &watch_tasks_args::after),
           field<2>("timeout_ms", &watch_tasks_args::timeout, as::timeout));

template <>
inline constexpr auto record_of<watch_events_args> =
    message<37>("watch_events", field<1>("after", &watch_events_args::after),
           field<2>("severity", &watch_events_args::at_least),
           field<3>("timeout_ms", &watch_events_args::timeout, as::timeout),
           field<4>("last", &watch_events_args::last));

template <>
inline constexpr auto record_of<exchange_topology_args> =
    message<38>("exchange_topology", field<1>("platform", &exchange_topology_args::platform),
           field<2>("mine", &exchange_topology_args::mine),
           field<3>("timeout_ms", &exchange_topology_args::timeout, as::timeout));

template <>
inline constexpr auto record_of<report_progress_args> =
    message<23>("report_progress", field<1>("step", &report_progress_args::step));

template <>
inline constexpr auto record_of<grant_args> =
    message<42>("grant", field<1>("secret", &grant_args::secret, as::secret));

template <>
inline constexpr auto record_of<stacks_args> =
    message<54>("stacks", field<1>("number", &stacks_args::number));

template <>
inline constexpr auto record_of<report_stack_args> =
    message<55>("report_stack", field<1>("number", &report_stack_args::number),
           field<2>("task", &report_stack_args::task),
           field<3>("stack", &report_stack_args::stack, as::text),
           field<4>("rest", &report_stack_args::rest, as::text));

template <>
inline constexpr auto record_of<why_args> =
    message<41>("why");

// Answers and pushes.

template <>
inline constexpr auto record_of<hello_answer> = message<3>("hello",
           field<1>("coordinator_incarnation", &hello_answer::coordinator),
           field<2>("version", &hello_answer::version, as::text),
           field<3>("session", &hello_answer::session),
           field<4>("secret", &hello_answer::secret, as::secret),
           field<5>("num_tasks", &hello_answer::num_tasks),
           field<6>("heartbeat_period_ms", &hello_answer::heartbeat_period, as::period),
           field<7>("heartbeat_timeout_ms", &hello_answer::heartbeat_timeout, as::period),
           field<8>("reconnect_grace_ms", &hello_answer::reconnect_grace, as::period),
           field<9>("frame_bytes_max", &hello_answer::frame_bytes_max),
           field<10>("value_bytes_max", &hello_answer::value_bytes_max),
           field<11>("key_bytes_max", &hello_answer::key_bytes_max),
           field<12>("open_requests_max", &hello_answer::open_requests_max),
           field<13>("open_requests_max_per_task", &hello_answer::open_requests_max_per_task),
           field<14>("role", &hello_answer::given),
           field<15>("coordinator_return_ms", &hello_answer::coordinator_return, as::period),
           field<16>("hosted_by_task", &hello_answer::hosted_by_task),
           field<17>("restart_grace_ms", &hello_answer::restart_grace, as::period),
           field<18>("term", &hello_answer::term),
           field<19>("relayed", &hello_answer::relayed),
           field<20>("suspect_after_ms", &hello_answer::suspect_after, as::period));

template <>
inline constexpr auto record_of<resume_answer> = message<4>("resume",
           field<1>("unknown", &resume_answer::unknown),
           field<2>("term", &resume_answer::term),
           field<3>("suspect_after_ms", &resume_answer::suspect_after, as::period));

template <>
inline constexpr auto record_of<epoch_answer> = message<38>("epoch",
           field<1>("number", &epoch_answer::number),
           field<2>("size", &epoch_answer::size),
           field<3>("rank", &epoch_answer::rank),
           field<4>("address", &epoch_answer::address, as::text),
           field<5>("lost", &epoch_answer::lost),
           field<6>("joined", &epoch_answer::joined));

template <>
inline constexpr auto record_of<join_answer> = message<5>("join",
           field<1>("already_started", &join_answer::already_started),
           field<2>("task", &join_answer::task),
           field<3>("epoch", &join_answer::epoch));

template <>
inline constexpr auto record_of<barrier_answer> = message<6>("barrier",
           field<1>("round", &barrier_answer::round),
           field<2>("data", &barrier_answer::data, as::value));

template <>
inline constexpr auto record_of<value_answer> = message<8>("value",
           field<1>("version", &value_answer::version),
           field<2>("value", &value_answer::value, as::value),
           field<3>("redeliveries", &value_answer::redeliveries));

template <>
inline constexpr auto record_of<counter_answer> = message<9>("counter",
           field<1>("value", &counter_answer::value, as::signed_number),
           field<2>("version", &counter_answer::version));

template <>
inline constexpr auto record_of<removed_answer> = message<10>("removed",
           field<1>("count", &removed_answer::count),
           field<2>("last", &removed_answer::last, as::name));

template <>
inline constexpr auto record_of<listing_answer::entry> =
    part(field<1>("key", &listing_answer::entry::key, as::name),
           field<2>("version", &listing_answer::entry::version),
           field<3>("value", &listing_answer::entry::value, as::value));

template <>
inline constexpr auto record_of<listing_answer> = message<11>("listing",
           field<1>("entries", &listing_answer::entries),
           field<2>("version", &listing_answer::version),
           field<3>("more", &listing_answer::more));

template <>
inline constexpr auto record_of<task_progress> =
    part(field<1>("step", &task_progress::step),
           field<2>("age_ms", &task_progress::age, as::milliseconds),
           field<3>("overdue", &task_progress::overdue));

template <>
inline constexpr auto record_of<snapshot::task> =
    part(field<1>("task", &snapshot::task::id),
           field<2>("state", &snapshot::task::state),
           field<3>("suspect", &snapshot::task::suspect),
           field<4>("incarnation", &snapshot::task::self),
           field<5>("last_heard_ms_ago", &snapshot::task::last_heard, as::milliseconds),
           field<6>("label", &snapshot::task::label, as::text),
           field<7>("peer", &snapshot::task::peer, as::text),
           field<8>("error", &snapshot::task::error),
           field<9>("recoverable", &snapshot::task::recoverable),
           field<10>("progress", &snapshot::task::progress),
           field<11>("returns_by_unix_ms", &snapshot::task::returns_by, as::unix_ms),
           field<12>("utc_offset_s", &snapshot::task::returns_by, as::utc_offset_s),
           field<13>("ended_with_job", &snapshot::task::ended_with_job));

template <>
inline constexpr auto record_of<snapshot::barrier> =
    part(field<1>("name", &snapshot::barrier::name, as::name),
           field<2>("round", &snapshot::barrier::round),
           field<3>("arrived", &snapshot::barrier::arrived),
           field<4>("expected", &snapshot::barrier::expected),
           field<5>("missing", &snapshot::barrier::missing, as::text),
           field<6>("missing_cut", &snapshot::barrier::missing_cut),
           field<7>("age_ms", &snapshot::barrier::age, as::milliseconds),
           field<8>("remaining_ms", &snapshot::barrier::remaining, as::milliseconds),
           field<9>("kind", &snapshot::barrier::what));

template <>
inline constexpr auto record_of<snapshot::finished_round> =
    part(field<1>("number", &snapshot::finished_round::number),
           field<2>("name", &snapshot::finished_round::name, as::name),
           field<3>("round", &snapshot::finished_round::round),
           field<4>("at_ms", &snapshot::finished_round::at, as::milliseconds),
           field<5>("tasks", &snapshot::finished_round::tasks),
           field<6>("outcome", &snapshot::finished_round::outcome),
           field<7>("spread_us", &snapshot::finished_round::spread, as::microseconds),
           field<8>("lag_us", &snapshot::finished_round::lag, as::microseconds),
           field<9>("last_task", &snapshot::finished_round::last_task));

template <>
inline constexpr auto record_of<snapshot::straggler> =
    part(field<1>("task", &snapshot::straggler::task),
           field<2>("times_last", &snapshot::straggler::times_last),
           field<3>("lag_mean_us", &snapshot::straggler::lag_mean, as::microseconds),
           field<4>("lag_max_us", &snapshot::straggler::lag_max, as::microseconds),
           field<5>("of", &snapshot::straggler::of));

template <>
inline constexpr auto record_of<snapshot::leadership> =
    part(field<1>("address", &snapshot::leadership::address, as::text),
           field<2>("term", &snapshot::leadership::term),
           field<3>("lag_entries", &snapshot::leadership::lag_entries),
           field<4>("lag_bytes", &snapshot::leadership::lag_bytes),
           field<5>("lag_ms", &snapshot::leadership::lag, as::milliseconds));

template <>
inline constexpr auto record_of<snapshot::elastic_state> =
    part(field<1>("epoch", &snapshot::elastic_state::epoch),
           field<2>("tasks_min", &snapshot::elastic_state::tasks_min),
           field<3>("tasks_max", &snapshot::elastic_state::tasks_max),
           field<4>("tasks_wanted", &snapshot::elastic_state::tasks_wanted),
           field<5>("ending", &snapshot::elastic_state::ending, as::text),
           field<6>("over", &snapshot::elastic_state::over),
           field<7>("ready", &snapshot::elastic_state::ready),
           field<8>("age_ms", &snapshot::elastic_state::age, as::milliseconds));

template <>
inline constexpr auto record_of<snapshot::spare> =
    part(field<1>("member", &snapshot::spare::member),
           field<2>("label", &snapshot::spare::label, as::text),
           field<3>("peer", &snapshot::spare::peer, as::text),
           field<4>("age_ms", &snapshot::spare::age, as::milliseconds),
           field<5>("suspect", &snapshot::spare::suspect));

template <>
inline constexpr auto record_of<snapshot::relay> =
    part(field<1>("label", &snapshot::relay::label, as::text),
           field<2>("peer", &snapshot::relay::peer, as::text),
           field<3>("clients", &snapshot::relay::clients),
           field<4>("clients_paused", &snapshot::relay::clients_paused),
           field<5>("at_ms", &snapshot::relay::at, as::milliseconds));

template <>
inline constexpr auto record_of<snapshot::lease> =
    part(field<1>("queue", &snapshot::lease::queue, as::name),
           field<2>("item", &snapshot::lease::item),
           field<3>("redeliveries", &snapshot::lease::redeliveries),
           field<4>("holder", &snapshot::lease::holder, as::text),
           field<5>("at_ms", &snapshot::lease::at, as::milliseconds),
           field<6>("expires_ms", &snapshot::lease::expires, as::milliseconds));

template <>
inline constexpr auto record_of<job_state> =
    part(field<1>("kind", &job_state::what),
           field<2>("headline", &job_state::headline, as::text),
           field<3>("since_unix_ms", &job_state::since, as::unix_ms),
           field<4>("utc_offset_s", &job_state::since, as::utc_offset_s),
           field<5>("tasks", &job_state::tasks, as::text),
           field<6>("tasks_cut", &job_state::tasks_cut));

template <>
inline constexpr auto record_of<snapshot> = message<12>("job_status",
           field<1>("job", &snapshot::job, as::text),
           field<2>("coordinator_incarnation", &snapshot::coordinator),
           field<3>("version", &snapshot::version, as::text),
           field<4>("uptime_ms", &snapshot::uptime, as::milliseconds),
           field<5>("tasks", &snapshot::tasks),
           field<6>("barriers", &snapshot::barriers),
           field<7>("error", &snapshot::error),
           field<8>("keys", &snapshot::keys),
           field<9>("key_bytes", &snapshot::key_bytes),
           field<10>("sessions", &snapshot::sessions),
           field<11>("waiting_gets", &snapshot::waiting_gets),
           field<12>("memory_bytes", &snapshot::memory_bytes),
           field<13>("memory_bytes_max", &snapshot::memory_bytes_max),
           field<14>("lateness_p99_us", &snapshot::lateness_p99, as::microseconds),
           field<15>("lateness_max_us", &snapshot::lateness_max, as::microseconds),
           field<16>("deadlines_answered", &snapshot::deadlines_answered),
           field<20>("queued_items", &snapshot::queued_items),
           field<21>("waiting_pops", &snapshot::waiting_pops),
           field<22>("waiting_key_watches", &snapshot::waiting_key_watches),
           field<23>("rounds", &snapshot::rounds),
           field<24>("stragglers", &snapshot::stragglers),
           field<25>("stuck_tasks", &snapshot::stuck_tasks),
           field<26>("next_task", &snapshot::next_task),
           field<27>("more_barriers", &snapshot::more_barriers),
           field<28>("locks_held", &snapshot::locks_held),
           field<29>("waiting_locks", &snapshot::waiting_locks),
           field<30>("leader", &snapshot::leader),
           field<31>("spares", &snapshot::spares),
           field<32>("spares_waiting", &snapshot::spares_waiting),
           field<33>("elastic", &snapshot::elastic),
           field<34>("relays", &snapshot::relays),
           field<35>("more_relays", &snapshot::more_relays),
           field<36>("leased_items", &snapshot::leased_items),
           field<37>("leases", &snapshot::leases),
           field<38>("job_state", &snapshot::state),
           field<39>("missing", &snapshot::missing));

template <>
inline constexpr auto record_of<goodbye> = message<13>("goodbye",
           field<1>("code", &goodbye::why, as::status_code),
           field<2>("reason", &goodbye::why, as::status_message),
           field<3>("may_resume", &goodbye::may_resume),
           field<4>("restarted", &goodbye::restarted),
           field<5>("address", &goodbye::address, as::text));

template <>
inline constexpr auto record_of<barrier_progress> = message<15>("barrier_progress",
           field<1>("request", &barrier_progress::request),
           field<2>("round", &barrier_progress::round),
           field<3>("arrived", &barrier_progress::arrived),
           field<4>("expected", &barrier_progress::expected),
           field<5>("missing", &barrier_progress::missing, as::text),
           field<6>("missing_cut", &barrier_progress::missing_cut));

template <>
inline constexpr auto record_of<probe> = message<16>("probe");

template <>
inline constexpr auto record_of<freeze_request> = message<17>("freeze",
           field<1>("agreement", &freeze_request::agreement),
           field<2>("in_ms", &freeze_request::in, as::milliseconds));

template <>
inline constexpr auto record_of<sync_point> = message<18>("sync_point",
           field<1>("agreement", &sync_point::agreement),
           field<2>("step", &sync_point::step));

template <>
inline constexpr auto record_of<alive_answer::task> =
    part(field<1>("task", &alive_answer::task::id),
           field<2>("incarnation", &alive_answer::task::self));

template <>
inline constexpr auto record_of<alive_answer> = message<19>("alive_tasks",
           field<1>("tasks", &alive_answer::tasks));

template <>
inline constexpr auto record_of<key_change> =
    part(field<1>("key", &key_change::key, as::name),
           field<2>("version", &key_change::version),
           field<3>("value", &key_change::value, as::value));

template <>
inline constexpr auto record_of<key_changes_answer> = message<20>("key_changes",
           field<1>("changes", &key_changes_answer::changes),
           field<2>("version", &key_changes_answer::version));

template <>
inline constexpr auto record_of<events_answer::entry> =
    part(field<1>("number", &events_answer::entry::number),
           field<2>("at_ms", &events_answer::entry::at, as::milliseconds),
           field<3>("severity", in{&events_answer::entry::what, &event::level}),
           field<4>("kind", in{&events_answer::entry::what, &event::kind}),
           field<5>("task", in{&events_answer::entry::what, &event::task}),
           field<6>("barrier", in{&events_answer::entry::what, &event::barrier}, as::name),
           field<7>("text", in{&events_answer::entry::what, &event::text}, as::text),
           field<8>("unix_ms", in{&events_answer::entry::time, &wall_time::unix_ms}),
           field<9>("utc_offset_s", in{&events_answer::entry::time, &wall_time::utc_offset_s},
                    as::signed_number),
           field<10>("first", &events_answer::entry::first),
           field<11>("count", &events_answer::entry::count),
           field<12>("first_at_ms", &events_answer::entry::first_at, as::milliseconds),
           field<13>("tasks", &events_answer::entry::tasks, as::text),
           field<14>("tasks_cut", &events_answer::entry::tasks_cut));

template <>
inline constexpr auto record_of<events_answer> = message<22>("events",
           field<1>("events", &events_answer::entries),
           field<2>("through", &events_answer::through),
           field<3>("lost", &events_answer::lost));

template <>
inline constexpr auto record_of<global_topology> = message<23>("global_topology",
           field<1>("tasks", &global_topology::tasks));

template <>
inline constexpr auto record_of<count_answer> = message<24>("count",
           field<1>("count", &count_answer::count));

template <>
inline constexpr auto record_of<stored_answer> = message<25>("stored",
           field<1>("version", &stored_answer::version),
           field<2>("is_volatile", &stored_answer::is_volatile));

template <>
inline constexpr auto record_of<why_answer::wait> =
    part(field<1>("kind", &why_answer::wait::what),
           field<2>("name", &why_answer::wait::name, as::name),
           field<3>("waiting", &why_answer::wait::waiting, as::text),
           field<4>("cut", &why_answer::wait::cut),
           field<5>("others", &why_answer::wait::others),
           field<6>("missing", &why_answer::wait::missing),
           field<7>("age_ms", &why_answer::wait::age, as::milliseconds),
           field<8>("remaining_ms", &why_answer::wait::remaining, as::milliseconds),
           field<9>("stuck", &why_answer::wait::stuck));

template <>
inline constexpr auto record_of<why_answer> = message<26>("why",
           field<1>("waits", &why_answer::waits),
           field<2>("more", &why_answer::more),
           field<3>("stuck", &why_answer::stuck, as::text),
           field<4>("job_state", &why_answer::state));

template <>
inline constexpr auto record_of<stacks_wanted::process> =
    part(field<1>("task", &stacks_wanted::process::task),
           field<2>("name", &stacks_wanted::process::name, as::text));

template <>
inline constexpr auto record_of<stacks_wanted> = message<40>("stacks_wanted",
           field<1>("number", &stacks_wanted::number),
           field<2>("processes", &stacks_wanted::processes));

template <>
inline constexpr auto record_of<stacks_answer::group> =
    part(field<1>("tasks", &stacks_answer::group::tasks, as::text),
           field<2>("tasks_cut", &stacks_answer::group::tasks_cut),
           field<3>("count", &stacks_answer::group::count),
           field<4>("missing_for_ms", &stacks_answer::group::missing_for, as::milliseconds),
           field<5>("is_taken", &stacks_answer::group::is_taken),
           field<6>("stack", &stacks_answer::group::stack, as::text),
           field<7>("rest", &stacks_answer::group::rest, as::text));

template <>
inline constexpr auto record_of<stacks_answer> = message<41>("stacks",
           field<1>("number", &stacks_answer::number),
           field<2>("complete", &stacks_answer::complete),
           field<3>("age_ms", &stacks_answer::age, as::milliseconds),
           field<4>("wanted", &stacks_answer::wanted),
           field<5>("more", &stacks_answer::more),
           field<6>("groups", &stacks_answer::groups));

template <>
inline constexpr auto record_of<waiting> = message<27>("waiting",
           field<1>("request", &waiting::request),
           field<2>("text", &waiting::text, as::text));

template <>
inline constexpr auto record_of<tasks_answer> = message<36>("tasks",
           field<1>("version", &tasks_answer::version),
           field<2>("tasks", &tasks_answer::tasks));

template <>
inline constexpr auto record_of<epoch_ends> = message<37>("epoch_ends",
           field<1>("epoch", &epoch_ends::epoch),
           field<2>("why", &epoch_ends::why),
           field<3>("text", &epoch_ends::text, as::text),
           field<4>("joiners", &epoch_ends::joiners));

template <>
inline constexpr auto record_of<epoch_members_answer::member> =
    part(field<1>("member", &epoch_members_answer::member::name),
           field<2>("incarnation", &epoch_members_answer::member::self),
           field<3>("label", &epoch_members_answer::member::label, as::text),
           field<4>("peer", &epoch_members_answer::member::peer, as::text),
           field<5>("survivor", &epoch_members_answer::member::survivor));

template <>
inline constexpr auto record_of<epoch_members_answer> = message<39>("epoch_members",
           field<1>("epoch", &epoch_members_answer::epoch),
           field<2>("members", &epoch_members_answer::members),
           field<3>("next_task", &epoch_members_answer::next_task));

}  // namespace coxswain::core
