#include "coxswain/xla/outcome.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/xla/fields.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::xla {
namespace {

constexpr std::string_view service_error =
    "type.googleapis.com/tensorflow.CoordinationServiceError";
constexpr std::string_view barrier_error = "type.googleapis.com/tensorflow.BarrierError";
constexpr std::string_view mismatch_error = "type.googleapis.com/tensorflow.ServiceMismatchError";

// The client cuts texts at these words.
constexpr std::string_view cut_words = "Additional GRPC";

// A barrier's name in the trailers, where base64 makes it longer.
constexpr std::size_t name_bytes_max = 1'024;

// An entry of the map in GrpcPayloadContainer.
void append_payload(std::string& out, std::string_view key, std::string_view value) {
  std::string entry;
  append_content(entry, 1, key);
  append_content(entry, 2, value);
  append_content(out, 1, entry);
}

bool is_escaped(char c) { return c < 0x20 || c > 0x7e || c == '%'; }

std::size_t coded_bytes(std::string_view text) {
  auto const escaped = std::count_if(text.begin(), text.end(), is_escaped);
  return text.size() + 2 * static_cast<std::size_t>(escaped);
}

}  // namespace

std::string fitting(std::string text) {
  for (auto at = text.find(cut_words); at != text.npos; at = text.find(cut_words, at)) {
    text.replace(at, cut_words.size(), "Additional gRPC");
  }
  if (text.size() > text_bytes_max) text = core::shortened(text, text_bytes_max);
  constexpr std::size_t coded_max = text_bytes_max + text_bytes_max / 2;
  while (coded_bytes(text) > coded_max) {
    auto const surplus = (coded_bytes(text) - coded_max) / 3;
    text = core::shortened(text, text.size() - std::max<std::size_t>(surplus, 8));
  }
  return text;
}

outcome plain(status const& why) { return {why.code(), fitting(why.message()), {}}; }

outcome by_service(status const& why) {
  outcome made = plain(why);
  append_payload(made.details, service_error, {});
  return made;
}

outcome by_service(generation of, status const& why, culprit const& who) {
  outcome made = plain(why);
  std::string value;
  append_number(value, 3, who.is_reported ? 1 : 0);
  if (who.task && of == generation::third) append_number(value, 4, who.task->value);
  if (who.task && of == generation::second) {
    std::string task;
    append_number(task, 2, who.task->value);
    append_content(value, 4, task);
  }
  append_payload(made.details, service_error, value);
  return made;
}

outcome of_barrier(status const& why, std::string_view barrier, std::int64_t counter) {
  outcome made = by_service(why);
  std::string value;
  append_text(value, 1, barrier.size() > name_bytes_max ? std::string_view{} : barrier);
  append_integer(value, 2, counter);
  append_payload(made.details, barrier_error, value);
  return made;
}

outcome wrong_service(incarnation requested, incarnation current) {
  outcome made = by_service({errc::internal, "wrong service incarnation: requested " +
                                                 std::to_string(requested.value) + ", currently " +
                                                 std::to_string(current.value)});
  std::string value;
  append_fixed64(value, 1, current.value);
  append_payload(made.details, mismatch_error, value);
  return made;
}

}  // namespace coxswain::xla
