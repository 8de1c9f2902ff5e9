#pragma once
// A replay that shows the job at any moment of its recording. It keeps bookmarks, whose number and
// bytes are bounded, so that going to a moment replays only a small part of a long recording.

#include "coxswain/server/recording/replay.hpp"

#include <cstddef>
#include <vector>

namespace coxswain::server {

class seekable_replay {
 public:
  struct limits {
    std::size_t bookmarks_max{64};
    std::size_t bytes_max{256 * 1024 * 1024};  // of all bookmarks
    std::size_t records_between{1'000};        // at first: doubled whenever a limit is reached
  };

  // Replays the whole recording once, which must be complete (replay::is_whole), from its beginning
  // on. Throws as replay::step does.
  explicit seekable_replay(replay of) : seekable_replay{std::move(of), limits{}} {}
  seekable_replay(replay of, limits within);

  // The first and the last moment, since the coordinator's start.
  [[nodiscard]] duration begins() const noexcept { return replay_.begins(); }
  [[nodiscard]] duration ends() const noexcept { return ends_; }
  [[nodiscard]] wire::recording_head const& head() const noexcept { return replay_.head(); }

  // Goes to this moment, or to the nearer end of the recording.
  void seek(duration to);

  // The job at the moment, and the moment on its clock.
  [[nodiscard]] core::coordinator const& job() const noexcept { return replay_.core(); }
  [[nodiscard]] time_point now() const noexcept { return replay::moment_at(at_); }

  // How many records the last `seek` has replayed.
  [[nodiscard]] std::size_t replayed() const noexcept { return replayed_; }

 private:
  void keep_bookmark();
  void thin_out();

  limits limits_;
  replay replay_;
  std::vector<replay::bookmark> bookmarks_;  // the first one is the beginning
  std::size_t bookmark_bytes_{};
  duration ends_{};
  duration at_{};
  std::size_t replayed_{};
};

}  // namespace coxswain::server
