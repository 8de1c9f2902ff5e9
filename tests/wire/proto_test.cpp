// The records say the same as the proto files: numbers, names and types, and nothing is missing on
// either side. Protobuf's description of the files is read with records, too.

#include "coxswain/core/model/records.hpp"
#include "coxswain/wire/field_codes.hpp"
#include "coxswain/wire/record_reader.hpp"
#include "coxswain/wire/recording_records.hpp"

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::wire::proto {

struct field {
  std::string name;
  std::uint32_t number{};
  std::uint32_t label{};
  std::uint32_t type{};
  std::string type_name;
  bool is_optional{};
};
struct enumerator {
  std::string name;
  std::uint32_t number{};
};
struct enumeration {
  std::string name;
  std::vector<enumerator> values;
};
struct message {
  std::string name;
  std::vector<field> fields;
  std::vector<message> nested;
  std::vector<enumeration> enums;
};
struct file {
  std::vector<message> messages;
  std::vector<enumeration> enums;
};
struct files {
  std::vector<file> all;
};

enum type : std::uint32_t {
  float_ = 2,
  int64,
  uint64,
  int32,
  fixed64,
  fixed32,
  bool_,
  string,
  group,
  message_,
  bytes_,
  uint32,
  enum_,
  sfixed32,
  sfixed64,
  sint32,
  sint64
};

}  // namespace coxswain::wire::proto

namespace coxswain::core {

namespace proto = wire::proto;
template <>
inline constexpr auto record_of<proto::field> =
    part(field<1>("name", &proto::field::name), field<3>("number", &proto::field::number),
         field<4>("label", &proto::field::label), field<5>("type", &proto::field::type),
         field<6>("type_name", &proto::field::type_name),
         field<17>("proto3_optional", &proto::field::is_optional));
template <>
inline constexpr auto record_of<proto::enumerator> = part(
    field<1>("name", &proto::enumerator::name), field<2>("number", &proto::enumerator::number));
template <>
inline constexpr auto record_of<proto::enumeration> = part(
    field<1>("name", &proto::enumeration::name), field<2>("value", &proto::enumeration::values));
template <>
inline constexpr auto record_of<proto::message> =
    part(field<1>("name", &proto::message::name), field<2>("field", &proto::message::fields),
         field<3>("nested_type", &proto::message::nested),
         field<4>("enum_type", &proto::message::enums));
template <>
inline constexpr auto record_of<proto::file> = part(field<4>("message_type",
                                                             &proto::file::messages),
                                                    field<5>("enum_type", &proto::file::enums));
template <>
inline constexpr auto record_of<proto::files> = part(field<1>("file", &proto::files::all));

}  // namespace coxswain::core

namespace coxswain::wire {
namespace {

template <class Meaning, class T>
constexpr proto::type type_in_proto() {
  if constexpr (coded_as_message<Meaning, T>) return proto::message_;
  if constexpr (random_number<T>) return proto::fixed64;
  if constexpr (std::same_as<T, float>) return proto::float_;
  if constexpr (std::same_as<T, bool> || std::same_as<T, core::absent_value>) return proto::bool_;
  if constexpr (is_text<Meaning> || std::same_as<Meaning, as::status_message_t>)
    return proto::string;
  if constexpr (coded_as_content<T>) return proto::bytes_;
  if constexpr (std::same_as<Meaning, as::signed_number_t>)
    return sizeof(T) == 4 ? proto::sint32 : proto::sint64;
  if constexpr (std::same_as<Meaning, as::utc_offset_s_t>) return proto::sint32;
  if constexpr (std::same_as<Meaning, as::timeout_t>) return proto::sint64;
  if constexpr (std::same_as<Meaning, as::wide_timeout_t> || std::same_as<Meaning, as::unix_ms_t>)
    return proto::int64;
  if constexpr (std::same_as<Meaning, as::short_period_t> ||
                std::same_as<Meaning, as::status_code_t> || std::same_as<T, errc>)
    return proto::uint32;
  if constexpr (std::is_enum_v<T>) return proto::enum_;
  if constexpr (std::is_signed_v<T>) return sizeof(T) == 4 ? proto::int32 : proto::int64;
  return sizeof(T) <= 4 ? proto::uint32 : proto::uint64;
}

// "SUM_INT64" for reduction::sum_int64.
template <auto Enumerator>
std::string name_in_proto() {
  std::string_view const function = __PRETTY_FUNCTION__;
  auto const end = function.find_first_of(";]", function.find("Enumerator = "));
  auto const begin = function.rfind("::", end) + 2;
  std::string name{function.substr(begin, end - begin)};
  if (name.ends_with('_')) name.pop_back();
  if (name.starts_with("bit_")) name.erase(0, 4);
  return boost::to_upper_copy(name);
}

class comparison {
 public:
  explicit comparison(char const* path) {
    std::ifstream from{path, std::ios::binary};
    std::string const description{std::istreambuf_iterator<char>{from}, {}};
    field_reader fields{description};
    reading state;
    read_fields(fields, files_, state);
    for (auto const& file : files_.all) {
      for (auto const& one : file.messages) add(".coxswain.v1.", one);
      for (auto const& one : file.enums) enums_[".coxswain.v1." + one.name] = &one;
    }
  }

