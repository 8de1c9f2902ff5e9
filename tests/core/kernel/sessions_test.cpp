#include "coxswain/core/kernel/sessions.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <vector>

namespace coxswain::core {
namespace {

answer_ptr made(errc code = errc::ok, std::string text = {}) {
  return make_answer({status{code, std::move(text)}, {}});
}

std::vector<request_id> ids(std::vector<std::uint64_t> const& numbers) {
  std::vector<request_id> made;
  for (auto const n : numbers) made.push_back(request_id{n});
  return made;
}

parked at_key(std::string name) {
  parked p;
  p.name = std::move(name);
  return p;
}

// One session on one connection.
struct harness {
  meter_ptr memory = make_meter(1'000'000);
  std::vector<outgoing> out;
  std::unique_ptr<sessions> all = std::make_unique<sessions>(memory, out);
  connection_id on = all->add_connection({});
  session_id id = opened();

  session_id opened() {
    session s;
    s.attached = on;
    return all->add(std::move(s));
  }
  session& s() { return *all->find(id); }
  void reply(std::uint64_t request, bool keep) {
    all->reply({id, request_id{request}}, made(), keep);
  }
  // The requests answered since the last look.
  std::string sent() {
    std::string text;
    for (auto const& o : std::exchange(out, {})) {
      text += (text.empty() ? "" : " ") + std::to_string(o.in_reply_to.value);
    }
    return text;
  }
  std::string resume(std::uint64_t answered, std::vector<std::uint64_t> const& open) {
    s().attached = on;
    std::string unknown;
    for (auto const r : all->resume(s(), answered, ids(open))) {
      unknown += (unknown.empty() ? "" : " ") + std::to_string(r.value);
    }
    return unknown;
  }
};

BOOST_AUTO_TEST_SUITE(sessions_test)

BOOST_AUTO_TEST_CASE(every_reply_is_counted_and_pushes_are_not) {
  harness d;
  d.reply(1, true);
  d.reply(2, false);
  d.all->push(d.s(), made());
  d.all->push(d.on, made());

  BOOST_TEST(d.s().replies_sent == 2u);
  BOOST_TEST(d.sent() == "1 2 0 0");
}

BOOST_AUTO_TEST_CASE(a_parked_request_is_unparked_once) {
  harness d;
  d.all->park(d.s(), request_id{5}, at_key("k"));
  BOOST_TEST(d.memory->used() > 0u);

  auto const p = d.all->unpark({d.id, request_id{5}});

  BOOST_TEST_REQUIRE(p.has_value());
  BOOST_TEST(p->name.get() == "k");
  BOOST_TEST(!d.all->unpark({d.id, request_id{5}}).has_value());
  BOOST_TEST(!d.all->unpark({session_id{99}, request_id{5}}).has_value());
  BOOST_TEST(d.memory->used() == 0u);
}

BOOST_AUTO_TEST_CASE(a_request_unknown_at_an_older_resume_is_invalid_after_a_newer_one) {
  harness d;
  for (std::uint64_t const i : {1u, 2u}) BOOST_TEST(d.all->admit(d.s(), request_id{i}));
  BOOST_TEST(d.resume(0, {1, 2}) == "1 2");
  BOOST_TEST(d.resume(0, {2}) == "2");

  BOOST_TEST(!d.all->admit(d.s(), request_id{1}));
  BOOST_TEST(d.all->admit(d.s(), request_id{2}));
}

BOOST_AUTO_TEST_CASE(kept_text_is_counted_as_memory) {
  harness d;
  d.all->reply({d.id, request_id{1}}, made(errc::internal, std::string(800, 'x')), true);

  BOOST_TEST(d.memory->used() >= 800u);
  BOOST_TEST(d.all->acknowledge(d.s(), 1));
  BOOST_TEST(d.memory->used() == 0u);
}

BOOST_AUTO_TEST_CASE(an_erased_session_frees_its_memory_and_gets_no_messages) {
  harness d;
  d.reply(1, true);
  session_id const gone = d.id;
  static_cast<void>(d.sent());

  d.all->erase(gone);
  d.all->reply({gone, request_id{2}}, made(), true);

  BOOST_TEST(d.memory->used() == 0u);
  BOOST_TEST(d.sent() == "");
}

BOOST_AUTO_TEST_CASE(destroying_the_table_frees_the_memory_of_its_sessions) {
  harness d;
  d.reply(1, true);
  d.all->park(d.s(), request_id{2}, at_key("k"));

  d.all.reset();

  BOOST_TEST(d.memory->used() == 0u);
}

BOOST_AUTO_TEST_CASE(a_push_counts_as_written_to_the_session) {
  harness d;
  BOOST_TEST(!d.s().wrote_since_heartbeat);

  d.all->push(d.s(), made());

  BOOST_TEST(d.s().wrote_since_heartbeat);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
