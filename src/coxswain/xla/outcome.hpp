#pragma once
// How a call fails: a code, a text, and payloads, which matter more than the code. A client that
// finds the payload CoordinationServiceError takes the error as the service's; without it, as a
// network failure. Payloads travel as one Protobuf message, in the trailer
// grpc-status-details-bin. Not here: base64 and percent coding (http2).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/xla/methods.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::xla {

// Trailers must stay below 8 KiB, or the client closes the connection: percent coding may make
// three bytes of each, so texts are cut further where they are full of what needs it.
inline constexpr std::size_t text_bytes_max = 3'072;

struct outcome {
  errc code{errc::ok};
  std::string text{};
  std::string details{};  // GrpcPayloadContainer; empty: no payload

  [[nodiscard]] bool ok() const noexcept { return code == errc::ok; }
  friend bool operator==(outcome const&, outcome const&) = default;
};

// The task at fault, in CoordinationServiceError.
struct culprit {
  std::optional<task_id> task{};
  bool is_reported{};  // the task reported the error itself
};

// Without a payload: as if the network had failed, or where upstream sends none.
[[nodiscard]] outcome plain(status const& why);

// With an empty CoordinationServiceError, or one that names a task.
[[nodiscard]] outcome by_service(status const& why);
[[nodiscard]] outcome by_service(generation of, status const& why, culprit const& who);

// With BarrierError as well: from it the client learns which counter it uses next.
[[nodiscard]] outcome of_barrier(status const& why, std::string_view barrier, std::int64_t counter);

// The client speaks to another incarnation of the service, which ends it whatever it called.
[[nodiscard]] outcome wrong_service(incarnation requested, incarnation current);

// Cut to `text_bytes_max`, and so that it takes no more than twice that when percent-coded.
[[nodiscard]] std::string fitting(std::string text);

}  // namespace coxswain::xla
