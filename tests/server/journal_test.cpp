// The journal in files: what survives the end of a process, and damaged files.

#include "coxswain/base/error.hpp"
#include "coxswain/core/behaviour.hpp"
#include "coxswain/http2/client_session.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/journal/file_journal.hpp"
#include "coxswain/server/journal/journal_repair.hpp"
#include "coxswain/server/journal/restore.hpp"
#include "coxswain/server/recording/replay.hpp"
#include "coxswain/server/recording/settings.hpp"
#include "coxswain/wire/routed.hpp"
#include "coxswain/xla/codec.hpp"
#include "tests/net/sockets.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::server {
namespace {

namespace fs = std::filesystem;

constexpr time_point t0{1000s};
constexpr core::session_secret secret{1, 2, 3};

// Removed at the end.
struct test_directory {
  test_directory() {
    std::string name = (fs::temp_directory_path() / "coxswain-journal-XXXXXX").string();
    BOOST_TEST_REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~test_directory() { fs::remove_all(path); }
  test_directory(test_directory const&) = delete;
  test_directory& operator=(test_directory const&) = delete;

  [[nodiscard]] std::string journal() const { return (path / "journal").string(); }
  [[nodiscard]] fs::path segment() const { return segment_path(journal(), 1); }

  fs::path path;
};

std::string content_of(fs::path const& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

void write(fs::path const& path, std::string const& content) {
  std::ofstream{path, std::ios::binary} << content;
}

wire::record heard(duration at, std::uint64_t from) {
  wire::record made;
  made.at = at;
  made.kind = wire::record_kind::heard;
  made.connection = connection_id{from};
  return made;
}

// Five batches, each with one record. Returns where each begins in the segment, and its end.
std::vector<std::size_t> write_batches(test_directory const& in) {
  file_journal j{in.journal()};
  j.begin({});
  std::vector<std::size_t> ends{0};
  for (std::uint64_t i = 1; i <= 5; ++i) {
    j.append(heard(1s * static_cast<int>(i), i * 1000));
    BOOST_TEST_REQUIRE(j.commit().ok());
    ends.push_back(j.bytes_written());
  }
  return ends;
}

void damage(fs::path const& file, std::size_t at) {
  auto content = content_of(file);
  content.at(at) = static_cast<char>(content.at(at) ^ 1);
  write(file, content);
}

// The same batches.
std::string as_of_another_boot(std::string const& segment) {
  std::string made;
  std::uint32_t previous{};
  for (std::size_t at = 0; auto const next = read_batch(std::string_view{segment}.substr(at));) {
    at += next->bytes();
    auto written = next->written;
    ++written.boot;
    std::string bytes(batch_head_bytes, '\0');
    bytes += next->payload;
    bool const is_first = made.empty();
    previous =
        seal(bytes, next->number, next->durable, is_first ? next->previous : previous, written);
    made += bytes;
  }
  return made;
}

std::string refusal(std::string const& directory) {
  try {
    file_journal const opened{directory};
  } catch (error const& e) {
    return e.what();
  }
  return "none";
}

options synchronized() {
  options made;
  made.journal.level = durability::disk;
  return made;
}

// A coordinator with a journal, which the next object of this kind continues.
struct journalled_job {
  explicit journalled_job(test_directory const& in, options given = {}, time_point at = t0)
      : now{at}, o{std::move(given)}, log{in.journal(), o.journal.level} {
    o.core.restart_grace = 15s;
    core_origin from{.self = incarnation{77}, .now = now, .log = &log};
    from.restored = restore(log, o, now, set_aside);
    bool const is_restored = from.restored.has_value();
    d = std::make_unique<dispatch>(o, std::move(from));
    if (is_restored) BOOST_TEST(d->put_in(now, core::restarted{}).ok());
  }

  connection_id connect(std::string const& first) {
    auto const id = d->open(now, "10.0.0.1:5", secret);
    say(id, first);
    return id;
  }
  void say(connection_id from, std::string const& bytes) {
    d->received(now, from, bytes);
    settle();
  }
  void settle() {
    std::vector<connection_id> dirty;
    while (d->deliver(dirty) || d->release(dirty)) {
      BOOST_TEST(d->commit().ok());
      for (auto const id : dirty) {
        while (d->out(id).has_writable()) {
          auto const bytes = next_bytes(d->out(id));
          replies.feed(bytes);
          d->wrote(now, id, bytes.size());
        }
      }
    }
    BOOST_TEST(d->commit().ok());
  }
  // The next message of this kind.
  template <class Value>
  Value next() {
    for (;;) {
      auto message = replies.take();
      if (auto* const found = std::get_if<Value>(&message.what.value)) return std::move(*found);
    }
  }

  time_point now;
  options o;
  std::string set_aside;
  file_journal log;
  std::unique_ptr<dispatch> d;
  message_reader replies;
};

// Puts a key, and writes a snapshot.
void put_and_save(journalled_job& j, connection_id from, std::uint64_t id, std::string key,
                  bool may_fork = false) {
  j.say(from, put_frame(id, std::move(key), "a value"));
  BOOST_TEST(j.log.write_snapshot(j.d->logic(), may_fork).ok());
  status outcome;
  while (!j.log.finish_snapshot(outcome)) {
  }
  BOOST_TEST(outcome.ok());
}

// A journal with two snapshots, and inputs after each of them.
void write_snapshots(test_directory const& in) {
  journalled_job j{in};
  auto const from = j.connect(hello_frame());
  put_and_save(j, from, 1, "k1");
  put_and_save(j, from, 2, "k2");
  j.say(from, put_frame(3, "k3", "a value"));
}

BOOST_AUTO_TEST_SUITE(journal_test)

BOOST_AUTO_TEST_CASE(a_torn_end_is_cut_off_wherever_it_is_torn) {
  test_directory in;
  auto const ends = write_batches(in);
  auto const whole = content_of(in.segment());
  BOOST_TEST(whole.size() == ends.back());

  for (std::size_t length = ends[3]; length <= whole.size(); ++length) {
    write(in.segment(), whole.substr(0, length));
    fs::remove(last_path(in.journal()));  // as if the write had not returned
    auto const found = read_journal(in.journal());
    std::uint64_t const last = length == whole.size() ? 5 : length >= ends[4] ? 4 : 3;
    // The padding of a batch is no part of it.
    BOOST_TEST((found.last_number == last || found.last_number == last + 1));
    BOOST_TEST(found.damage.ok());
    file_journal again{in.journal()};
    again.go_on();
    again.append(heard(9s, 9));
    BOOST_TEST(again.commit().ok());
    BOOST_TEST(read_journal(in.journal()).last_number == found.last_number + 1);
    fs::remove(segment_path(in.journal(), found.last_number + 1));
  }
}

BOOST_AUTO_TEST_CASE(damage_before_the_end_is_refused_wherever_it_is) {
  test_directory in;
  auto const ends = write_batches(in);
  auto const whole = content_of(in.segment());

  for (std::size_t at = ends[1]; at < ends[2]; ++at) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write(in.segment(), damaged);
    auto const why = refusal(in.journal());
    bool const is_padding = why == "none";
    BOOST_TEST((is_padding || contains(why, "DATA_LOSS: the journal is damaged after batch 1")));
    BOOST_TEST((!is_padding || at >= ends[2] - 7));
  }
}

// Nor can the process that wrote it have left this.
BOOST_AUTO_TEST_CASE(an_end_that_is_no_torn_one_is_refused) {
  test_directory in;
  auto const ends = write_batches(in);
  auto const whole = content_of(in.segment());
  auto zeroed = whole;
  std::fill(zeroed.begin() + static_cast<std::ptrdiff_t>(ends[3]), zeroed.end(), '\0');
  auto flipped = whole;
  flipped[ends[4] + 70] ^= 1;

  write(in.segment(), zeroed);
  BOOST_TEST(contains(refusal(in.journal()), "the journal is damaged after batch 3"));
  write(in.segment(), flipped);
  BOOST_TEST(contains(refusal(in.journal()), "the journal is damaged after batch 4"));
  repair_journal(in.journal());
  BOOST_TEST(read_journal(in.journal()).last_number == 4U);
}

BOOST_AUTO_TEST_CASE(a_missing_last_segment_is_refused_until_it_is_repaired) {
  test_directory in;
  write_batches(in);
  {
    file_journal j{in.journal()};
    j.go_on();
    j.append(heard(6s, 6));
    BOOST_TEST(j.commit().ok());
  }
  fs::remove(segment_path(in.journal(), 6));
  BOOST_TEST(contains(refusal(in.journal()), "0000000000000006.seg': the file is missing"));
  BOOST_TEST(check_journal(in.journal()).damage().code() == errc::data_loss);

  auto const cut = repair_journal(in.journal());

  BOOST_TEST(cut.has_unreadable);
  BOOST_TEST(check_journal(in.journal()).damage().ok());
  file_journal again{in.journal()};
  again.go_on();
  BOOST_TEST(again.last_number() == 5U);
}

// Six segments with one batch each, as of so many processes.
void write_segments(test_directory const& in) {
  { file_journal{in.journal()}.begin({}); }
  for (std::uint64_t i = 1; i <= 6; ++i) {
    file_journal j{in.journal()};
    j.go_on();
    j.append(heard(1s * static_cast<int>(i), i));
    BOOST_TEST_REQUIRE(j.commit().ok());
  }
}

// Any of them, up to all, and at the border of a batch or within it.
BOOST_AUTO_TEST_CASE(segments_that_lack_written_batches_are_refused_with_the_place) {
  for (std::size_t set = 1; set < 64; ++set) {
    for (std::size_t const left : {0u, 40u}) {
      test_directory in;
      write_segments(in);
      std::uint64_t first{};
      for (std::uint64_t i = 1; i <= 6; ++i) {
        if ((set >> (i - 1) & 1) == 0) continue;
        fs::resize_file(segment_path(in.journal(), i), left);
        if (first == 0) first = i;
      }
      auto const place =
          "the journal is damaged after batch " + std::to_string(first - 1) + ", at byte ";
      BOOST_TEST(contains(refusal(in.journal()), place), set << ": " << refusal(in.journal()));
      BOOST_TEST(contains(check_journal(in.journal()).damage().message(), place));

      auto const cut = repair_journal(in.journal());

      BOOST_TEST(cut.batches == 6 - (first - 1));
      BOOST_TEST(cut.has_unreadable);
      BOOST_TEST(check_journal(in.journal()).damage().ok());
      file_journal again{in.journal()};
      again.go_on();
      BOOST_TEST(again.last_number() == first - 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_last_segment_cut_between_batches_is_refused_until_the_next_boot) {
  test_directory in;
  auto const ends = write_batches(in);
  fs::resize_file(in.segment(), ends[3]);
  BOOST_TEST(contains(refusal(in.journal()), "the journal is damaged after batch 3, at byte " +
                                                 std::to_string(ends[3]) + " of '" +
                                                 in.segment().string() +
                                                 "': batches 4 to 5 were written and are missing"));

  write(last_path(in.journal()), "0000000000000001 0000000000000001 0000000000000005\n");
  BOOST_TEST(refusal(in.journal()) == "none");
}

BOOST_AUTO_TEST_CASE(inputs_missing_behind_a_snapshot_are_refused) {
  test_directory in;
  write_snapshots(in);
  auto const last = read_journal(in.journal()).segments.back().path;
  auto const whole = content_of(last);
  fs::resize_file(last, 0);
  BOOST_TEST(contains(refusal(in.journal()), "at byte 0 of '" + last));
  fs::remove(last);
  BOOST_TEST(contains(refusal(in.journal()), last + "': the file is missing"));
  write(last, whole);
  BOOST_TEST(refusal(in.journal()) == "none");
}

// After another boot it is what the end of the machine has left.
BOOST_AUTO_TEST_CASE(after_the_end_of_the_machine_the_last_segment_may_be_missing) {
  test_directory in;
  write_batches(in);
  fs::remove(in.segment());
  BOOST_TEST(refusal(in.journal()) != "none");
  write(last_path(in.journal()), "0000000000000001 0000000000000001\n");
  BOOST_TEST(refusal(in.journal()) == "none");
}

// After the end of the machine later ones may be on the disk without earlier ones.
BOOST_AUTO_TEST_CASE(batches_that_were_never_synchronized_may_be_missing) {
  test_directory in;
  std::vector<std::uint64_t> ends;
  {
    file_journal j{in.journal(), durability::disk};
    j.begin({});
    for (std::uint64_t i = 1; i <= 5; ++i) {
      j.append(heard(1s * static_cast<int>(i), i));
      BOOST_TEST_REQUIRE((i <= 2 ? j.wait_until_durable() : j.commit()).ok());
      ends.push_back(j.bytes_written());
    }
  }
  auto const whole = as_of_another_boot(content_of(in.segment()));
  fs::remove(last_path(in.journal()));
  auto const without = [&](std::size_t batch) {
    auto damaged = whole;
    std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(ends[batch - 2]),
              damaged.begin() + static_cast<std::ptrdiff_t>(ends[batch - 1]), '\0');
    write(in.segment(), damaged);
  };

  without(2);
  BOOST_TEST(contains(refusal(in.journal()), "the journal is damaged after batch 1"));
  without(3);
  BOOST_TEST(refusal(in.journal()) == "none");
  BOOST_TEST(read_journal(in.journal()).last_number == 2u);
  BOOST_TEST(read_journal(in.journal()).is_torn);
}

BOOST_AUTO_TEST_CASE(a_second_coordinator_is_refused) {
  test_directory in;
  file_journal const first{in.journal()};

  BOOST_TEST(
      contains(refusal(in.journal()), "is in use by the process " + std::to_string(::getpid())));
}

BOOST_AUTO_TEST_CASE(a_second_coordinator_is_refused_without_the_lock_file) {
  test_directory in;
  file_journal const first{in.journal()};
  fs::remove(in.journal() + "/lock");

  BOOST_TEST(contains(refusal(in.journal()), "is in use by another process"));
}

BOOST_AUTO_TEST_CASE(only_its_owner_can_read_it) {
  test_directory in;
  write_batches(in);

  auto const others = fs::perms::group_all | fs::perms::others_all;
  BOOST_TEST(((fs::status(in.journal()).permissions() & others) == fs::perms::none));
  BOOST_TEST(((fs::status(in.segment()).permissions() & others) == fs::perms::none));
}

BOOST_AUTO_TEST_CASE(a_failed_write_is_final) {
  test_directory in;
  file_journal j{in.journal()};
  j.begin({});
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto const ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit const small{16, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  j.append(heard(1s, 1));
  auto const first = j.commit();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  j.append(heard(2s, 2));
  auto const second = j.commit();

  BOOST_TEST((first.code() == errc::data_loss));
  BOOST_TEST(contains(first.message(), "cannot be written: File too large"));
  BOOST_TEST((second.code() == errc::data_loss));
}

BOOST_AUTO_TEST_CASE(its_size_is_limited) {
  test_directory in;
  file_journal j{in.journal()};
  j.begin({});
  j.append(heard(1s, 1));
  BOOST_TEST(j.commit().ok());
  BOOST_TEST(j.bytes_on_disk() > 0u);
  BOOST_TEST(j.lack_of_space(t0, 0) == "");
  BOOST_TEST(j.lack_of_space(t0, j.bytes_on_disk()) == "");
  auto const limit = j.bytes_on_disk() - 1;
  BOOST_TEST(j.lack_of_space(t0, limit) == "the journal in '" + in.journal() +
                                               "' has reached its limit of " +
                                               std::to_string(limit) + " bytes");
}

BOOST_AUTO_TEST_CASE(space_is_reserved) {
  test_directory in;
  file_journal j{in.journal()};
  j.begin({});
  BOOST_TEST(j.lack_of_space(t0, 0) == "");
  BOOST_TEST(fs::file_size(in.journal() + "/reserve") == file_journal::reserved_bytes);
}

BOOST_AUTO_TEST_CASE(a_job_continues_where_it_was) {
  test_directory in;
  core::hello_answer hello;
  {
    journalled_job j{in};
    auto const task = j.connect(hello_frame());
    hello = *j.next<boxed<core::hello_answer>>();
    j.say(task, join_frame(1, 0) + put_frame(2, "k", "a value"));
    j.replies = {};
    j.say(task, frame(core::get_args{"later"}, 3, std::nullopt, 1));
    BOOST_TEST(j.replies.empty());
  }

  journalled_job j{in, {}, t0 + 1h};
  BOOST_TEST(j.d->look(j.now).tasks[0].suspect);
  auto const again = j.connect(frame(core::resume_args{.session = hello.session,
                                                       .secret = hello.secret,
                                                       .coordinator = incarnation{77},
                                                       .open = {request_id{3}}},
                                     0, std::nullopt, 2));
  BOOST_TEST(j.next<core::resume_answer>().unknown.empty());
  j.say(again, put_frame(4, "later", "came"));
  BOOST_TEST(j.next<core::value_answer>().value.view() == "came");
  j.replies = {};
  j.say(again, try_get_frame(5, "k"));
  BOOST_TEST(j.next<core::value_answer>().value.view() == "a value");
}

BOOST_AUTO_TEST_CASE(replies_wait_for_the_disk) {
  test_directory in;
  journalled_job j{in, synchronized()};
  auto const task = j.connect(hello_frame());
  BOOST_TEST(j.replies.empty());
  BOOST_TEST(j.log.committed() > j.log.durable());

  BOOST_TEST(j.log.wait_until_durable().ok());
  j.settle();
  BOOST_TEST(j.next<boxed<core::hello_answer>>()->coordinator == incarnation{77});
  BOOST_TEST(!j.d->awaits_durability());

  j.say(task, join_frame(1, 0) + put_frame(2, "k", "a value"));
  BOOST_TEST(j.replies.empty());
  BOOST_TEST(j.d->awaits_durability());
  BOOST_TEST(!j.d->is_durable());
  BOOST_TEST(j.log.wait_until_durable().ok());
  BOOST_TEST(j.d->is_durable());
  j.settle();
  BOOST_TEST(j.replies.take().id.value == 1u);
  BOOST_TEST(j.replies.take().id.value == 2u);
  BOOST_TEST(j.replies.empty());
}

// Those, too, for which there was no room before.
BOOST_AUTO_TEST_CASE(replies_to_a_route_leave_when_the_disk_is_done) {
  test_directory in;
  auto o = synchronized();
  o.queued_bytes_max = 64;
  journalled_job j{in, o};
  core::hello_args hello{.label = "b12:1"};
  hello.relay = true;
  auto const trunk = j.connect(frame(std::move(hello)));
  auto const client = hello_frame() + put_frame(1, "k", std::string(200, 'v')) +
                      try_get_frame(2, "k") + try_get_frame(3, "k") + try_get_frame(4, "k");
  std::string asked;
  wire::append_opened(asked, 1, secret, "pid 3391");
  wire::append_content_head(asked, 1, client.size());
  j.say(trunk, asked + client);

  while (j.d->awaits_durability()) {
    BOOST_TEST(j.log.wait_until_durable().ok());
    j.settle();
  }
  BOOST_TEST(j.d->queued().bytes == 0u);
  BOOST_TEST(j.d->queued().messages == 0u);
}

BOOST_AUTO_TEST_CASE(a_heartbeat_is_answered_before_the_disk_is_done) {
  test_directory in;
  journalled_job j{in, synchronized()};
  auto const task = j.connect(hello_frame());
  BOOST_TEST(j.log.wait_until_durable().ok());
  j.settle();
  j.replies = {};

  j.say(task, join_frame(1, 0));
  for (int i = 0; i < 2; ++i) {
    j.say(task, frame(std::monostate{}, 0));
    BOOST_TEST(j.replies.take().id.value == 0u);
  }
  BOOST_TEST(j.replies.empty());
  BOOST_TEST(j.log.wait_until_durable().ok());
  j.settle();
  BOOST_TEST(j.replies.take().id.value == 1u);
  BOOST_TEST(j.replies.empty());
}

BOOST_AUTO_TEST_CASE(heartbeats_and_pings_of_jax_are_answered_before_the_disk_is_done) {
  test_directory in;
  journalled_job j{in, synchronized()};
  http2::client_session jax{{}};
  std::vector<http2::client_event> events;
  auto const id = j.d->open(j.now, "10.0.0.1:5", secret);
  auto const exchange = [&] {
    std::string asked;
    while (jax.wants_write()) jax.append_output(asked, 1 << 20);
    j.d->received(j.now, id, asked);
    std::vector<connection_id> dirty;
    while (j.d->deliver(dirty) || j.d->release(dirty)) {
      BOOST_TEST(j.d->commit().ok());
      while (j.d->out(id).has_writable()) {
        auto const bytes = next_bytes(j.d->out(id));
        jax.receive(j.now, bytes, events);
        j.d->wrote(j.now, id, bytes.size());
      }
    }
  };
  auto const ask = [&](xla::method what, std::string key = {}) {
    xla::request asked;
    asked.task = xla::task_name{0};
    asked.self = incarnation{10};
    if (what != xla::method::register_task) asked.service = incarnation{77};
    asked.name = std::move(key);
    xla::method_path const path{what, xla::generation::third};
    auto const at = path_of(path);
    auto const stream = jax.start({.path = at}, encode_request(path, asked)).value();
    exchange();
    return stream;
  };
  auto const has_ended = [&](http2::stream_id stream) {
    return std::any_of(events.begin(), events.end(), [&](http2::client_event const& one) {
      auto const* const end = std::get_if<http2::call_ended>(&one);
      return end != nullptr && end->stream == stream && end->outcome.ok();
    });
  };
  auto const has_pong = [&] {
    return std::any_of(events.begin(), events.end(), [](http2::client_event const& one) {
      return std::holds_alternative<http2::ping_answer>(one);
    });
  };
  auto const registered = ask(xla::method::register_task);
  BOOST_TEST(!has_ended(registered));
  BOOST_TEST(j.log.wait_until_durable().ok());
  exchange();
  BOOST_TEST(has_ended(registered));

  auto const put = ask(xla::method::insert_key_value, "key");
  BOOST_TEST(has_ended(ask(xla::method::heartbeat)));
  BOOST_TEST(has_ended(ask(xla::method::heartbeat)));
  jax.ping(0);
  exchange();
  BOOST_TEST(has_pong());
  BOOST_TEST(!has_ended(put));
  BOOST_TEST(j.log.wait_until_durable().ok());
  exchange();
  BOOST_TEST(has_ended(put));
}

BOOST_AUTO_TEST_CASE(a_synchronization_begins_when_something_waits_or_is_old) {
  test_directory in;
  file_journal j{in.journal(), durability::disk};
  j.begin({});
  j.append(heard(1s, 1));
  BOOST_TEST(j.commit().ok());
  auto const due = j.next_synchronization();
  BOOST_TEST_REQUIRE(due.has_value());
  BOOST_TEST(j.synchronize(*due - 1ns, false).ok());
  BOOST_TEST((j.next_synchronization() == due));
  BOOST_TEST(j.synchronize(*due, false).ok());
  BOOST_TEST(!j.next_synchronization().has_value());
  BOOST_TEST(j.wait_until_durable().ok());
  BOOST_TEST(j.durable() == 1u);

  j.append(heard(2s, 1));
  BOOST_TEST(j.commit().ok());
  BOOST_TEST(j.synchronize(time_point{}, true).ok());
  while (j.durable() != 2) BOOST_TEST_REQUIRE(j.synchronize(time_point{}, true).ok());
  BOOST_TEST(!j.next_synchronization().has_value());
}

// A pipe takes what is written and cannot be synchronized.
BOOST_AUTO_TEST_CASE(a_failed_synchronization_is_final) {
  test_directory in;
  file_journal j{in.journal(), durability::disk};
  j.begin({});
  j.append(heard(1s, 1));
  BOOST_TEST(j.wait_until_durable().ok());

  std::array<int, 2> ends{};
  BOOST_TEST_REQUIRE(::pipe(ends.data()) == 0);
  for (auto const& one : fs::directory_iterator{"/proc/self/fd"}) {
    std::error_code none;
    if (fs::read_symlink(one, none) != in.segment()) continue;
    BOOST_TEST_REQUIRE(::dup2(ends[1], std::stoi(one.path().filename())) >= 0);
  }
  j.append(heard(2s, 2));
  auto const first = j.wait_until_durable();
  j.append(heard(3s, 3));
  auto const second = j.commit();
  ::close(ends[0]);
  ::close(ends[1]);

  BOOST_TEST((first.code() == errc::data_loss));
  BOOST_TEST(contains(first.message(), "cannot be synchronized with its disk: Invalid argument"));
  BOOST_TEST((second == first));
  BOOST_TEST(j.durable() == 1u);
}

BOOST_AUTO_TEST_CASE(tokens_are_not_in_it_and_may_change) {
  test_directory in;
  options o;
  o.core.credentials = {{core::role::worker, "first-token-of-all"}};
  {
    journalled_job j{in, o};
    j.connect(hello_frame("first-token-of-all"));
    j.next<boxed<core::hello_answer>>();
  }
  for (auto const& one : fs::recursive_directory_iterator{in.journal()}) {
    if (one.is_regular_file()) BOOST_TEST(!contains(content_of(one), "first-token-of-all"));
  }

  o.core.credentials.front().token = "second";
  journalled_job j{in, o};
  BOOST_TEST(j.d->put_in(j.now, core::credentials_replaced{o.core.credentials}).ok());
  j.connect(hello_frame("second"));
  j.next<boxed<core::hello_answer>>();
}

BOOST_AUTO_TEST_CASE(other_options_are_refused_by_name) {
  test_directory in;
  { journalled_job const j{in}; }
  options other;
  other.core.num_tasks = 7;
  std::string why;
  try {
    journalled_job const j{in, other};
  } catch (error const& e) {
    why = e.what();
  }

  BOOST_TEST(why ==
             "INVALID_ARGUMENT: the journal's job has num_tasks '1', and this coordinator '7': "
             "start it with the same options, or with another journal");
}

BOOST_AUTO_TEST_CASE(options_that_an_older_program_did_not_know_had_their_defaults) {
  core::config now;
  wire::recording_head then{.settings = settings_of(now)};
  std::erase_if(then.settings, [](auto const& one) { return one.first == "spares"; });
  BOOST_TEST(check_options(now, then).ok());
  now.spares = 1;
  BOOST_TEST(contains(check_options(now, then).message(), "the journal's job has spares '0', and"));
}

BOOST_AUTO_TEST_CASE(a_job_that_is_over_is_set_aside) {
  test_directory in;
  {
    journalled_job j{in};
    j.connect(hello_frame() + join_frame(1, 0) + frame(core::leave_args{}, 2, task_id{0}, 1));
    BOOST_TEST(j.d->done());
  }

  journalled_job const j{in};
  BOOST_TEST(j.set_aside == "the job in the journal is done: its files are now in '" +
                                in.journal() + "/ended-77', and a new job begins");
  BOOST_TEST(!j.d->done());
  BOOST_TEST(fs::exists(in.journal() + "/ended-77/head"));
}

std::vector<std::string> files_in(std::string const& directory) {
  std::vector<std::string> names;
  for (auto const& one : fs::directory_iterator{directory}) {
    names.push_back(one.path().extension().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

BOOST_AUTO_TEST_CASE(snapshots_replace_earlier_inputs) {
  test_directory in;
  {
    journalled_job j{in};
    auto const from = j.connect(hello_frame());
    for (std::uint64_t i = 1; i <= 5; ++i) {
      put_and_save(j, from, i, "k" + std::to_string(i), i % 2 == 0);
    }
    j.say(from, put_frame(6, "k6", "a value"));
  }
  // The head, the lock, which segment is the last one, two snapshots, and the inputs after each.
  BOOST_TEST((files_in(in.journal()) ==
              std::vector<std::string>{"", "", "", ".seg", ".seg", ".snap", ".snap"}));

  journalled_job const j{in, {}, t0 + 1h};
  for (int i = 1; i <= 6; ++i) {
    BOOST_TEST(j.d->logic().value("k" + std::to_string(i))->value.view() == "a value");
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_snapshot_is_not_needed) {
  test_directory in;
  write_snapshots(in);
  auto const last = read_journal(in.journal()).snapshots.back().path;
  damage(last, content_of(last).size() / 2);

  journalled_job const j{in, {}, t0 + 1h};
  for (char const* const key : {"k1", "k2", "k3"}) BOOST_TEST(j.d->logic().value(key).has_value());
  BOOST_TEST(fs::exists(last + ".damaged"));
}

BOOST_AUTO_TEST_CASE(a_snapshot_that_cannot_be_written_loses_nothing) {
  test_directory in;
  {
    journalled_job j{in};
    auto const from = j.connect(hello_frame());
    j.say(from, put_frame(1, "k1", "a value"));
    fs::create_directory(snapshot_path(in.journal(), j.log.last_number()) + ".new");
    BOOST_TEST((j.log.write_snapshot(j.d->logic(), false).code() == errc::unavailable));
    j.say(from, put_frame(2, "k2", "a value"));
  }

  journalled_job const j{in, {}, t0 + 1h};
  for (char const* const key : {"k1", "k2"}) BOOST_TEST(j.d->logic().value(key).has_value());
}

// As under a parent that ignores it, which children inherit.
BOOST_AUTO_TEST_CASE(a_failed_snapshot_is_noticed_while_SIGCHLD_is_ignored) {
  auto const before = std::signal(SIGCHLD, SIG_IGN);
  for (bool const fails : {true, false}) {
    test_directory in;
    journalled_job j{in};
    auto const from = j.connect(hello_frame());
    j.say(from, put_frame(1, "k1", "a value"));
    auto const path = snapshot_path(in.journal(), j.log.last_number());
    if (fails) fs::create_directory(path + ".new");

    BOOST_TEST(j.log.write_snapshot(j.d->logic(), true).ok());
    status outcome;
    while (!j.log.finish_snapshot(outcome)) {
    }

    BOOST_TEST(outcome.ok() != fails);
    BOOST_TEST(j.log.counted().snapshots_failed == (fails ? 1U : 0U));
    BOOST_TEST(fs::exists(path) != fails);
  }
  std::signal(SIGCHLD, before);
}

// The descriptors of this process's only child, except the standard ones.
std::vector<std::string> descriptors_of_child() {
  auto const self = std::to_string(::getpid());
  std::string child;
  std::ifstream{"/proc/self/task/" + self + "/children"} >> child;
  BOOST_TEST_REQUIRE(!child.empty());
  std::vector<std::string> all;
  for (auto const& one : fs::directory_iterator{"/proc/" + child + "/fd"}) {
    std::error_code gone;
    auto to = fs::read_symlink(one.path(), gone).string();
    bool const is_standard = std::stoi(one.path().filename().string()) <= STDERR_FILENO;
    if (!gone && !is_standard) all.push_back(std::move(to));
  }
  return all;
}

BOOST_AUTO_TEST_CASE(the_child_that_writes_a_snapshot_has_neither_the_lock_nor_a_connection) {
  test_directory in;
  journalled_job j{in};
  auto const from = j.connect(hello_frame());
  j.say(from, put_frame(1, "k1", "a value"));
  // The child stops where it opens this.
  auto const stops_at = snapshot_path(in.journal(), j.log.last_number()) + ".new";
  BOOST_TEST_REQUIRE(::mkfifo(stops_at.c_str(), 0600) == 0);
  net::descriptor const other{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};

  BOOST_TEST(j.log.write_snapshot(j.d->logic(), true).ok());

  net::wait_until([&] { return descriptors_of_child().empty(); });
}

BOOST_AUTO_TEST_CASE(a_refused_put_costs_no_journal) {
  test_directory in;
  {
    journalled_job j{in};
    auto const from = j.connect(hello_frame());
    j.say(from, put_frame(1, "kept", "a value"));
    BOOST_TEST(j.d->put_in(j.now, core::storing_refused{"the disk is full"}).ok());
    auto const before = j.log.bytes_written();
    for (std::uint64_t i = 2; i <= 9; ++i) {
      j.say(from, put_frame(i, "big", std::string(10'000, 'x')));
    }
    BOOST_TEST(j.log.bytes_written() - before < 8u * 150);
  }

  journalled_job const j{in, {}, t0 + 1h};
  BOOST_TEST(j.d->logic().value("kept").has_value());
  BOOST_TEST(!j.d->logic().value("big").has_value());
}

// One that is open goes on.
BOOST_AUTO_TEST_CASE(a_refused_round_costs_no_journal) {
  test_directory in;
  options of_two;
  of_two.core.num_tasks = 2;
  of_two.core.join_barrier = false;
  journalled_job j{in, of_two};
  auto const one = j.connect(hello_frame() + join_frame(1, 0));
  auto const two = j.connect(hello_frame() + join_frame(1, 1));
  core::barrier_args round{.name = "open", .gather = true, .data = "first"};
  auto const frame = [&](std::uint64_t id, core::request what) {
    std::string bytes;
    wire::append_frame(bytes, {request_id{id}, 0, std::nullopt, std::move(what)});
    return bytes;
  };
  j.say(one, frame(2, round));
  BOOST_TEST(j.d->put_in(j.now, core::storing_refused{"the disk is full"}).ok());
  auto const before = j.log.bytes_written();

  for (std::uint64_t i = 3; i <= 10; ++i) {
    round.name = "new";
    round.data = std::string(10'000, 'x');
    j.say(one, frame(2 * i, round));
    core::local_topology mine;
    mine.devices.resize(100);
    j.say(one, frame(2 * i + 1, core::exchange_topology_args{"tpu", mine}));
  }

  BOOST_TEST(j.log.bytes_written() - before < 16u * 150);
  round.name = "open";
  round.data = "second";
  j.say(two, frame(2, round));
  BOOST_TEST((j.d->logic().history(j.now, "open").passed == round_number{1}));
  BOOST_TEST((j.d->logic().history(j.now, "new").open == round_number{}));
}

BOOST_AUTO_TEST_CASE(a_repair_cuts_at_the_damage_and_keeps_what_it_cuts) {
  test_directory in;
  auto const ends = write_batches(in);
  auto const whole = content_of(in.segment());
  damage(in.segment(), ends[2] + 70);
  auto const damaged = content_of(in.segment());
  BOOST_TEST(contains(refusal(in.journal()), "coxswain journal repair " + in.journal()));
  BOOST_TEST((check_journal(in.journal()).damage().code() == errc::data_loss));

  auto const cut = repair_journal(in.journal());

  // Of three batches the first cannot be read.
  BOOST_TEST(cut.batches == 3U);
  BOOST_TEST(cut.inputs == 2U);
  BOOST_TEST(cut.has_unreadable);
  BOOST_TEST((cut.time == 3s));
  BOOST_TEST_REQUIRE(cut.kept_in.size() == 1U);
  BOOST_TEST(cut.kept_in.front() == in.journal() + "/cut-0000000000000003.seg");
  BOOST_TEST(content_of(cut.kept_in.front()) == damaged.substr(ends[2]));
  BOOST_TEST(content_of(in.segment()) == whole.substr(0, ends[2]));
  BOOST_TEST(check_journal(in.journal()).damage().ok());
  file_journal again{in.journal()};
  again.go_on();
  BOOST_TEST(again.last_number() == 2U);
}

BOOST_AUTO_TEST_CASE(a_repair_is_possible_wherever_a_journal_is_damaged) {
  test_directory in;
  auto const ends = write_batches(in);
  auto const whole = content_of(in.segment());

  for (std::size_t at = 0; at < whole.size(); at += 3) {
    write(in.segment(), whole);
    damage(in.segment(), at);
    auto const wrong = std::upper_bound(ends.begin(), ends.end(), at) - ends.begin();

    repair_journal(in.journal());

    auto const now = check_journal(in.journal());
    BOOST_TEST(now.damage().ok());
    BOOST_TEST(!now.used.is_torn);
    BOOST_TEST(now.used.last_number + 1 >= static_cast<std::uint64_t>(wrong));
  }
}

BOOST_AUTO_TEST_CASE(a_repair_sets_later_segments_aside) {
  test_directory in;
  auto const ends = write_batches(in);
  {
    file_journal j{in.journal()};
    j.go_on();
    j.append(heard(6s, 6));
    BOOST_TEST(j.commit().ok());
  }
  damage(in.segment(), ends[4] + 70);

  auto const cut = repair_journal(in.journal());

  BOOST_TEST(cut.batches == 2U);
  BOOST_TEST(cut.kept_in.size() == 2U);
  BOOST_TEST(!fs::exists(segment_path(in.journal(), 6)));
  BOOST_TEST(read_journal(in.journal()).last_number == 4U);
}

BOOST_AUTO_TEST_CASE(a_whole_journal_is_not_repaired_and_a_torn_one_loses_nothing) {
  test_directory in;
  auto const ends = write_batches(in);
  BOOST_TEST(repair_journal(in.journal()).kept_in.empty());
  fs::resize_file(in.segment(), ends[5] - 20);
  fs::remove(last_path(in.journal()));  // as if the write had not returned
  BOOST_TEST(check_journal(in.journal()).used.is_torn);
  BOOST_TEST(check_journal(in.journal()).damage().ok());

  auto const cut = repair_journal(in.journal());

  BOOST_TEST(cut.batches == 0U);
  BOOST_TEST(cut.inputs == 0U);
  BOOST_TEST(!check_journal(in.journal()).used.is_torn);
}

BOOST_AUTO_TEST_CASE(a_repair_keeps_what_a_damaged_snapshot_had) {
  test_directory in;
  write_snapshots(in);
  auto const snapshots = read_journal(in.journal()).snapshots;
  for (bool const in_head : {true, false}) {
    auto const& last = snapshots.back().path;
    auto const whole = content_of(last);
    damage(last, in_head ? 9 : whole.size() / 2);
    BOOST_TEST(contains(check_journal(in.journal()).damage().message(), last));

    auto const cut = repair_journal(in.journal());

    BOOST_TEST(cut.inputs == 0U);
    BOOST_TEST(check_journal(in.journal()).damage().ok());
    {
      journalled_job const j{in, {}, t0 + 1h};
      BOOST_TEST(j.d->logic().value("k3").has_value());
    }
    if (in_head) write(last, whole);
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_older_snapshot_is_set_aside) {
  test_directory in;
  write_snapshots(in);
  auto const oldest = read_journal(in.journal()).snapshots.front().path;
  damage(oldest, 9);
  BOOST_TEST(contains(check_journal(in.journal()).damage().message(), oldest));

  auto const cut = repair_journal(in.journal());

  BOOST_TEST(cut.kept_in.size() == 1U);
  BOOST_TEST(check_journal(in.journal()).damage().ok());
}

BOOST_AUTO_TEST_CASE(inputs_that_only_an_older_snapshot_needs_are_checked) {
  test_directory in;
  write_snapshots(in);
  auto const check = check_journal(in.journal());
  BOOST_TEST(check.damage().ok());
  BOOST_TEST_REQUIRE(check.earlier.size() == 1U);
  damage(check.earlier.front().path, 70);
  BOOST_TEST(contains(check_journal(in.journal()).damage().message(), check.earlier.front().path));

  auto const cut = repair_journal(in.journal());

  BOOST_TEST(cut.inputs == 0U);
  BOOST_TEST(cut.kept_in.size() == 2U);
  BOOST_TEST(check_journal(in.journal()).damage().ok());
  journalled_job const j{in, {}, t0 + 1h};
  BOOST_TEST(j.d->logic().value("k3").has_value());
}

BOOST_AUTO_TEST_CASE(a_journal_without_a_state_to_begin_with_is_refused) {
  test_directory in;
  write_snapshots(in);
  for (auto const& snapshot : read_journal(in.journal()).snapshots) damage(snapshot.path, 9);
  BOOST_TEST(contains(refusal(in.journal()), "has no snapshot that can be read"));
  BOOST_CHECK_THROW(repair_journal(in.journal()), error);

  fs::remove(head_path(in.journal()));
  BOOST_TEST(contains(refusal(in.journal()), "has no head, but other files of a job"));
}

// Gives all batches of a segment the next behaviour number.
void change_behaviour(fs::path const& file) {
  auto content = content_of(file);
  std::string changed;
  std::uint32_t checksum = read_batch(content)->previous;
  for (std::string_view rest{content}; !rest.empty();) {
    auto const one = read_batch(rest).value();
    std::string bytes{rest.substr(0, one.bytes())};
    auto const put = [&bytes](std::size_t at, std::uint32_t number) {
      for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(number >> 8 * i);
    };
    put(48, one.behaviour + 1);
    put(56, checksum);
    auto const data = std::string_view{bytes}.substr(batch_head_bytes, one.payload.size());
    checksum = checksum_of(data, checksum_of(std::string_view{bytes}.substr(0, 60)));
    put(60, checksum);
    changed += bytes;
    rest.remove_prefix(bytes.size());
  }
  write(file, changed);
}

BOOST_AUTO_TEST_CASE(inputs_of_another_behaviour_are_refused_with_both_numbers) {
  test_directory in;
  {
    journalled_job j{in};
    j.connect(hello_frame());
  }
  change_behaviour(in.segment());
  std::string why;
  try {
    journalled_job const j{in};
  } catch (error const& e) {
    why = e.what();
  }

  auto const here = std::to_string(core::behaviour);
  auto const there = std::to_string(core::behaviour + 1);
  BOOST_TEST(why == "INVALID_ARGUMENT: the journal in '" + in.journal() +
                        "' cannot be replayed: its inputs are of behaviour " + there +
                        ", and this program has behaviour " + here +
                        ". Start the program that wrote them with --keep, and end it with SIGTERM: "
                        "then this one continues from its snapshot");
  BOOST_TEST(check_journal(in.journal()).damage().ok());
  BOOST_CHECK_THROW(static_cast<void>(records_of(read_journal(in.journal()))), error);
}

BOOST_AUTO_TEST_CASE(a_journal_can_be_replayed_from_its_last_snapshot) {
  test_directory in;
  write_snapshots(in);
  {
    journalled_job j{in, {}, t0 + 1h};
    j.connect(hello_frame() + join_frame(1, 0));
  }
  auto const found = read_journal(in.journal());
  auto const records = records_of(found);

  replay again{found, records};
  std::vector<std::string> events;
  while (again.step()) {
    for (auto const& event : again.events()) events.push_back(event.text);
  }

  BOOST_TEST(again.look().keys == 3U);
  BOOST_TEST(std::any_of(events.begin(), events.end(), [](std::string const& one) {
    return contains(one, "the coordinator was restarted after");
  }));
}

BOOST_AUTO_TEST_CASE(a_replay_at_a_start_reports_its_progress) {
  test_directory in;
  {
    journalled_job j{in};
    j.connect(hello_frame());
  }
  std::vector<journal_progress> all;
  options o;
  o.journal.progress = [&](journal_progress const& so_far) { all.push_back(so_far); };
  journalled_job const j{in, o};

  BOOST_TEST_REQUIRE(!all.empty());
  BOOST_TEST(all.front().bytes == 0U);
  BOOST_TEST(all.front().bytes_in_all == fs::file_size(in.segment()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
