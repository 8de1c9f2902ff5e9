// The client of coxswain.h, on top of blocking_client.

#include "coxswain/c/abi.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

using namespace coxswain;
using namespace coxswain::c;

struct coxswain_string_list : list_of<coxswain_string, std::vector<std::string>> {
  using list_of::list_of;
};

struct coxswain_process_list : list_of<coxswain_process, std::monostate> {
  using list_of::list_of;
};

struct coxswain_epoch_member_list : list_of<coxswain_epoch_member, coxswain::epoch_members> {
  using list_of::list_of;
};

struct coxswain_wait_list : list_of<coxswain_wait, why_result> {
  using list_of::list_of;
};

namespace {

// The known fields of the options, which may come from an older or newer header.
coxswain_client_options known(coxswain_client_options const& given) {
  coxswain_client_options ours{};
  if (given.struct_size < offsetof(coxswain_client_options, address) + sizeof ours.address) {
    throw error{
        status{errc::invalid_argument, "struct_size is " + std::to_string(given.struct_size) +
                                           "; it is to be sizeof(coxswain_client_options)"}};
  }
  auto const* const bytes = reinterpret_cast<char const*>(&given);
  auto const shared = std::min(given.struct_size, sizeof ours);
  bool const is_whole =
      std::all_of(bytes + shared, bytes + given.struct_size, [](char byte) { return byte == 0; });
  if (!is_whole) {
    throw error{status{errc::invalid_argument,
                       "the options say something that this library is too old for"}};
  }
  std::memcpy(&ours, bytes, shared);
  return ours;
}

std::optional<bool> recoverable_of(std::int32_t which) {
  switch (which) {
    case COXSWAIN_RECOVERABLE_DEFAULT: return std::nullopt;
    case COXSWAIN_RECOVERABLE: return true;
    case COXSWAIN_NOT_RECOVERABLE: return false;
    default:
      throw error{
          status{errc::invalid_argument, "recoverable is 0, 1 or 2, not " + std::to_string(which)}};
  }
}

client_options options_of(coxswain_client_options const* given) {
  if (!given) return client_options::from_environment();
  auto const stated = known(*given);
  client_options options{std::string{view_of(stated.address)}};
  if (stated.has_task) options.task = task_id{stated.task};
  if (stated.num_tasks > 0) options.num_tasks = stated.num_tasks;
  options.recoverable = recoverable_of(stated.recoverable);
  options.job = view_of(stated.job);
  if (auto const token = view_of(stated.token); !token.empty()) options.token = token;
  options.tls.ca = view_of(stated.tls_ca);
  options.tls.cert = view_of(stated.tls_cert);
  options.tls.key = view_of(stated.tls_key);
  options.tls.peer_uri_prefix = view_of(stated.tls_peer_uri_prefix);
  options.label = view_of(stated.label);
  if (stated.incarnation > 0) options.incarnation = incarnation{stated.incarnation};
  if (stated.log) {
    options.on_event = [stated](client_event const& what) {
      auto const text = what.text();
      stated.log(static_cast<std::int32_t>(what.level), {text.data(), text.size()},
                 stated.log_user_data);
    };
  }
  if (stated.connect_timeout_ms != 0)
    options.connect_timeout = timeout_of(stated.connect_timeout_ms);
  options.spin = std::chrono::microseconds{stated.spin_us};
  options.any = stated.any;
  options.member = view_of(stated.member);
  options.placement = placement_of(view_of(stated.placement));
  if (stated.has_attempt) options.attempt = stated.attempt;
  if (stated.fence_after_ms != 0) options.fence_after = timeout_of(stated.fence_after_ms);
  return options;
}

}  // namespace

namespace coxswain::c {

coxswain_string_list* for_c(std::vector<std::string> all) {
  auto list = std::make_unique<coxswain_string_list>(std::move(all));
  for (auto const& text : list->owner) list->elements.push_back(string_of(text));
  return list.release();
}

coxswain_wait_list* for_c(why_result all) {
  using std::chrono::milliseconds;
  auto list = std::make_unique<coxswain_wait_list>(std::move(all));
  for (auto const& w : list->owner.waits) {
    auto const age = std::chrono::duration_cast<milliseconds>(w.age).count();
    auto const missing = w.missing ? string_of(w.missing->missing) : coxswain_string{};
    list->elements.push_back({static_cast<std::int32_t>(w.what), w.stuck, w.others,
                              string_of(w.name), string_of(w.waiting), missing, age});
  }
  return list.release();
}

coxswain_process_list* for_c(std::vector<process> all) {
  auto list = std::make_unique<coxswain_process_list>(std::monostate{});
  for (auto const& process : all)
    list->elements.push_back({process.task.value, process.incarnation.value});
  return list.release();
}

coxswain_epoch_member_list* for_c(epoch_members all) {
  auto list = std::make_unique<coxswain_epoch_member_list>(std::move(all));
  for (auto const& member : list->owner.members) {
    list->elements.push_back({string_of(member.name), string_of(member.label),
                              string_of(member.peer), member.self.value, member.survivor});
  }
  return list.release();
}

}  // namespace coxswain::c

