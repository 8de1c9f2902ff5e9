// The Prometheus text: exact, and accepted by promtool.

#include "coxswain/status/metrics.hpp"

#include "coxswain/base/error.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace coxswain::status_page {
namespace {

std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool contains_line(std::string const& text, std::string const& line) {
  auto const lines = lines_of(text);
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

// The header and samples of one family, as written.
std::string family(std::string const& text, std::string const& name) {
  std::string found;
  std::regex const of_it{"(# (HELP|TYPE) )?coxswain_" + name + "(_bucket|_sum|_count)?[ {].*"};
  for (auto const& line : lines_of(text)) {
    if (std::regex_match(line, of_it)) found += line + '\n';
  }
  return found;
}

core::snapshot::task task_in(task_state state, bool suspect = false) {
  return {.state = state, .suspect = suspect};
}

core::snapshot::barrier barrier_of(core::snapshot::kind what) { return {.what = what}; }

core::snapshot some_job() {
  core::snapshot job{.version = "1.2.3"};
  job.tasks = {task_in(task_state::connected), task_in(task_state::connected, true),
               task_in(task_state::connected), task_in(task_state::failed)};
  job.more_barriers = 7;
  job.barriers = {barrier_of(core::snapshot::kind::tasks), barrier_of(core::snapshot::kind::tasks),
                  barrier_of(core::snapshot::kind::leave)};
  job.error = job_error{};
  job.keys = 3;
  job.key_bytes = 4096;
  job.sessions = 5;
  job.waiting_gets = 6;
  job.memory_bytes = 8'000'000'000;
  job.memory_bytes_max = 16'000'000'000;
  job.queued_items = 7;
  job.waiting_pops = 8;
  job.waiting_key_watches = 9;
  job.locks_held = 10;
  job.waiting_locks = 11;
  job.spares_waiting = 12;
  job.stuck_tasks = 2;
  job.tasks[0].progress = core::task_progress{7, 90s, true};
  job.tasks[2].progress = core::task_progress{7, 1s, false};
  job.tasks[3].progress = core::task_progress{7, 90s, true};  // it has failed
  job.barriers[1].age = 90s;
  job.barriers[1].expected = 4;
  job.barriers[1].arrived = 1;
  job.stragglers = {{task_id{2}, 40, 1500ms, 3s, 64}, {task_id{0}, 24, 1ms, 1ms, 64}};
  return job;
}

server::statistics some_counts() {
  server::statistics s{.started = std::chrono::system_clock::time_point{1'795'309'303s + 250ms},
                       .connections = 11,
                       .connections_max = 1000,
                       .connections_accepted = 12,
                       .connections_refused = 1,
                       .relays = 13,
                       .routes = 14,
                       .routes_paused = 3,
                       .routes_opened = 15,
                       .exits_reported = 16,
                       .replies_shared = 17,
                       .handshakes = 8,
                       .handshakes_failed = 9,
                       .bytes_received = 123'456'789'012,
                       .bytes_sent = 2,
                       .frames_received = 3,
                       .frames_sent = 4,
                       .sends = 5,
                       .queued_bytes = 6,
                       .queued_messages = 7,
                       .transit_bytes = 5'000,
                       .shares = {1'000, 2'000, 3'000}};  // readers, observers, tasks
  s.loop_lag.record(20us);
  s.iterations.record(100us);
  s.iteration_max = 2500us;
  s.waits.record(1);
  s.waits.record(300);
  s.worker_wait_max = 2;
  s.steps_max = 3000;
  s.core.steps = 77;
  s.releases.record(5ms);
  s.core.count_request(core::operation_id<core::barrier_args>, errc::ok);
  s.core.count_request(core::operation_id<core::barrier_args>, errc::deadline_exceeded);
  s.core.count_round(errc::ok, 2s);
  s.core.count_round(errc::internal, 1h);
  s.core.lateness.record(1ms);
  s.core.heartbeats_expired = 2;
  s.core.graces_expired = 3;
  s.core.leases_expired = 5;
  s.core.leases_returned = 6;
  s.core.stalls = 4;
  s.core.stalled = 1500ms;
  return s;
}

process_usage some_usage() { return {12.5, 1'795'309'302, 4096, 8192, 30, 1024, 3}; }

std::string some_text() { return metrics(some_counts(), some_job(), some_usage()); }

struct strict_reader {
  std::map<std::string, std::string> types;  // by family
  std::set<std::string> helped;
  std::set<std::string> samples;  // names and labels

  void read(std::string const& line) {
    static std::regex const help{"# HELP ([a-z_]+) ([^\\\\]+\\.)"};
    static std::regex const type{"# TYPE ([a-z_]+) (counter|gauge|histogram)"};
    static std::regex const sample{
        "([a-z_]+)(\\{([a-z]+=\"[^\"\\\\]*\",?)+\\})? ([-+]?[0-9.]+(e[-+]?[0-9]+)?)"};
    std::smatch m;
    if (std::regex_match(line, m, help)) {
      BOOST_TEST(helped.insert(m[1]).second, line);
    } else if (std::regex_match(line, m, type)) {
      BOOST_TEST(types.emplace(m[1], m[2]).second, line);
    } else if (std::regex_match(line, m, sample)) {
      BOOST_TEST(samples.insert(m[1].str() + m[2].str()).second, line);
      check_name(m[1]);
    } else {
      BOOST_ERROR("no line of the format: " + line);
    }
  }

 private:
  // Each sample belongs to a declared family and has the name its type requires.
  void check_name(std::string const& name) {
    static std::regex const part{"(_bucket|_sum|_count)$"};
    std::string const family = std::regex_replace(name, part, "");
    bool const of_histogram = family != name && types.contains(family);
    auto const at = types.find(of_histogram ? family : name);
    BOOST_TEST_REQUIRE((at != types.end()), name);
    BOOST_TEST(helped.contains(at->first), name);
    BOOST_TEST((name.starts_with("coxswain_") || name.starts_with("process_")), name);
    BOOST_TEST((at->second == "histogram") == of_histogram, name);
    BOOST_TEST((at->second == "counter") == name.ends_with("_total"), name);
  }
};

// The output of `promtool check metrics`; none without promtool.
std::string violations(std::string const& text) {
  if (std::system("command -v promtool >/dev/null") != 0) return {};
  std::string const result = "metrics_test.promtool";
  FILE* const tool = ::popen(("promtool check metrics >" + result + " 2>&1").c_str(), "w");
  std::fwrite(text.data(), 1, text.size(), tool);
  int const code = ::pclose(tool);
  std::string given = code == 0 ? "" : "promtool failed\n";
  if (FILE* const in = std::fopen(result.c_str(), "r")) {
    for (int c = std::fgetc(in); c != EOF; c = std::fgetc(in)) given += static_cast<char>(c);
    std::fclose(in);
    std::remove(result.c_str());
  }
  return given;
}

BOOST_AUTO_TEST_SUITE(metrics_test)

BOOST_AUTO_TEST_CASE(every_line_follows_the_text_format) {
  auto const text = some_text();
  BOOST_TEST(text.ends_with('\n'));
  strict_reader reader;

  for (auto const& line : lines_of(text)) reader.read(line);

  BOOST_TEST(reader.types.size() == reader.helped.size());
  BOOST_TEST(reader.types.size() > 30u);
}

BOOST_AUTO_TEST_CASE(promtool_accepts_the_metrics) {
  BOOST_TEST(violations(some_text()) == "");
  BOOST_TEST(violations(metrics({}, {}, {})) == "");
}

BOOST_AUTO_TEST_CASE(version_and_start_time_are_reported) {
  auto const text = some_text();

  BOOST_TEST(family(text, "build_info") ==
             "# HELP coxswain_build_info Always 1; the version of the coordinator.\n"
             "# TYPE coxswain_build_info gauge\n"
             "coxswain_build_info{version=\"1.2.3\"} 1\n");
  BOOST_TEST(contains_line(text, "coxswain_start_time_seconds 1795309303.25"));
}

BOOST_AUTO_TEST_CASE(tasks_are_counted_once_each_by_state) {
  BOOST_TEST(
      family(some_text(), "tasks") ==
      "# HELP coxswain_tasks Tasks of the job by state; suspect tasks do not count as connected.\n"
      "# TYPE coxswain_tasks gauge\n"
      "coxswain_tasks{state=\"never_connected\"} 0\n"
      "coxswain_tasks{state=\"joining\"} 0\n"
      "coxswain_tasks{state=\"connected\"} 2\n"
      "coxswain_tasks{state=\"failed\"} 1\n"
      "coxswain_tasks{state=\"left\"} 0\n"
      "coxswain_tasks{state=\"returning\"} 0\n"
      "coxswain_tasks{state=\"suspect\"} 1\n");
}

BOOST_AUTO_TEST_CASE(open_barriers_are_counted_by_kind) {
  BOOST_TEST(family(some_text(), "open_barriers") ==
             "# HELP coxswain_open_barriers Open barriers by kind; unlisted: those beyond a "
             "thousand, of any kind.\n"
             "# TYPE coxswain_open_barriers gauge\n"
             "coxswain_open_barriers{kind=\"tasks\"} 2\n"
             "coxswain_open_barriers{kind=\"count\"} 0\n"
             "coxswain_open_barriers{kind=\"join\"} 0\n"
             "coxswain_open_barriers{kind=\"leave\"} 1\n"
             "coxswain_open_barriers{kind=\"topology\"} 0\n"
             "coxswain_open_barriers{kind=\"unlisted\"} 7\n");
}

BOOST_AUTO_TEST_CASE(requests_are_counted_by_operation_and_code) {
  auto const text = some_text();

  BOOST_TEST(contains_line(text, "coxswain_requests_total{op=\"barrier\",code=\"OK\"} 1"));
  BOOST_TEST(
      contains_line(text, "coxswain_requests_total{op=\"barrier\",code=\"DEADLINE_EXCEEDED\"} 1"));
  BOOST_TEST(contains_line(text, "coxswain_requests_total{op=\"get\",code=\"OK\"} 0"));
  BOOST_TEST(text.find("op=\"get\",code=\"NOT_FOUND\"") == text.npos);
}

BOOST_AUTO_TEST_CASE(a_histogram_counts_each_bucket_with_those_below_it) {
  BOOST_TEST(family(some_text(), "barrier_wait_seconds") ==
             "# HELP coxswain_barrier_wait_seconds From the first arrival at a barrier of tasks to "
             "the end of the round.\n"
             "# TYPE coxswain_barrier_wait_seconds histogram\n"
             "coxswain_barrier_wait_seconds_count 2\n"
             "coxswain_barrier_wait_seconds_sum 3602\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"1e-05\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"2.5e-05\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"5e-05\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.0001\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.00025\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.0005\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.001\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.0025\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.005\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.01\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.025\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.05\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.1\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.25\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"0.5\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"1\"} 0\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"2.5\"} 1\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"5\"} 1\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"10\"} 1\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"30\"} 1\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"60\"} 1\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"300\"} 1\n"
             "coxswain_barrier_wait_seconds_bucket{le=\"+Inf\"} 2\n");
}

BOOST_AUTO_TEST_CASE(every_counter_is_reported) {
  auto const text = some_text();

  for (auto const* const line : {"job_failed 1",
                                 "sessions 5",
                                 "waiting_gets 6",
                                 "waiting_pops 8",
                                 "waiting_key_watches 9",
                                 "locks_held 10",
                                 "waiting_locks 11",
                                 "spares 12",
                                 "keys 3",
                                 "key_bytes 4096",
                                 "queue_items 7",
                                 "memory_bytes 8000000000",
                                 "memory_limit_bytes 16000000000",
                                 "memory_class_bytes{class=\"readers\"} 1000",
                                 "memory_class_bytes{class=\"observers\"} 2000",
                                 "memory_class_bytes{class=\"tasks\"} 3000",
                                 "memory_class_bytes{class=\"stored\"} 7999994000",
                                 "memory_class_bytes{class=\"transit\"} 5000",
                                 "barrier_rounds_total{code=\"OK\"} 1",
                                 "barrier_rounds_total{code=\"INTERNAL\"} 1",
                                 "sessions_expired_total{cause=\"grace\"} 3",
                                 "sessions_expired_total{cause=\"heartbeat\"} 2",
                                 "connections 11",
                                 "connections_limit 1000",
                                 "connections_accepted_total 12",
                                 "connections_refused_total 1",
                                 "relays 13",
                                 "routes 14",
                                 "routes_paused 3",
                                 "routes_opened_total 15",
                                 "relay_exits_total 16",
                                 "shared_replies_total 17",
                                 "tls_handshakes 8",
                                 "tls_handshakes_failed_total 9",
                                 "received_bytes_total 123456789012",
                                 "sent_bytes_total 2",
                                 "received_messages_total 3",
                                 "sent_messages_total 4",
                                 "sends_total 5",
                                 "send_queue_bytes 6",
                                 "send_queue_waiting_messages 7",
                                 "deadline_lateness_seconds_count 1",
                                 "loop_lag_seconds_count 1",
                                 "loop_iteration_seconds_count 1",
                                 "loop_iteration_max_seconds 0.0025",
                                 "connection_wait_iterations_bucket{le=\"1\"} 1",
                                 "connection_wait_iterations_bucket{le=\"256\"} 1",
                                 "connection_wait_iterations_bucket{le=\"1024\"} 2",
                                 "connection_wait_iterations_sum 301",
                                 "worker_wait_iterations_max 2",
                                 "loop_iteration_steps_max 3000",
                                 "work_steps_total 77",
                                 "redeliveries_total{cause=\"expired\"} 5",
                                 "redeliveries_total{cause=\"returned\"} 6",
                                 "loop_stalls_total 4",
                                 "loop_stalled_seconds_total 1.5",
                                 "stuck_tasks 2",
                                 "tasks_without_progress 1",
                                 "tasks{state=\"suspect\"} 1",
                                 "tasks{state=\"failed\"} 1",
                                 "oldest_barrier_missing_tasks 3",
                                 "oldest_barrier_age_seconds 90",
                                 "straggler_rounds 40",
                                 "straggler_rounds_observed 64",
                                 "straggler_lag_seconds 1.5",
                                 "barrier_release_seconds_count 1"}) {
    BOOST_TEST(contains_line(text, std::string{"coxswain_"} + line), line);
  }
}

BOOST_AUTO_TEST_CASE(process_metrics_have_the_standard_names) {
  auto const text = some_text();

  for (auto const* const line :
       {"process_cpu_seconds_total 12.5", "process_start_time_seconds 1795309302",
        "process_resident_memory_bytes 4096", "process_virtual_memory_bytes 8192",
        "process_open_fds 30", "process_max_fds 1024", "process_threads 3"}) {
    BOOST_TEST(contains_line(text, line), line);
  }
}

BOOST_AUTO_TEST_CASE(process_metrics_are_those_of_this_process) {
  auto const now = usage_of_this_process();

  BOOST_TEST(now.cpu_seconds > 0);
  BOOST_TEST(now.resident_bytes > 0u);
  BOOST_TEST(now.virtual_bytes > now.resident_bytes);
  BOOST_TEST(now.open_descriptors >= 3u);
  BOOST_TEST(now.descriptors_max >= now.open_descriptors);
  BOOST_TEST(now.threads >= 1u);
  auto const since_start =
      std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count() -
      now.started_unix_s;
  BOOST_TEST(since_start > -2);  // the boot time is known in whole seconds only
  BOOST_TEST(since_start < 24 * 60 * 60);
}

BOOST_AUTO_TEST_CASE(the_job_error_metric_is_zero_without_an_error) {
  BOOST_TEST(contains_line(metrics({}, {}, {}), "coxswain_job_failed 0"));
}

BOOST_AUTO_TEST_CASE(the_number_of_series_does_not_depend_on_the_job_size) {
  auto large = some_job();
  large.tasks.resize(10'000);

  BOOST_TEST(lines_of(metrics(some_counts(), large, some_usage())).size() ==
             lines_of(some_text()).size());
}

BOOST_AUTO_TEST_CASE(a_leader_has_metrics) {
  auto job = some_job();
  BOOST_TEST(metrics({}, job, {}).find("coxswain_leader") == std::string::npos);
  job.leader = {"a:8476", 3, 2, 4'096, 1500ms};

  auto const text = metrics({}, job, {});
  for (auto const* const line : {"leader 1", "term 3", "replication_lag_entries 2",
                                 "replication_lag_bytes 4096", "replication_lag_seconds 1.5"}) {
    BOOST_TEST(contains_line(text, "coxswain_" + std::string{line}), line);
  }
}

BOOST_AUTO_TEST_CASE(a_journal_has_metrics) {
  server::statistics counted;
  BOOST_TEST(metrics(counted, some_job(), {}).find("coxswain_journal") == std::string::npos);
  counted.journal = server::journal_statistics{.bytes_written = 10,
                                               .bytes_on_disk = 20,
                                               .lacks_space = true,
                                               .unsynchronized_bytes = 30,
                                               .synchronizing = 1500ms,
                                               .snapshots = 4,
                                               .snapshots_failed = 5,
                                               .snapshot_bytes = 60,
                                               .snapshot_age = 7s,
                                               .snapshot_stall_max = 8ms};
  counted.journal->synchronizations.record(4ms);
  auto const text = metrics(counted, some_job(), {});
  for (auto const* const line :
       {"journal_written_bytes_total 10", "journal_bytes 20", "journal_lacks_space 1",
        "journal_unsynchronized_bytes 30", "journal_synchronization_seconds_count 1",
        "journal_synchronizing_seconds 1.5", "journal_snapshots_total{result=\"ok\"} 4",
        "journal_snapshots_total{result=\"failed\"} 5", "journal_snapshot_bytes 60",
        "journal_snapshot_age_seconds 7", "journal_snapshot_stall_max_seconds 0.008"}) {
    BOOST_TEST(contains_line(text, "coxswain_" + std::string{line}), line);
  }
}

BOOST_AUTO_TEST_CASE(calls_of_jax_processes_are_counted_by_method) {
  server::statistics counted;
  counted.jax_connections = 2;
  counted.jax_calls = {{"Barrier", 5, 2}};
  auto const text = metrics(counted, some_job(), {});
  BOOST_TEST(contains_line(text, "coxswain_jax_connections 2"));
  BOOST_TEST(contains_line(text, "coxswain_jax_calls_total{method=\"Barrier\",result=\"ok\"} 3"));
  BOOST_TEST(
      contains_line(text, "coxswain_jax_calls_total{method=\"Barrier\",result=\"failed\"} 2"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
