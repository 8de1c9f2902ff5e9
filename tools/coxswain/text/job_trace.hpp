#pragma once
// A replayed job as trace events, for Perfetto and Chrome: a track for each task, a slice for each
// call that waited, and for each epoch, and arrows from the last arrival at a barrier to the calls
// that it released. Writes each slice when it has ended; its memory is in proportion to the job,
// not to the recording.

#include "coxswain/server/recording/replay.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::tools {

class job_trace {
 public:
  job_trace(std::function<void(std::string_view)> write, wire::recording_head const& head);

  // After the step that has passed this record to the core.
  void add(wire::record const& input, server::replay const& after);

  // Ends the slices that are open at the end of the recording.
  void finish(duration at);

 private:
  // None: callers that are no tasks, which share tracks.
  using owner = std::optional<task_id>;

  struct call {
    std::string name;
    duration since{};
    std::size_t lane{};
    bool meets{};  // tasks wait for each other in it
  };
  struct session {
    std::uint64_t number{};
    session_id id{};
    owner task;
    std::map<request_id, owner> open;
  };
  struct epoch {
    std::uint64_t number{};
    std::uint32_t size{};
    duration since{};
  };
  using call_key = std::pair<std::uint64_t, request_id>;  // the number of its session
  // Calls that overlap are in different lanes, each of which is a track.
  struct lanes {
    std::vector<std::uint64_t> tracks;
    std::vector<bool> busy;
    std::map<call_key, call> calls;
    std::optional<epoch> in;
  };
  struct arrival {
    std::uint64_t track{};
    duration at{};
    friend bool operator==(arrival const&, arrival const&) = default;
  };
  struct meeting {
    std::size_t open{};
    arrival last;
  };

  void disconnect(connection_id from);
  void received(wire::record const& input);
  void open(duration at, session& by, core::client_message const& message);
  void sent(duration at, core::outgoing const& message);
  void reply(duration at, session& to, core::outgoing const& message);
  void reported(duration at, core::event const& what);
  void end_all(duration at, lanes& of, std::string_view outcome);
  void end(duration at, lanes& of, std::map<call_key, call>::iterator which,
           core::answer const* with, std::string_view outcome);
  void begin_epoch(duration at, session& of, core::epoch_answer const& which);
  void end_epoch(duration at, lanes& of);
  std::size_t free_lane(owner whose, lanes& of);
  void write_slice(std::uint64_t track, std::string_view name, duration since, duration until,
                   std::string_view arguments);
  void write_flow(arrival const& from, std::uint64_t track, duration at);
  void write_event(std::string_view members);

  std::function<void(std::string_view)> write_;
  std::map<connection_id, std::shared_ptr<session>> connections_;
  std::map<session_id, std::shared_ptr<session>> sessions_;
  std::map<owner, lanes> owners_;
  std::map<std::string, meeting> meetings_;
  std::vector<std::pair<arrival, arrival>> flows_;  // of this step
  std::uint64_t sessions_seen_{};
  std::uint64_t tracks_{};
  std::uint64_t flows_written_{};
  bool is_first_{true};
};

}  // namespace coxswain::tools