  proto::message const& message(std::string const& name) const {
    return *messages_.at(".coxswain.v1." + name);
  }

  template <class T>
  void compare(proto::message const& with) const {
    BOOST_TEST_CONTEXT(with.name) {
      std::size_t rows = 0;
      core::record_of<T>.for_each([&]<class Row>(Row const& row) {
        using member = std::remove_cvref_t<decltype(row.of(std::declval<T const&>()))>;
        compare_row<Row::number, typename Row::meaning, member>(row.name, with);
        ++rows;
      });
      BOOST_TEST(rows == with.fields.size());
    }
  }

  // The fields of a variant's alternatives; and so many others.
  template <class... Held>
  void compare(std::type_identity<std::variant<std::monostate, Held...>>,
               proto::message const& with, std::size_t others) const {
    (compare_row<core::record_of<typename content_of_box<Held>::type>.number, as::plain_t,
                 typename content_of_box<Held>::type>(
         core::record_of<typename content_of_box<Held>::type>.name, with),
     ...);
    BOOST_TEST(sizeof...(Held) + others == with.fields.size());
  }

 private:
  template <class T>
  struct content_of_box {
    using type = T;
  };
  template <class T>
  struct content_of_box<boxed<T>> {
    using type = T;
  };

  void add(std::string const& scope, proto::message const& one) {
    auto const name = scope + one.name;
    messages_[name] = &one;
    for (auto const& nested : one.nested) add(name + '.', nested);
    for (auto const& nested : one.enums) enums_[name + '.' + nested.name] = &nested;
  }

  template <int Number, class Meaning, class T>
  void compare_row(std::string_view name, proto::message const& with) const {
    BOOST_TEST_CONTEXT("field " << Number << ", " << name) {
      auto const is_it = [](proto::field const& one) { return one.number == Number; };
      auto const found = std::find_if(with.fields.begin(), with.fields.end(), is_it);
      BOOST_TEST_REQUIRE((found != with.fields.end()));
      BOOST_TEST(found->name == name);
      BOOST_TEST((found->label == 3) == is_list<T>);
      bool const has_presence = found->type == proto::message_ || found->type == proto::bytes_ ||
                                std::same_as<Meaning, as::utc_offset_s_t>;
      if (is_optional<T> && !has_presence) BOOST_TEST(found->is_optional);
      if constexpr (is_alternative<Meaning>) {
        [&]<class One, class Of>(as::alternative_t<One, Of>) {
          compare_type<Of, One>(*found);
        }(Meaning{});
      } else if constexpr (requires { typename T::value_type; } && (is_list<T> || is_optional<T>)) {
        compare_type<Meaning, typename T::value_type>(*found);
      } else {
        compare_type<Meaning, T>(*found);
      }
    }
  }

  template <class Meaning, class T>
  void compare_type(proto::field const& with) const {
    BOOST_TEST(with.type == (type_in_proto<Meaning, T>()));
    if constexpr (coded_as_message<Meaning, T>) {
      compare<T>(*messages_.at(with.type_name));
    } else if constexpr (type_in_proto<Meaning, T>() == proto::enum_) {
      auto const& values = enums_.at(with.type_name)->values;
      constexpr auto known = core::enumeration_of<T>;
      BOOST_TEST(values.size() == static_cast<std::size_t>(known.last) + known.first + 1);
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (compare_value<static_cast<T>(I)>(values.at(I + known.first), I + known.first), ...);
      }
      (std::make_index_sequence<static_cast<std::size_t>(known.last) + 1>{});
    }
  }

  template <auto Enumerator>
  void compare_value(proto::enumerator const& with, std::size_t number) const {
    BOOST_TEST(with.number == number);
    BOOST_TEST(with.name == name_in_proto<Enumerator>());
  }

  proto::files files_;
  std::map<std::string, proto::message const*> messages_;
  std::map<std::string, proto::enumeration const*> enums_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(proto_test)

BOOST_AUTO_TEST_CASE(requests_and_answers_are_those_of_the_proto) {
  comparison const with{COXSWAIN_PROTO "/coxswain/v1/coxswain.pb.desc"};

  // id, answered_through, task, epoch and routed
  with.compare(std::type_identity<core::request>{}, with.message("ClientMessage"), 5);
  // id, status and routed
  with.compare(std::type_identity<decltype(core::answer::value)>{}, with.message("ServerMessage"),
               3);
  with.compare<status>(with.message("Status"));
}

BOOST_AUTO_TEST_CASE(recordings_are_those_of_the_proto) {
  comparison const with{COXSWAIN_PROTO "/coxswain/v1/recording.pb.desc"};

  with.compare<recording_head>(with.message("RecordingHead"));
  with.compare<record>(with.message("Record"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
