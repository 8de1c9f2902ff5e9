#include "coxswain/core/model/operations.hpp"

#include "coxswain/core/access/credential.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

namespace coxswain::core {
namespace {

template <class... Args>
struct requests {
  static constexpr std::size_t size = sizeof...(Args);

  static void expect(role needed) {
    for (auto const& what : {request{Args{}}...}) {
      BOOST_TEST((row_of(what).needed == needed), what.index());
    }
  }
};

using everybody =
    requests<std::monostate, hello_args, resume_args, bye_args, cancel_args, ask_waiting_args>;
using readers = requests<get_args, try_get_args, get_all_args, list_args, count_keys_args,
                         watch_keys_args, inspect_args, alive_args, watch_tasks_args,
                         watch_events_args, why_args, epoch_members_args, report_stack_args>;
using operators =
    requests<put_args, put_all_args, compare_and_set_args, append_args, increment_args, remove_args,
             remove_tree_args, push_args, pop_args, count_barrier_args, cancel_barrier_args,
             preempt_args, lock_args, try_lock_args, unlock_args, resize_args, take_args,
             update_lease_args, end_job_args, stacks_args>;
using workers = requests<join_args, leave_args, barrier_args, report_error_args, reset_args,
                         report_progress_args, grant_args, frozen_args, exchange_topology_args,
                         next_epoch_args>;

static_assert(everybody::size + readers::size + operators::size + workers::size ==
              std::variant_size_v<request>);

}  // namespace

BOOST_AUTO_TEST_SUITE(access_test)

BOOST_AUTO_TEST_CASE(each_request_needs_one_role) {
  everybody::expect(role::reader);
  readers::expect(role::reader);
  operators::expect(role::operator_);
  workers::expect(role::worker);
}

BOOST_AUTO_TEST_CASE(a_role_includes_all_lower_roles_except_a_relay_that_only_reads) {
  using enum role;
  struct row {
    role mine;
    std::vector<role> includes;
  };
  for (auto const& one : {row{reader, {reader}}, row{operator_, {reader, operator_}},
                          row{worker, {reader, operator_, worker}}, row{relay, {reader}}}) {
    for (role const needed : {reader, operator_, worker}) {
      bool const includes = std::ranges::find(one.includes, needed) != one.includes.end();
      BOOST_TEST(permission(one.mine, needed, "act").ok() == includes, name(one.mine)
                                                                           << " " << name(needed));
    }
  }
  BOOST_TEST(permission(reader, operator_, "put keys").text() ==
             "PERMISSION_DENIED: role 'reader' may not put keys; that needs a token of role "
             "'operator'");
}

BOOST_AUTO_TEST_CASE(a_role_is_found_by_its_name) {
  for (role const r : {role::reader, role::operator_, role::worker, role::relay}) {
    BOOST_TEST((role_named(name(r)) == r));
  }
  BOOST_TEST(!role_named("captain"));
  BOOST_TEST(!role_named(""));
}

BOOST_AUTO_TEST_CASE(credential_lookup_compares_the_whole_token) {
  std::vector<credential> const known{{role::reader, "a"}, {role::worker, "ab"}};

  BOOST_TEST(credential_of(known, "a").value() == 0u);
  BOOST_TEST(credential_of(known, "ab").value() == 1u);
  BOOST_TEST(!credential_of(known, "abc"));
}

BOOST_AUTO_TEST_CASE(an_empty_token_is_refused) {
  BOOST_TEST(!credential_of({{role::worker, ""}}, ""));
  BOOST_TEST(!credential_of({}, ""));
}

BOOST_AUTO_TEST_CASE(tokens_must_not_be_empty_or_repeated) {
  using all = std::vector<credential>;
  BOOST_TEST(check(all{}).ok());
  BOOST_TEST(check(all{{role::worker, "a"}, {role::worker, "b"}}).ok());
  BOOST_TEST(states(check(all{{role::worker, ""}}), &reasons::empty_token));
  BOOST_TEST(
      states(check(all{{role::worker, "a"}, {role::reader, "a"}}), &reasons::duplicate_token));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::core
