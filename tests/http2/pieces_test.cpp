// Parts of gRPC: base64, percent encoding, timeouts, gzip, messages, trailers.

#include "coxswain/http2/base64.hpp"
#include "coxswain/http2/grpc_timeout.hpp"
#include "coxswain/http2/gzip.hpp"
#include "coxswain/http2/message_decoder.hpp"
#include "coxswain/http2/outgoing.hpp"
#include "coxswain/http2/percent.hpp"
#include "coxswain/http2/rate_limit.hpp"
#include "coxswain/http2/status_fields.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::http2 {
namespace {

using namespace std::string_view_literals;
using namespace std::string_literals;

std::string message(std::string_view content, char flag = 0) {
  std::string made(1, flag);
  for (int shift = 24; shift >= 0; shift -= 8) {
    made += static_cast<char>(content.size() >> shift & 0xff);
  }
  return made + std::string{content};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pieces_test)

BOOST_AUTO_TEST_CASE(base64_is_written_without_padding_and_read_with_or_without) {
  for (auto const& [plain, coded] : {std::pair{""sv, ""sv},
                                     {"f"sv, "Zg"sv},
                                     {"fo"sv, "Zm8"sv},
                                     {"foo"sv, "Zm9v"sv},
                                     {"\xff\xfe\x00"sv, "//4A"sv}}) {
    BOOST_TEST(to_base64(plain) == coded);
    BOOST_TEST(from_base64(coded).value() == plain);
  }
  BOOST_TEST(from_base64("Zg==").value() == "f");
  BOOST_TEST(!from_base64("Z"));
  BOOST_TEST(!from_base64("Zm9v!"));
  BOOST_TEST(!from_base64("Zg===="));
}

BOOST_AUTO_TEST_CASE(the_details_of_an_empty_coordination_error_are_the_recorded_trailer) {
  auto const key = "type.googleapis.com/tensorflow.CoordinationServiceError"s;

  BOOST_TEST(to_base64("\x0a\x3b\x0a\x37"s + key + "\x12\x00"s) ==
             "CjsKN3R5cGUuZ29vZ2xlYXBpcy5jb20vdGVuc29yZmxvdy5Db29yZGluYXRpb25TZXJ2aWNlRXJyb3ISAA");
}

BOOST_AUTO_TEST_CASE(percent_encoding_keeps_printable_characters) {
  BOOST_TEST(percent_encoded("a b~", 100) == "a b~");
  BOOST_TEST(percent_encoded("50%\n\xc3\xa9", 100) == "50%25%0A%C3%A9");
  BOOST_TEST(percent_decoded("50%25%0a%C3%A9%") == "50%\n\xc3\xa9%");
  BOOST_TEST(percent_decoded("%zz%4") == "%zz%4");
}

BOOST_AUTO_TEST_CASE(a_long_text_is_cut_between_characters) {
  BOOST_TEST(percent_encoded("abcdef", 6) == "abcdef");
  BOOST_TEST(percent_encoded("abcdefg", 6) == "abc...");
  BOOST_TEST(percent_encoded("a\xc3\xa9\xc3\xa9", 12) == "a%C3%A9...");
  BOOST_TEST(percent_encoded("a\xc3\xa9\xc3\xa9", 9) == "a...");
  BOOST_TEST(percent_encoded("a\xc3\xa9\xc3\xa9", 13) == "a%C3%A9%C3%A9");
  BOOST_TEST(percent_encoded("a\xc3\xa9xyz", 10) == "a%C3%A9xyz");
  BOOST_TEST(percent_encoded("abcdefg", 2) == "..");
}

BOOST_AUTO_TEST_CASE(timeouts_have_up_to_eight_digits_and_a_unit) {
  BOOST_TEST((parse_grpc_timeout("306S") == 306s));
  BOOST_TEST((parse_grpc_timeout("99999999n") == 99'999'999ns));
  BOOST_TEST((parse_grpc_timeout("0m") == 0ms));
  BOOST_TEST((parse_grpc_timeout("2H") == 2h));
  BOOST_TEST((parse_grpc_timeout("99999999H") == without_limit));
  for (auto const wrong : {"", "S", "5", "5x", "123456789S", "-1S", "+1S", " 1S", "1 S", "1SS"}) {
    BOOST_TEST(!parse_grpc_timeout(wrong), wrong);
  }
}

BOOST_AUTO_TEST_CASE(a_timeout_is_encoded_in_the_finest_unit_that_fits_and_rounded_up) {
  BOOST_TEST(format_grpc_timeout(0ns) == "0n");
  BOOST_TEST(format_grpc_timeout(-1s) == "0n");
  BOOST_TEST(format_grpc_timeout(99'999'999ns) == "99999999n");
  BOOST_TEST(format_grpc_timeout(100'000'001ns) == "100001u");
  BOOST_TEST(format_grpc_timeout(305s) == "305000m");
  BOOST_TEST(format_grpc_timeout(duration::max()) == "2562048H");
}

BOOST_AUTO_TEST_CASE(inflated_data_is_bounded) {
  std::string const content(100'000, 'x');
  auto const compressed = gzip(content);
  BOOST_TEST(compressed.size() < 1'000u);

  BOOST_TEST((gunzip(compressed, 100'000).value() == content));
  BOOST_TEST(gunzip(compressed, 99'999).error().code() == errc::resource_exhausted);
  BOOST_TEST(gunzip(gzip(""), 0).value() == "");
  BOOST_TEST(gunzip(gzip("a"), 0).error().code() == errc::resource_exhausted);
}

BOOST_AUTO_TEST_CASE(damaged_gzip_is_an_internal_error) {
  auto const whole = gzip("some content");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    BOOST_TEST(gunzip(whole.substr(0, i), 1'000).error().code() == errc::internal);
  }
  BOOST_TEST(gunzip(whole + "x", 1'000).error().code() == errc::internal);
  BOOST_TEST(gunzip("no gzip at all", 1'000).error().code() == errc::internal);
}

BOOST_AUTO_TEST_CASE(a_message_is_decoded_from_any_fragments) {
  auto const whole = message("hello") + "rest";
  for (std::size_t cut = 0; cut <= 10; ++cut) {
    message_decoder decoder{5};
    std::string_view first{whole.data(), cut};
    BOOST_TEST(decoder.feed(first).ok());
    BOOST_TEST(decoder.is_whole() == (cut == 10));
    auto second = std::string_view{whole}.substr(cut);
    if (!decoder.is_whole()) BOOST_TEST(decoder.feed(second).ok());

    BOOST_TEST(decoder.is_whole());
    BOOST_TEST(second == "rest");
    BOOST_TEST(decoder.take(encoding::none).value() == "hello");
    BOOST_TEST(decoder.is_between_messages());
  }
}

BOOST_AUTO_TEST_CASE(a_message_above_the_limit_is_refused_by_its_length_prefix) {
  message_decoder decoder{5};
  auto const whole = message("longer").substr(0, 5);
  std::string_view input{whole};

  BOOST_TEST(decoder.feed(input).code() == errc::resource_exhausted);
}

BOOST_AUTO_TEST_CASE(a_malformed_message_is_refused) {
  message_decoder decoder{5};
  auto const whole = message("abc", 2);
  std::string_view input{whole};

  BOOST_TEST(decoder.feed(input).code() == errc::internal);
}

BOOST_AUTO_TEST_CASE(a_compressed_message_needs_a_known_encoding) {
  auto const whole = message(gzip("content"), 1);
  for (auto const& [by, code] : {std::pair{encoding::gzip, errc::ok},
                                 {encoding::none, errc::internal},
                                 {encoding::unknown, errc::unimplemented}}) {
    message_decoder decoder{1'000};
    std::string_view input{whole};
    BOOST_TEST(decoder.feed(input).ok());
    auto const taken = decoder.take(by);
    BOOST_TEST((taken ? errc::ok : taken.error().code()) == code);
  }
}

BOOST_AUTO_TEST_CASE(a_message_can_be_sent_in_any_fragments) {
  auto const expected = message("textvalue");
  for (std::size_t piece = 1; piece <= expected.size(); ++piece) {
    outgoing one{"text", bytes{"value"}, false};
    std::string sent;
    while (one.left() > 0) one.take(std::min(piece, one.left()), sent);
    BOOST_TEST(sent == expected);
  }
}

BOOST_AUTO_TEST_CASE(messages_are_sent_one_after_the_other) {
  outgoing some;
  BOOST_TEST(some.left() == 0u);
  some.add("a", false);
  some.add("bc", true);
  std::string sent;
  some.take(some.left(), sent);
  some.add("d", false);
  some.take(some.left(), sent);

  BOOST_TEST(sent == message("a") + message("bc", 1) + message("d"));
}

BOOST_AUTO_TEST_CASE(trailers_are_cut_to_the_clients_limit) {
  std::string text;
  for (int i = 0; i < 3'000; ++i) text += "\xe2\x82\xac";
  status_fields const cut{errc::internal, text, std::string(4'096, 'd')};
  BOOST_TEST(cut.message.size() + cut.details.size() < 7'600u);
  BOOST_TEST(cut.message.ends_with("%AC..."));
  BOOST_TEST(from_base64(cut.details)->size() == 4'096u);

  status_fields const none{errc::internal, "t", std::string(4'097, 'd')};
  BOOST_TEST(none.details == "");
  BOOST_TEST(none.code == "13");
}

BOOST_AUTO_TEST_CASE(a_rate_limits_bursts) {
  time_point const t0{1h};
  rate_limit rate{3, 10};
  for (int i = 0; i < 3; ++i) BOOST_TEST(rate.allows(t0));
  BOOST_TEST(!rate.allows(t0));
}

BOOST_AUTO_TEST_CASE(a_rate_recovers) {
  time_point const t0{1h};
  rate_limit rate{1, 10};
  BOOST_TEST(rate.allows(t0));
  BOOST_TEST(rate.allows(t0 + 100ms));
  BOOST_TEST(!rate.allows(t0 + 199ms));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
