// Snapshots of the whole coordinator: a head, the state, and a digest of both.

#include "coxswain/base/little_endian.hpp"
#include "coxswain/core/behaviour.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/option_rows.hpp"
#include "coxswain/core/snapshot/fields_of_sessions.hpp"
#include "coxswain/core/snapshot/kernel_state.hpp"
#include "coxswain/core/snapshot/state_reader.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::core {
namespace {

constexpr std::uint32_t format = 2;

struct head {
  std::uint32_t written_as{format};
  std::uint32_t behaves{behaviour};
  std::uint32_t readable_since{behaviour_reading};
  incarnation self{};
  wall_time started{};
  config options{};
};

void fields(auto& a, maybe_const<head> auto& x) {
  a(1, x.written_as);
  a.check(x.written_as == format, "it has another format");
  a(2, x.behaves);
  a(3, x.readable_since);
  a(4, x.self);
  a(5, x.started);
  each_decisive_option(
      [&](std::uint32_t number, char const*, auto member) { a(10 + number, x.options.*member); });
}

// Recomputed while loading, and compared with what was saved.
struct memory_use {
  std::uint64_t all{};
  std::vector<std::uint64_t> by_session;

  friend bool operator==(memory_use const&, memory_use const&) = default;
};

void fields(auto& a, maybe_const<memory_use> auto& x) { a.members(x.all, x.by_session); }

memory_use memory_of(concerns const& all) {
  memory_use use;
  use.all = all.kernel.memory->used();
  all.kernel.sessions.all().each(
      [&](session_id, session const& s) { use.by_session.push_back(s.memory.held); });
  return use;
}

void know_objects(concerns const& all, auto& a) { a.know(all.calls.plain_ok()); }

std::uint64_t save_all(concerns const& all, state_writer::sink const& to) {
  kernel const& k = all.kernel;
  state_writer writer{k.started, to};
  know_objects(all, writer);
  writer.omit_above(k.options.volatile_above);
  writer(1, head{format, behaviour, behaviour_reading, k.self, k.options.started, k.options});
  writer.item(2, [&] {
    writer.item(1, [&] { core::save(k, writer); });
    writer.know(k.everyone);
    writer(2, all.missing);
    std::uint32_t number = 10;
    for (concern const* const concern : all.all) {
      writer.item(++number, [&] { concern->save(writer); });
    }
    writer(1000, memory_of(all));
  });
  return writer.finish();
}

void load_all(concerns& all, state_reader& reader, std::uint32_t behaves) {
  bool const is_same_behaviour = behaves == behaviour;
  auto const& options = all.kernel.options;
  reader.belong_to(all.kernel.memory, options.num_tasks,
                   options.volatile_above == 0 ? 0 : options.largest_value());
  know_objects(all, reader);
  reader.item(2, [&] {
    reader.item(1, [&] { core::load(all.kernel, reader); });
    reader.know(all.kernel.everyone);
    reader(2, all.missing);
    std::uint32_t number = 10;
    for (concern* const concern : all.all) {
      bool const is_there = is_same_behaviour || reader.is_next(number + 1);
      if (!is_there) break;  // the snapshot is older
      reader.item(++number, [&] { concern->load(reader); });
    }
    memory_use then;
    reader(1000, then);
    bool const is_same = !is_same_behaviour || then == memory_of(all);
    reader.check(is_same, "its memory is counted in another way");
  });
  reader.finish();
}

// The bytes that the digest at the end is of.
std::string_view checked(std::string_view snapshot) {
  bool const is_sound =
      snapshot.size() > number_bytes &&
      digest_of(snapshot.substr(0, snapshot.size() - number_bytes)) ==
          from_little_endian<std::uint64_t>(snapshot.substr(snapshot.size() - number_bytes));
  if (is_sound) return snapshot.substr(0, snapshot.size() - number_bytes);
  throw coxswain::error{{errc::data_loss, "the snapshot is damaged: its " +
                                              std::to_string(snapshot.size()) +
                                              " bytes do not have the digest at their end"}};
}

void check_head(head const& of, config const& options) {
  if (of.readable_since > behaviour) {
    throw coxswain::error{{errc::failed_precondition,
                           "the snapshot is of behaviour " + std::to_string(of.behaves) +
                               ", which programs since behaviour " +
                               std::to_string(of.readable_since) +
                               " can read; this one has behaviour " + std::to_string(behaviour)}};
  }
  if (auto const name = difference(of.options, options); !name.empty()) {
    throw coxswain::error{
        {errc::failed_precondition, "the snapshot was made with another value of the option " +
                                        std::string{name} +
                                        "; start with the same options, or without the snapshot"}};
  }
}

}  // namespace

std::uint64_t coordinator::save(std::function<void(std::string_view)> const& to) const {
  std::uint64_t const digest = save_all(*all_, to);
  to(to_little_endian(digest));
  return digest;
}

std::uint64_t coordinator::digest() const { return save_all(*all_, {}); }

duration coordinator::uptime() const { return all_->kernel.observed() - all_->kernel.started; }

result<coordinator> coordinator::load(config options, std::string_view snapshot,
                                      time_point started) {
  try {
    state_reader reader{checked(snapshot), started};
    head of;
    reader(1, of);
    check_head(of, options);
    options.started = of.started;
    auto all = std::make_unique<concerns>(std::move(options), of.self, started);
    load_all(*all, reader, of.behaves);
    return coordinator{std::move(all)};
  } catch (coxswain::error const& e) {
    return e.outcome();
  }
}

}  // namespace coxswain::core
