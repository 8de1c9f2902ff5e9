#pragma once
// Between C and C++: exceptions become statuses, C arguments are checked and converted, and results
// become what C owns.

#include "coxswain/base/error.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/c/coxswain.h"
#include "coxswain/client/blocking_client.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct coxswain_status {
  explicit coxswain_status(coxswain::status const& s) : code{s.code()}, text{s.text()} {}

  coxswain::errc code;
  std::string text;
};

struct coxswain_client {
  std::shared_ptr<coxswain::blocking_client> job;
  std::string epoch_address;
};

struct coxswain_bytes {
  std::string value;
};

namespace coxswain::c {

// Elements of C, whose texts `owner` has.
template <class Element, class Owner>
struct list_of {
  explicit list_of(Owner all) : owner{std::move(all)} {}

  Owner owner;
  std::vector<Element> elements;
};

template <class List>
auto data_of(List const* list) noexcept -> decltype(list->elements.data()) {
  return list ? list->elements.data() : nullptr;
}

template <class List>
std::size_t size_of(List const* list) noexcept {
  return list ? list->elements.size() : 0;
}

// Converts a result of the client for a C caller, who owns it if it is a pointer.
template <class T>
T for_c(T plain) {
  return plain;
}
inline std::uint64_t for_c(round_number round) { return round.value; }
inline coxswain_bytes* for_c(std::string value) { return new coxswain_bytes{std::move(value)}; }
coxswain_string_list* for_c(std::vector<std::string> all);
coxswain_key_list* for_c(std::vector<key_value> all);
coxswain_key_list* for_c(std::vector<key_change> all);
coxswain_wait_list* for_c(why_result all);
coxswain_process_list* for_c(std::vector<process> all);
coxswain_epoch_member_list* for_c(epoch_members all);

// A status that the caller destroys; NULL for OK. If memory is exhausted, a static one.
coxswain_status* given(status const& s) noexcept;
coxswain_status* out_of_memory() noexcept;

// Runs the work, and returns the exception it threw as a status.
template <class Work>
coxswain_status* outcome_of(Work work) noexcept {
  try {
    work();
    return nullptr;
  } catch (error const& e) {
    return given(e.outcome());
  } catch (std::bad_alloc const&) {
    return out_of_memory();
  } catch (std::exception const& e) {
    return given({errc::internal, e.what()});
  }
}

// The following throw INVALID_ARGUMENT.

void need(void const* pointer, char const* what);

// Runs the work, and gives C its result, unless `into` is NULL.
template <class To, class Work>
coxswain_status* give(To* into, Work work) noexcept {
  return outcome_of([&] {
    auto result = work();
    if (into) *into = for_c(std::move(result));
  });
}

// The same, but NULL is refused. `where`: "where the value goes".
template <class To, class Work>
coxswain_status* give(To* into, char const* where, Work work) noexcept {
  return give(into, [&] {
    need(into, where);
    return work();
  });
}

// Checks the client, which must not be NULL.
blocking_client& job_of(coxswain_client* client);

std::string_view view_of(coxswain_string s);

std::vector<task_id> tasks_of(std::uint32_t const* tasks, std::size_t count);

// Checks an error code: not OK.
errc failure_of(std::int32_t code);

// No errors.

duration timeout_of(std::int64_t milliseconds) noexcept;

inline coxswain_string string_of(std::string const& s) noexcept { return {s.data(), s.size()}; }

}  // namespace coxswain::c
