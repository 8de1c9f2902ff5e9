#pragma once
// A listing or removal of a directory, page by page: the core's next request, and what its answers
// have brought. A listing shows one moment; it starts again when a key has changed meanwhile, and
// after some attempts its pages may show different moments. Private to xla.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/error.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace coxswain::xla {

class directory_pages {
 public:
  enum class purpose : std::uint8_t { list, remove };

  // `meter` counts the listed bytes as in transit.
  directory_pages(purpose why, std::string directory, memory_meter* meter) noexcept
      : why_{why}, directory_{std::move(directory)}, counted_{meter} {}

  [[nodiscard]] purpose why() const noexcept { return why_; }
  [[nodiscard]] std::string const& directory() const noexcept { return directory_; }
  // Of the listed moment; zero before the first page.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  [[nodiscard]] core::request next() const;

  // The answer to `next`, which may be a failure. True: another page is needed.
  // RESOURCE_EXHAUSTED: the listing is larger than `reply_bytes_max`.
  [[nodiscard]] result<bool> take(core::answer const& page, std::size_t reply_bytes_max);

  // The reply's bytes, no longer counted. To be called once, at the end.
  [[nodiscard]] std::string release_reply();

 private:
  void restart();

  purpose why_;
  std::string directory_;
  std::string reply_;
  std::string after_;        // the last key so far
  std::uint64_t version_{};  // of the first page
  int restarts_{};
  transit_bytes counted_;
};

}  // namespace coxswain::xla