coxswain_status* coxswain_client_connect(coxswain_client_options const* options,
                                         coxswain_client** client) {
  return outcome_of([&] {
    need(client, "where the client goes");
    auto opened = std::make_unique<coxswain_client>();
    opened->job = std::make_shared<blocking_client>(options_of(options));
    *client = opened.release();
  });
}

coxswain_status* coxswain_client_connect_and_join(coxswain_client_options const* options,
                                                  int64_t timeout_ms, coxswain_client** client) {
  return outcome_of([&] {
    need(client, "where the client goes");
    auto joined = std::make_unique<coxswain_client>();
    joined->job = std::make_shared<blocking_client>(
        blocking_client::connect_and_join(options_of(options), timeout_of(timeout_ms)));
    *client = joined.release();
  });
}

void coxswain_client_close(coxswain_client* client) {
  if (client) client->job->close();
}

void coxswain_client_destroy(coxswain_client* client) {
  coxswain_client_close(client);
  delete client;
}

bool coxswain_client_task(coxswain_client const* client, uint32_t* task) {
  if (!client || !client->job->task()) return false;
  if (task) *task = client->job->task()->value;
  return true;
}

uint32_t coxswain_client_num_tasks(coxswain_client const* client) {
  return client ? client->job->num_tasks() : 0;
}

uint64_t coxswain_client_incarnation(coxswain_client const* client) {
  return client ? client->job->incarnation().value : 0;
}

coxswain_status* coxswain_join(coxswain_client* client, int64_t timeout_ms, bool* already_started) {
  return give(already_started, [&] { return job_of(client).join(timeout_of(timeout_ms)); });
}

coxswain_status* coxswain_leave(coxswain_client* client, int64_t timeout_ms) {
  return outcome_of([&] { job_of(client).leave(timeout_of(timeout_ms)); });
}

coxswain_status* coxswain_leave_to_return(coxswain_client* client) {
  return outcome_of([&] { job_of(client).leave(leave_options{}.with_returning()); });
}

coxswain_status* coxswain_reset(coxswain_client* client) {
  return outcome_of([&] { job_of(client).reset(); });
}

coxswain_status* coxswain_report_error(coxswain_client* client, int32_t code,
                                       coxswain_string message) {
  return outcome_of([&] { job_of(client).report_error(failure_of(code), view_of(message)); });
}

coxswain_status* coxswain_barrier(coxswain_client* client, coxswain_string name, int64_t timeout_ms,
                                  uint32_t const* participants, size_t participant_count,
                                  uint64_t* round) {
  return give(round, [&] {
    auto const members = tasks_of(participants, participant_count);
    return job_of(client).barrier(view_of(name), {timeout_of(timeout_ms), members});
  });
}

coxswain_status* coxswain_all_gather(coxswain_client* client, coxswain_string name,
                                     coxswain_string data, int64_t timeout_ms,
                                     uint32_t const* participants, size_t participant_count,
                                     coxswain_string_list** gathered) {
  return give(gathered, "where the data goes", [&] {
    auto const members = tasks_of(participants, participant_count);
    return job_of(client).all_gather(view_of(name), view_of(data),
                                     {timeout_of(timeout_ms), members});
  });
}

coxswain_string const* coxswain_string_list_data(coxswain_string_list const* list) {
  return data_of(list);
}
size_t coxswain_string_list_size(coxswain_string_list const* list) { return size_of(list); }
void coxswain_string_list_destroy(coxswain_string_list* list) { delete list; }

coxswain_status* coxswain_cancel_barrier(coxswain_client* client, coxswain_string name,
                                         uint64_t round) {
  return outcome_of([&] {
    auto const which = round > 0 ? std::optional{round_number{round}} : std::nullopt;
    job_of(client).cancel_barrier(view_of(name), which);
  });
}

coxswain_status* coxswain_count_barrier(coxswain_client* client, coxswain_string name,
                                        uint32_t count, int64_t timeout_ms, uint64_t* round) {
  return give(round, [&] {
    return job_of(client).count_barrier(view_of(name), count, timeout_of(timeout_ms));
  });
}

