// Snapshots of a coordinator: it goes on as before, and damaged ones are refused. The simulation
// checks every step of whole jobs.

#include "coxswain/base/little_endian.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"
#include "tests/core/cluster.hpp"
#include "tests/wire/live_bytes.hpp"

#include <string>
#include <string_view>

namespace coxswain::test {
namespace {

// A coordinator in which something of each kind waits, is kept or is owed.
struct busy_job {
  static core::config options() {
    core::config some;
    some.recoverable = true;
    some.leave_together = true;
    some.progress_timeout = 1h;
    some.num_tasks = 3;
    return some;
  }

  busy_job() {
    c.barrier(0, "failed", 1s);
    c.pass(2s);  // its outcome is owed to the others
    c.barrier(0, "open", 60s, {.gather = "data"});
    c.count_barrier(1, "count", 3, 60s);
    c.put(0, "a/b", "value");
    c.put_owned(1, "mine", "ephemeral");
    c.get(1, "missing", 60s);
    c.get_all(1, {"a/b", "other"}, 60s);
    c.watch_keys(1, "a", {}, 60s);
    c.push(0, "queue", "item");
    c.pop(2, "queue", 60s);
    c.pop(2, "empty", 60s);
    c.lock(0, "lock");
    c.lock(1, "lock", 60s);
    c.exchange(2, "cpu", {}, 60s);
    c.send(0, core::report_progress_args{7});
    c.send(2, core::alive_args{{task_id{1}, task_id{2}}, 60s});
    c.send(c.observer(), core::watch_events_args{c.logic().last_event(), core::severity::error});
    c.preempt(0, 1, 1h);
    c.lose(2);
  }

  [[nodiscard]] result<core::coordinator> loaded(std::string_view from,
                                                 time_point started = t0) const {
    return core::coordinator::load(options(), from, started);
  }

