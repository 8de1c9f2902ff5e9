#pragma once
// A coordinator for two recoverable tasks, and shorthands for the C functions. Of the client only
// coxswain.h is used.

#include "coxswain/c/coxswain.h"
#include "coxswain/server/background_server.hpp"
#include "coxswain/server/server.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace coxswain::test {

constexpr std::int64_t long_enough = 600'000;

inline coxswain_string c_string(std::string_view text) { return {text.data(), text.size()}; }

inline std::string text_of(coxswain_string s) { return {s.data, s.size}; }

// The status of a call as "OK" or its text; destroys it.
inline std::string outcome_text(coxswain_status* outcome) {
  auto text = text_of(coxswain_status_message(outcome));
  coxswain_status_destroy(outcome);
  return text;
}

// Only the code.
inline int code(coxswain_status* outcome) {
  int const number = coxswain_status_code(outcome);
  coxswain_status_destroy(outcome);
  return number;
}

template <auto destroy>
struct destroyed_by {
  template <class Handle>
  void operator()(Handle* h) const {
    destroy(h);
  }
};
using client_ptr = std::unique_ptr<coxswain_client, destroyed_by<coxswain_client_destroy>>;
using bytes_ptr = std::unique_ptr<coxswain_bytes, destroyed_by<coxswain_bytes_destroy>>;
using list_ptr =
    std::unique_ptr<coxswain_process_list, destroyed_by<coxswain_process_list_destroy>>;
using members_ptr =
    std::unique_ptr<coxswain_epoch_member_list, destroyed_by<coxswain_epoch_member_list_destroy>>;

class c_fixture {
 protected:
  c_fixture() : coordinator{server_options()} {}

  [[nodiscard]] coxswain_client_options options() const {
    coxswain_client_options made{};
    made.struct_size = sizeof made;
    made.address = c_string(coordinator.addresses().front());
    return made;
  }
  [[nodiscard]] coxswain_client_options options(std::uint32_t task) const {
    auto made = options();
    made.has_task = true;
    made.task = task;
    return made;
  }

  [[nodiscard]] static client_ptr connected(coxswain_client_options const& how) {
    coxswain_client* opened = nullptr;
    BOOST_TEST_REQUIRE(outcome_text(coxswain_client_connect(&how, &opened)) == "OK");
    return client_ptr{opened};
  }

  [[nodiscard]] client_ptr joined(std::uint32_t task) const {
    auto c = connected(options(task));
    BOOST_TEST_REQUIRE(outcome_text(coxswain_join(c.get(), long_enough, nullptr)) == "OK");
    return c;
  }

 private:
  static server::options server_options() {
    server::options made;
    made.core.num_tasks = 2;
    made.core.recoverable = true;
    made.core.join_barrier = false;
    made.linger = 1s;
    return made;
  }

 protected:
  server::background_server coordinator;
};

}  // namespace coxswain::test