coxswain_string coxswain_bytes_view(coxswain_bytes const* bytes) {
  if (!bytes) return {nullptr, 0};
  return string_of(bytes->value);
}

void coxswain_bytes_destroy(coxswain_bytes* bytes) { delete bytes; }

coxswain_status* coxswain_preempt(coxswain_client* client, int64_t in_ms, uint32_t const* task) {
  return outcome_of([&] {
    auto const who = task ? std::optional{task_id{*task}} : std::nullopt;
    job_of(client).preempt(timeout_of(in_ms), who);
  });
}

coxswain_status* coxswain_reached_sync_point(coxswain_client* client, uint64_t step, bool* stops) {
  return give(stops, "where the answer goes",
              [&] { return job_of(client).reached_sync_point(step); });
}

coxswain_status* coxswain_report_progress(coxswain_client* client, uint64_t step) {
  return outcome_of([&] { job_of(client).report_progress(step); });
}

coxswain_wait const* coxswain_wait_list_data(coxswain_wait_list const* list) {
  return data_of(list);
}
size_t coxswain_wait_list_size(coxswain_wait_list const* list) { return size_of(list); }
void coxswain_wait_list_destroy(coxswain_wait_list* list) { delete list; }

coxswain_string coxswain_wait_list_deadlock(coxswain_wait_list const* list) {
  return list ? string_of(list->owner.stuck) : coxswain_string{};
}

coxswain_status* coxswain_why(coxswain_client* client, coxswain_wait_list** waits) {
  return give(waits, "where the list goes", [&] { return job_of(client).why(); });
}

coxswain_status* coxswain_next_epoch(coxswain_client* client, int64_t timeout_ms,
                                     coxswain_epoch* epoch) {
  return outcome_of([&] {
    need(epoch, "where the epoch goes");
    if (epoch->struct_size < sizeof epoch->struct_size) {
      throw error{status{errc::invalid_argument, "coxswain_epoch.struct_size is not set"}};
    }
    auto const next = job_of(client).next_epoch(timeout_of(timeout_ms));
    auto const& [number, size, rank, address, lost, joined] = next;
    client->epoch_address = address;
    coxswain_epoch const given{epoch->struct_size,
                               number,
                               size,
                               rank.value,
                               lost,
                               joined,
                               string_of(client->epoch_address)};
    std::memcpy(epoch, &given, std::min(given.struct_size, sizeof given));
  });
}

coxswain_status* coxswain_epoch_wanted(coxswain_client* client, bool* wanted) {
  return give(wanted, "where the answer goes",
              [&] { return job_of(client).epoch_wanted().has_value(); });
}

coxswain_epoch_member const* coxswain_epoch_member_list_data(
    coxswain_epoch_member_list const* list) {
  return data_of(list);
}
size_t coxswain_epoch_member_list_size(coxswain_epoch_member_list const* list) {
  return size_of(list);
}
void coxswain_epoch_member_list_destroy(coxswain_epoch_member_list* list) { delete list; }

coxswain_status* coxswain_epoch_members(coxswain_client* client,
                                        coxswain_epoch_member_list** members, uint64_t* epoch) {
  return give(members, "where the list goes", [&] {
    auto all = job_of(client).epoch_members();
    if (epoch) *epoch = all.epoch;
    return all;
  });
}

coxswain_status* coxswain_resize(coxswain_client* client, uint32_t num_tasks) {
  return outcome_of([&] { job_of(client).resize(num_tasks); });
}

coxswain_status* coxswain_stop_job(coxswain_client* client, coxswain_string reason) {
  return outcome_of([&] { job_of(client).stop_job(view_of(reason)); });
}

coxswain_status* coxswain_drain_job(coxswain_client* client, coxswain_string reason) {
  return outcome_of([&] { job_of(client).drain_job(view_of(reason)); });
}

coxswain_process const* coxswain_process_list_data(coxswain_process_list const* list) {
  return data_of(list);
}
size_t coxswain_process_list_size(coxswain_process_list const* list) { return size_of(list); }
void coxswain_process_list_destroy(coxswain_process_list* list) { delete list; }

coxswain_status* coxswain_alive_tasks(coxswain_client* client, uint32_t const* tasks,
                                      size_t task_count, int64_t timeout_ms,
                                      coxswain_process_list** alive) {
  return give(alive, "where the list goes", [&] {
    return job_of(client).alive_tasks(tasks_of(tasks, task_count), timeout_of(timeout_ms));
  });
}
