#pragma once
// The border between C++ and C: exceptions become statuses, and C arguments are checked and
// converted.

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

namespace coxswain::c {

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
