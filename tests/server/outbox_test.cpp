#include "coxswain/server/outbox.hpp"

#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <random>
#include <string>
#include <vector>

namespace coxswain::server {
namespace {

constexpr std::size_t roomy = 64 * 1024 * 1024;

struct fixture {
  std::string all_of(outbox& from) {
    std::string all;
    while (!from.empty()) {
      auto const text = next_bytes(from);
      all += text;
      from.written(text.size(), encoded);
      from.check_invariants();
    }
    return all;
  }

  std::vector<std::uint64_t> ids_of(outbox& from) { return ids_in(all_of(from)); }

  // Of what is not held back.
  std::vector<std::uint64_t> written_ids(outbox& from) {
    std::string all;
    while (from.has_writable()) {
      auto const text = next_bytes(from).substr(0, 7);
      all += text;
      from.written(text.size(), encoded);
      from.check_invariants();
    }
    return ids_in(all);
  }

  static std::vector<std::uint64_t> ids_in(std::string const& all) {
    message_reader reader;
    reader.feed(all);
    std::vector<std::uint64_t> ids;
    while (!reader.empty()) ids.push_back(reader.take().id.value);
    return ids;
  }

  meter_ptr memory = make_meter(1 << 30);
  encoder encoded{memory};
};

using numbers = std::vector<std::uint64_t>;

bytes value(std::size_t size, char fill = 'v') { return bytes{std::string(size, fill)}; }

BOOST_FIXTURE_TEST_SUITE(outbox_test, fixture)

BOOST_AUTO_TEST_CASE(replies_leave_in_order_as_frames) {
  outbox out{memory, roomy};
  out.push(request_id{7}, answer_of({errc::not_found, "no such key"}), encoded);
  out.push(request_id{}, answer_of({}), encoded);
  out.push(request_id{8}, value_of(value(10)), encoded);

  message_reader reader;
  auto const all = all_of(out);
  reader.feed(all);

  auto const first = reader.take();
  BOOST_TEST(first.id.value == 7u);
  BOOST_TEST(first.what.outcome == (status{errc::not_found, "no such key"}));
  BOOST_TEST(reader.take().id.value == 0u);
  auto const third = reader.take();
  BOOST_TEST(std::get<core::value_answer>(third.what.value).value.view() == "vvvvvvvvvv");
  BOOST_TEST(reader.empty());
}

BOOST_AUTO_TEST_CASE(held_output_leaves_when_it_is_released) {
  outbox out{memory, roomy};
  out.hold();
  out.push(request_id{1}, answer_of({}), encoded);
  BOOST_TEST(out.has_grown());
  auto const first = out.end();
  out.push(request_id{2}, value_of(value(100'000)), encoded);
  out.push(request_id{3}, answer_of({}), encoded);
  BOOST_TEST(out.has_grown());
  BOOST_TEST(!out.has_grown());
  BOOST_TEST(!out.has_writable());
  BOOST_TEST(next_bytes(out).empty());

  out.release(first);
  BOOST_TEST(written_ids(out) == numbers{1});
  BOOST_TEST(!out.has_writable());
  BOOST_TEST(!out.empty());

  out.release(out.end());
  BOOST_TEST(ids_of(out) == (numbers{2, 3}));
}

BOOST_AUTO_TEST_CASE(a_message_overtakes_held_output) {
  outbox out{memory, roomy};
  outbox other{memory, roomy};
  other.push(request_id{9}, answer_of({}), encoded);
  auto const urgent = all_of(other);

  out.hold();
  out.push(request_id{1}, answer_of({}), encoded);
  auto const first = out.end();
  out.overtake(urgent);
  BOOST_TEST(out.end() == first);
  BOOST_TEST(written_ids(out) == numbers{9});

  out.push(request_id{2}, value_of(value(100'000)), encoded);
  out.release(first);
  BOOST_TEST(written_ids(out) == numbers{1});
  out.overtake(urgent);
  out.release(out.end());
  BOOST_TEST(ids_of(out) == (numbers{9, 2}));
}

BOOST_AUTO_TEST_CASE(small_replies_are_one_piece) {
  outbox out{memory, roomy};
  for (std::uint64_t i = 1; i <= 100; ++i) out.push(request_id{i}, answer_of({}), encoded);

  std::array<iovec, 4> room;
  BOOST_TEST(out.fill(room).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_large_value_is_not_copied) {
  outbox out{memory, roomy};
  auto const large = value(1 << 20);
  out.push(request_id{1}, value_of(large), encoded);
  out.push(request_id{2}, value_of(large), encoded);

  std::array<iovec, 4> room;
  auto const pieces = out.fill(room);
  BOOST_TEST_REQUIRE(pieces.size() == 4u);
  BOOST_TEST((pieces[1].iov_base == large.view().data()));
  BOOST_TEST((pieces[3].iov_base == large.view().data()));
  BOOST_TEST(memory->transit() < 100u);
  BOOST_TEST(out.queued_bytes() == pieces[0].iov_len + pieces[2].iov_len + 2 * large.size());
  BOOST_TEST(all_of(out).size() == 2 * large.size() + pieces[0].iov_len + pieces[2].iov_len);
}

BOOST_AUTO_TEST_CASE(pieces_above_the_iovec_limit_take_several_writes) {
  outbox out{memory, roomy};
  numbers expected;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    out.push(request_id{i}, value_of(value(5'000)), encoded);
    expected.push_back(i);
  }

  BOOST_TEST(ids_of(out) == expected, boost::test_tools::per_element());
}

// Moving a buffer of 64 MiB took 20 ms.
BOOST_AUTO_TEST_CASE(buffers_have_bounded_size) {
  auto const reply = answer_of({errc::not_found, std::string(3'000, 'x')});
  outbox out{memory, roomy};
  numbers expected;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    out.push(request_id{i}, reply, encoded);
    expected.push_back(i);
  }

  std::array<iovec, 20> room;
  std::size_t total = 0;
  for (iovec const& buffer : out.fill(room)) {
    BOOST_TEST(buffer.iov_len < 68U * 1024);
    total += buffer.iov_len;
  }
  BOOST_TEST(total == out.queued_bytes());
  BOOST_TEST(ids_of(out) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_buffer_is_counted_while_held) {
  auto const reply = answer_of({errc::not_found, std::string(1'000, 'x')});
  outbox out{memory, roomy};
  for (std::uint64_t i = 1; i <= 200; ++i) out.push(request_id{i}, reply, encoded);
  encoded.forget();
  auto const held = memory->transit();
  auto const size = out.queued_bytes();
  BOOST_TEST(held >= size);

  out.written(size / 2, encoded);
  BOOST_TEST(memory->transit() < held);
  BOOST_TEST(memory->transit() >= out.queued_bytes());
  out.written(out.queued_bytes(), encoded);
  BOOST_TEST(memory->transit() == 0u);
  {
    outbox dying{memory, roomy};
    dying.push(request_id{1}, reply, encoded);
    encoded.forget();
    BOOST_TEST(memory->transit() > 0u);
  }
  BOOST_TEST(memory->transit() == 0u);
}

BOOST_AUTO_TEST_CASE(a_reply_without_room_waits_and_follows_in_order) {
  outbox out{memory, 25'000};
  for (std::uint64_t i = 1; i <= 4; ++i) out.push(request_id{i}, value_of(value(10'000)), encoded);
  out.push(request_id{5}, answer_of({}), encoded);  // would fit, but an earlier one waits

  BOOST_TEST(out.waiting() == 3u);
  BOOST_TEST(out.queued_bytes() > 20'000u);
  BOOST_TEST(out.queued_bytes() <= 25'000u);
  out.written(6'000, encoded);
  BOOST_TEST(out.waiting() == 2u);
  BOOST_TEST(out.queued_bytes() <= 25'000u);
  out.check_invariants();

  auto const rest = all_of(out);
  BOOST_TEST(rest.size() > 34'000u);
  BOOST_TEST(out.waiting() == 0u);
}

BOOST_AUTO_TEST_CASE(waiting_replies_keep_their_order) {
  outbox out{memory, 25'000};
  numbers expected;
  for (std::uint64_t i = 1; i <= 3'000; ++i) {
    out.push(request_id{i}, value_of(value(i % 3 == 0 ? 10'000 : 10)), encoded);
    expected.push_back(i);
  }

  BOOST_TEST(ids_of(out) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_waiting_reply_is_not_encoded) {
  outbox out{memory, 100};
  auto const first = answer_of({errc::not_found, std::string(90, 'x')});
  auto const second = answer_of({errc::not_found, std::string(90, 'y')});
  out.push(request_id{1}, first, encoded);
  encoded.forget();
  auto const used = memory->transit();
  out.push(request_id{2}, second, encoded);
  encoded.forget();

  auto const counted = sizeof(request_id) + sizeof(core::answer_ptr) + sizeof(core::answer) + 90;
  BOOST_TEST(memory->transit() == used + counted);
  BOOST_TEST(first->use_count() == 1);
  BOOST_TEST(second->use_count() == 2);  // waits unencoded
}

BOOST_AUTO_TEST_CASE(replies_wait_when_shared_memory_is_full) {
  auto const scarce = make_meter(32'000);
  encoder by{scarce};
  scarce->add_transit(30'000);  // 1,000 of the remaining bytes are not for replies
  outbox out{scarce, roomy};
  outbox other{scarce, roomy};
  for (std::uint64_t i = 1; i <= 3; ++i) out.push(request_id{i}, value_of(value(700)), by);
  other.push(request_id{9}, value_of(bytes{std::string(3'000, 'v'), scarce}), by);

  BOOST_TEST(out.waiting() == 2u);
  BOOST_TEST(other.waiting() == 0u);  // at least one is sent
  BOOST_TEST(scarce->transit() > 32'000u);
  message_reader reader;
  for (std::size_t left : {1u, 0u, 0u}) {
    auto const text = next_bytes(out);
    reader.feed(text);
    out.written(text.size(), by);
    BOOST_TEST(out.waiting() == left);
    out.check_invariants();
  }
  for (std::uint64_t i = 1; i <= 3; ++i) BOOST_TEST(reader.take().id.value == i);
  scarce->subtract_transit(30'000);
  other.abandon();
  by.forget();
  BOOST_TEST(scarce->transit() == 0u);
}

BOOST_AUTO_TEST_CASE(a_stored_value_needs_no_extra_memory) {
  auto const scarce = make_meter(1'000'000);
  encoder by{scarce};
  owned_bytes const stored{bytes{std::string(900'000, 'v'), scarce}};
  outbox out{scarce, roomy};

  for (std::uint64_t i = 1; i <= 10; ++i) out.push(request_id{i}, value_of(stored), by);

  BOOST_TEST(out.waiting() == 0u);
  BOOST_TEST(out.queued_bytes() > 9'000'000u);
  BOOST_TEST(scarce->transit() < 1'000u);
}

BOOST_AUTO_TEST_CASE(barrier_progress_does_not_wait) {
  outbox out{memory, 100};
  auto const progress = core::make_answer({{}, core::barrier_progress{}});
  out.push(request_id{}, progress, encoded);
  out.push(request_id{1}, value_of(value(500)), encoded);
  for (int i = 0; i < 1'000; ++i) out.push(request_id{}, progress, encoded);

  BOOST_TEST(out.waiting() == 1u);
  BOOST_TEST(ids_of(out) == (numbers{0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_reply_above_the_limit_is_sent_alone) {
  outbox out{memory, 1'000};
  out.push(request_id{1}, value_of(value(50'000)), encoded);
  out.push(request_id{2}, value_of(value(60'000)), encoded);

  BOOST_TEST(out.queued_bytes() > 50'000u);
  BOOST_TEST(out.waiting() == 1u);
  out.written(out.queued_bytes() - 1, encoded);
  BOOST_TEST(out.waiting() == 1u);
  out.written(1, encoded);
  BOOST_TEST(out.waiting() == 0u);
  BOOST_TEST(out.queued_bytes() > 60'000u);
}

BOOST_AUTO_TEST_CASE(after_a_goodbye_no_message_is_queued) {
  outbox out{memory, roomy};
  out.push(request_id{1}, answer_of({}), encoded);
  BOOST_TEST(!out.ends());
  out.push(request_id{}, goodbye_of("enough"), encoded);
  out.push(request_id{2}, answer_of({}), encoded);

  BOOST_TEST(out.ends());
  BOOST_TEST(ids_of(out) == (numbers{1, 0}), boost::test_tools::per_element());
  BOOST_TEST(out.ends());
}

BOOST_AUTO_TEST_CASE(a_goodbye_follows_queued_replies) {
  outbox out{memory, 100};
  out.push(request_id{1}, value_of(value(500)), encoded);
  out.push(request_id{2}, value_of(value(500)), encoded);
  out.push(request_id{}, goodbye_of("enough"), encoded);

  BOOST_TEST(out.ends());
  BOOST_TEST(out.waiting() == 2u);
  BOOST_TEST(ids_of(out) == (numbers{1, 2, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_abandoned_outbox_is_empty) {
  outbox out{memory, 1'000};
  for (std::uint64_t i = 1; i <= 5; ++i) out.push(request_id{i}, value_of(value(5'000)), encoded);
  out.written(100, encoded);

  out.abandon();

  encoded.forget();
  BOOST_TEST(out.empty());
  BOOST_TEST(out.ends());
  BOOST_TEST(out.waiting() == 0u);
  BOOST_TEST(memory->transit() == 0u);
  out.check_invariants();
}

// Any mixture of replies and partial writes gives the bytes that one write of all would.
BOOST_AUTO_TEST_CASE(any_splitting_of_the_writes_gives_the_same_bytes) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937 random{seed};
      auto const below = [&](std::size_t limit) { return random() % limit; };
      outbox out{memory, 1 + below(100'000)};
      std::string expected;
      std::string written;
      auto const write = [&](std::size_t most) {
        auto const text = next_bytes(out).substr(0, most);
        written += text;
        out.written(text.size(), encoded);
        out.check_invariants();
      };
      for (std::uint64_t i = 1; i <= 100; ++i) {
        auto const what = below(3) == 0 ? value_of(value(below(30'000), 'a'))
                                        : answer_of({errc::aborted, std::string(below(300), 'm')});
        auto const whole = wire::encode(*what);
        wire::append_server_head(expected, request_id{i}, whole.size());
        expected.append(whole.head).append(whole.tail.view());
        out.push(request_id{i}, what, encoded);
        out.check_invariants();
        if (below(2) == 0 && !out.empty()) write(1 + below(20'000));
      }
      while (!out.empty()) write(1 + below(50'000));
      encoded.forget();
      BOOST_TEST((written == expected));
      BOOST_TEST(memory->transit() == 0u);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
