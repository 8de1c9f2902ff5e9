#include "coxswain/c/abi.hpp"

namespace coxswain::c {
namespace {

[[noreturn]] void refuse(std::string why) {
  throw error{status{errc::invalid_argument, std::move(why)}};
}

coxswain_status without_memory{status{errc::resource_exhausted, "out of memory"}};

}  // namespace

coxswain_status* out_of_memory() noexcept { return &without_memory; }

coxswain_status* given(status const& s) noexcept {
  if (s.ok()) return nullptr;
  try {
    return new coxswain_status{s};
  } catch (std::bad_alloc const&) {
    return out_of_memory();
  }
}

void need(void const* pointer, char const* what) {
  if (!pointer) refuse(std::string{what} + " is NULL");
}

blocking_client& job_of(coxswain_client* client) {
  need(client, "the client");
  return *client->job;
}

std::string_view view_of(coxswain_string s) {
  if (!s.data && s.size > 0) refuse("a string of " + std::to_string(s.size) + " bytes is NULL");
  return {s.data, s.size};
}

std::vector<task_id> tasks_of(std::uint32_t const* tasks, std::size_t count) {
  if (count > 0) need(tasks, "the list of tasks");
  std::vector<task_id> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(task_id{tasks[i]});
  return all;
}

errc failure_of(std::int32_t code) {
  if (code < COXSWAIN_CANCELLED || code > COXSWAIN_UNAUTHENTICATED) {
    refuse("the code of an error is 1 to 16, not " + std::to_string(code));
  }
  return errc_of(static_cast<std::uint32_t>(code));
}

duration timeout_of(std::int64_t milliseconds) noexcept {
  constexpr auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(without_limit);
  if (milliseconds < 0 || milliseconds > longest.count()) return without_limit;
  return std::chrono::milliseconds{milliseconds};
}

}  // namespace coxswain::c

int32_t coxswain_status_code(coxswain_status const* status) {
  return status ? static_cast<std::int32_t>(status->code) : COXSWAIN_OK;
}

coxswain_string coxswain_status_message(coxswain_status const* status) {
  if (!status) return {"OK", 2};
  return coxswain::c::string_of(status->text);
}

void coxswain_status_destroy(coxswain_status* status) {
  if (status != coxswain::c::out_of_memory()) delete status;
}