  cluster c{3, options()};
};

// With the digest that these bytes should have at their end.
std::string sealed(std::string_view bytes) {
  return std::string{bytes} + to_little_endian(core::digest_of(bytes));
}

std::string_view without_digest(std::string_view snapshot) {
  return snapshot.substr(0, snapshot.size() - number_bytes);
}

BOOST_AUTO_TEST_SUITE(snapshot_test)

BOOST_FIXTURE_TEST_CASE(a_loaded_coordinator_is_the_same_and_goes_on, busy_job) {
  auto const used = c.logic().memory()->used();
  auto const held = c.logic().held_by(core::share_kind::task);
  auto const before = c.look();
  c.reload();

  BOOST_TEST(c.logic().memory()->used() == used);
  BOOST_TEST(c.logic().held_by(core::share_kind::task) == held);
  BOOST_TEST((c.look() == before));
  c.resume(2);
  BOOST_TEST(c.code(c.barrier(1, "failed")) == "DEADLINE_EXCEEDED");
  auto const last = c.barrier(1, "open", 60s, {.gather = "more"});
  BOOST_TEST(c.round(c.barrier(2, "open", 60s, {.gather = "end"})) == "round 1: data|more|end");
  BOOST_TEST(c.round(last) == "round 1: data|more|end");
  BOOST_TEST(c.version(c.put(0, "last", "")) == "3");
  BOOST_TEST(c.listing(c.list(0, "a")) == "a/b=value");
}

BOOST_FIXTURE_TEST_CASE(deadlines_go_on_after_a_reload, job<2>) {
  auto const waits = c.barrier(0, "b", 30s);
  c.pass(10s).reload();

  BOOST_TEST(c.pass(20s - 1ns).code(waits) == "waits");
  BOOST_TEST(c.pass(1ns).code(waits) == "DEADLINE_EXCEEDED");
}

BOOST_FIXTURE_TEST_CASE(the_digest_does_not_depend_on_the_clock, busy_job) {
  auto const later = loaded(c.snapshot(), t0 + 100h);

  BOOST_TEST_REQUIRE(later.has_value());
  BOOST_TEST(later->digest() == c.logic().digest());
  BOOST_TEST((later->uptime() == c.logic().uptime()));
  BOOST_TEST((*later->next_deadline() == *c.logic().next_deadline() + 100h));
}

BOOST_FIXTURE_TEST_CASE(the_digest_distinguishes_states, job<1>) {
  auto const before = c.logic().digest();
  BOOST_TEST(c.logic().digest() == before);
  c.increment(0, "n", 1);
  auto const after = c.logic().digest();

  BOOST_TEST(after != before);
}

BOOST_FIXTURE_TEST_CASE(a_snapshot_needs_the_same_options_but_for_tokens_and_version, busy_job) {
  std::string const saved = c.snapshot();
  auto given = options();
  given.version = "9.9.9";
  given.credentials = {{core::role::worker, "a secret token"}};
  auto const other = core::coordinator::load(given, saved, t0);
  BOOST_TEST_REQUIRE(other.has_value());
  std::string again;
  other->save([&](std::string_view bytes) { again += bytes; });
  BOOST_TEST(again == saved);
  BOOST_TEST(other->options().version == "9.9.9");

  given.heartbeat_timeout = 7s;
  auto const refused = core::coordinator::load(given, saved, t0);
  BOOST_TEST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().code() == errc::failed_precondition);
  BOOST_TEST(refused.error().message() ==
             "the snapshot was made with another value of the option heartbeat_timeout; start with "
             "the same options, or without the snapshot");
}

BOOST_FIXTURE_TEST_CASE(a_snapshot_that_is_cut_anywhere_is_refused, busy_job) {
  std::string const saved = c.snapshot();
  for (std::size_t size = 0; size < saved.size(); ++size) {
    auto const cut = std::string_view{saved}.substr(0, size);
    for (std::string const& given : {std::string{cut}, sealed(cut)}) {
      auto const made = loaded(given);
      if (given == saved) continue;
      BOOST_TEST_REQUIRE(!made.has_value(), "cut to " << size << " bytes");
      BOOST_TEST(made.error().code() == errc::data_loss);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_snapshot_with_a_changed_byte_is_refused, busy_job) {
  std::string saved = c.snapshot();
  for (std::size_t i = 0; i < saved.size(); ++i) {
    char const was = saved[i];
    saved[i] = static_cast<char>(was ^ (1 << i % 8));
    auto const made = loaded(saved);
    saved[i] = was;
    BOOST_TEST_REQUIRE(!made.has_value(), "byte " << i);
    BOOST_TEST(made.error().code() == errc::data_loss);
  }
}

// As long as nobody uses what was loaded, it does no harm either.
BOOST_FIXTURE_TEST_CASE(a_changed_byte_without_a_digest_does_no_harm, busy_job) {
  std::string const saved = c.snapshot();
  std::string bytes{without_digest(saved)};
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int const change : {1 << i % 8, 0xff, 0x80}) {
      char const was = bytes[i];
      bytes[i] = static_cast<char>(was ^ change);
      std::string const given = sealed(bytes);
      bytes[i] = was;
      watch_peak();
      std::size_t const before = live_bytes();
      refused += loaded(given).has_value() ? 0 : 1;
      BOOST_TEST_REQUIRE(peak_bytes() - before < 64 * given.size() + 1024 * 1024, "byte " << i);
    }
  }
  BOOST_TEST(refused > bytes.size());
}

BOOST_FIXTURE_TEST_CASE(output_that_was_not_taken_is_part_of_the_state, job<1>) {
  auto& logic = c.logic();
  core::session_secret const secret{};
  auto const id = logic.connected(t0 + c.now(), "10.0.0.9:1", secret);
  logic.malformed(t0 + c.now(), id, "garbage");
  BOOST_TEST_REQUIRE(logic.unsent() == 1u);
  auto again = core::coordinator::load(logic.options(), c.snapshot(), t0);
  BOOST_TEST_REQUIRE(again.has_value());

  std::vector<core::outgoing> was;
  std::vector<core::outgoing> is;
  logic.take_outgoing(was);
  again->take_outgoing(is);
  BOOST_TEST_REQUIRE(is.size() == 1u);
  BOOST_TEST((*is[0].what == *was[0].what && is[0].to == was[0].to));
  BOOST_TEST(again->digest() == logic.digest());
  logic.lost(t0 + c.now(), id, core::loss::closed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
