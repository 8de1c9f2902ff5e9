// What a session may do by its token: §3.1.

#include "coxswain/core/model/operations.hpp"
#include "tests/core/cluster.hpp"

#include <array>
#include <type_traits>

namespace coxswain::test {
namespace {

constexpr std::array all_roles{core::role::reader, core::role::operator_, core::role::worker,
                               core::role::relay};

// A job of two tasks with one token per role, named after the role.
class fixture {
 protected:
  int session(std::string token) {
    core::hello_args hello{.token = std::move(token)};
    hello.relay = hello.token == "relay";
    return c.hello(std::move(hello));
  }

  static core::config guarded() {
    core::config made{.join_barrier = false};
    for (auto const r : all_roles) {
      made.credentials.push_back({r, std::string{name(r)}});
    }
    return made;
  }

  cluster c{cluster::without_clients(2, guarded())};
};

// Calls `each` with an empty request of every kind that has a reply.
template <std::size_t index = 0, class Each>
void for_each_call(Each each) {
  if constexpr (index < std::variant_size_v<core::request>) {
    using args = std::variant_alternative_t<index, core::request>;
    if constexpr (std::is_same_v<args, core::end_job_args>) {
      each(core::request{args{core::job_end::drain, ""}});  // a stop would end the other calls
    } else if constexpr (core::is_numbered<args>) {
      each(core::request{args{}});
    }
    for_each_call<index + 1>(each);
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(coordinator_roles_test, fixture)

BOOST_AUTO_TEST_CASE(the_token_decides_the_role) {
  BOOST_TEST((c[session("reader")].hello->given == core::role::reader));
  BOOST_TEST((c[session("operator")].hello->given == core::role::operator_));
  BOOST_TEST((c[session("worker")].hello->given == core::role::worker));
  expect_words(c.goodbye(session("captain")), {"UNAUTHENTICATED", "--token-file FILE"});
  expect_words(c.goodbye(session("")), {"UNAUTHENTICATED", "sent none", "COXSWAIN_TOKEN"});
}

BOOST_AUTO_TEST_CASE(without_tokens_every_client_is_a_worker) {
  auto open = cluster::without_clients(1);

  BOOST_TEST((open[open.observer()].hello->given == core::role::worker));
}

BOOST_AUTO_TEST_CASE(each_call_is_refused_to_lower_roles_and_all_but_reads_to_relays) {
  for (auto const mine : all_roles) {
    for_each_call([&](core::request const& what) {
      int const who = session(std::string{name(mine)});
      auto const call = c.send(who, what, 0s);

      bool const is_refused = c.code(call) == "PERMISSION_DENIED";
      auto const needed = core::row_of(what).needed;
      bool const is_above =
          mine == core::role::relay ? needed != core::role::reader : mine < needed;
      BOOST_TEST(is_refused == is_above, name(mine) << " " << core::row_of(what).name);
    });
  }
}

BOOST_AUTO_TEST_CASE(a_session_survives_a_refused_request) {
  int const reader = session("reader");
  int const op = session("operator");
  c.put(op, "k", "1");

  auto const put = c.put(reader, "k", "2", true);
  auto const get = c.get(reader, "k");

  BOOST_TEST(c.text(put) ==
             "role 'reader' may not put keys; that needs a token of role 'operator'");
  BOOST_TEST(c.value(get) == "1");
}

BOOST_AUTO_TEST_CASE(a_reader_has_a_lower_limit_of_keys_per_call) {
  c.put(session("operator"), "k", "1");
  int const reader = session("reader");
  int const worker = session("worker");
  auto const get_all = [&](int who, std::size_t count) {
    return c.send(who, core::get_all_args{std::vector<std::string>(count, "k")});
  };

  BOOST_TEST(c.code(get_all(reader, 1'024)) == "OK");
  BOOST_TEST(c.code(get_all(worker, 1'025)) == "OK");
  auto const refused = get_all(reader, 1'025);
  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"1025 keys", "keys_per_reader_call_max is 1024"});
}

BOOST_AUTO_TEST_CASE(a_reader_has_a_lower_limit_of_open_requests) {
  int const reader = session("reader");
  int const worker = session("worker");
  for (int i = 0; i < 256; ++i) {
    c.get(reader, "k");
    c.get(worker, "k");
  }

  BOOST_TEST(c[reader].hello->open_requests_max == 256u);
  BOOST_TEST(c[worker].hello->open_requests_max == 4'096u);
  BOOST_TEST(c.code(c.get(worker, "k")) == "waits");
  auto const refused = c.get(reader, "k");
  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"256 requests", "open_requests_max_per_reader"});
}

BOOST_AUTO_TEST_CASE(a_resumed_session_keeps_its_role) {
  int const reader = session("reader");

  c.blink(reader);

  BOOST_TEST(c.code(c.put(reader, "k", "v")) == "PERMISSION_DENIED");
  BOOST_TEST(c.code(c.inspect(reader)) == "OK");
}

BOOST_AUTO_TEST_CASE(replaced_tokens_apply_to_new_sessions_only) {
  int const before = session("worker");

  BOOST_TEST((c.logic()
                  .put_in(t0 + c.now(), core::credentials_replaced{{{core::role::reader, "worker"},
                                                                    {core::role::worker, "new"}}})
                  .ok()));
  c.blink(before);

  BOOST_TEST(c.code(c.put(before, "k", "v")) == "OK");
  BOOST_TEST((c[session("worker")].hello->given == core::role::reader));
  BOOST_TEST((c[session("new")].hello->given == core::role::worker));
  BOOST_TEST(contains(c.goodbye(session("operator")), "UNAUTHENTICATED"));
}

BOOST_AUTO_TEST_CASE(an_operator_can_cancel_a_barrier_of_workers) {
  int const zero = session("worker");
  c.join({zero, 0}, 100);
  auto const waits = c.barrier({zero, 0}, "b");

  BOOST_TEST(c.code(c.cancel(session("reader"), "b")) == "PERMISSION_DENIED");
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.code(c.cancel(session("operator"), "b")) == "OK");

  BOOST_TEST(c.code(waits) == "CANCELLED");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
