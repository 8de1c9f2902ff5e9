#pragma once
// The records of a recording's messages: proto/coxswain/v1/recording.proto. Private to wire.

#include "coxswain/core/model/record.hpp"
#include "coxswain/wire/recording.hpp"

#include <string>
#include <utility>

namespace coxswain::core {

// A kind that is not known becomes the last number, which none has.
template <>
inline constexpr enumeration<wire::record_kind> enumeration_of<wire::record_kind>{
    wire::record_kind::owner_request, static_cast<wire::record_kind>(255)};

template <>
inline constexpr auto record_of<std::pair<std::string, std::string>> =
    part(field<1>("name", &std::pair<std::string, std::string>::first, as::text),
         field<2>("value", &std::pair<std::string, std::string>::second, as::text));

template <>
inline constexpr auto record_of<wire::recording_head> =
    part(field<1>("version", &wire::recording_head::version),
         field<2>("coordinator_incarnation", &wire::recording_head::coordinator),
         field<3>("started_unix_ms", in{&wire::recording_head::started, &wall_time::unix_ms}),
         field<4>("settings", &wire::recording_head::settings),
         field<5>("lost", &wire::recording_head::lost),
         field<6>("utc_offset_s", in{&wire::recording_head::started, &wall_time::utc_offset_s},
                  as::signed_number),
         field<7>("has_sent", &wire::recording_head::has_sent));

template <>
inline constexpr auto record_of<wire::record> =
    part(field<1>("at_ns", &wire::record::at, as::nanoseconds),
         field<2>("kind", &wire::record::kind), field<3>("connection", &wire::record::connection),
         field<4>("content", &wire::record::content), field<5>("secret", &wire::record::secret),
         field<6>("number", &wire::record::number), field<7>("code", &wire::record::code),
         field<9>("held", &wire::record::held, as::signed_number));

}  // namespace coxswain::core
