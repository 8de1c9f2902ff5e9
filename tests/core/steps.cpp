#include "tests/core/steps.hpp"

#include "tests/scenarios/words.hpp"

#include <array>
#include <functional>
#include <iomanip>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace coxswain::test {
namespace {

using words = std::vector<std::string>;

words split(std::string const& text) {
  std::istringstream in{text};
  words all;
  for (std::string word; in >> std::quoted(word, '\'');) all.push_back(word);
  return all;
}

std::string join(words const& all, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < all.size(); ++i) text += (i > from ? " " : "") + all[i];
  return text;
}

bool has_in_order(std::string_view text, std::string_view parts) {
  for (std::size_t at = 0;;) {
    std::size_t const end = parts.find(" ... ");
    std::string_view const part = parts.substr(0, end);
    at = text.find(part, at);
    if (at == text.npos || end == parts.npos) return at != text.npos;
    at += part.size();
    parts.remove_prefix(end + 5);
  }
}

class play {
 public:
  explicit play(row const& of) : row_{of} {
    std::string_view steps = row_.steps;
    bool const empty = steps.starts_with("empty");
    auto made = empty ? new cluster{cluster::without_clients(row_.tasks, row_.options)}
                      : new cluster{row_.tasks, row_.options};
    c_.reset(made);
    std::istringstream in{row_.steps + (empty ? 6 : 0)};
    for (std::string step; std::getline(in >> std::ws, step, ';');) {
      BOOST_TEST_CONTEXT("step: " << step) { run(step); }
    }
  }

 private:
  void run(std::string const& step) {
    std::string const padded = step + ' ';
    for (std::string_view const relation : {" -> ", " !~ ", " ~ "}) {
      auto const at = padded.find(relation);
      if (at == padded.npos) continue;
      auto const after = padded.substr(at + relation.size());
      auto const expected = after.substr(0, after.find_last_not_of(' ') + 1);
      return compare(split(padded.substr(0, at)), relation, expected);
    }
    auto const all = split(step);
    if (!act(all)) send(all);
  }

  void compare(words const& all, std::string_view relation, std::string const& expected) {
    if (auto const seen = look(all)) return check({*seen}, relation, expected);
    auto const expectations = split(expected);
    bool const are_names = std::ranges::all_of(all, [&](auto& n) { return calls_.contains(n); });
    if (!are_names) return check(send(all), relation, expected);
    if (all.size() == 1) return check(calls_.at(all[0]), relation, expected);
    for (std::size_t i = 0; i < all.size(); ++i) {
      check(calls_.at(all[i]), relation, expectations.at(i));
    }
  }

  void check(call of, std::string_view relation, std::string const& expected) {
    auto const* const answer = c_->answer_to(of);
    if (expected == "why") {
      BOOST_TEST(c_->outcome(of) == row_.why.value());
      return;
    }
    words const seen{c_->code(of),
                     c_->round(of),
                     c_->value(of),
                     c_->version(of),
                     c_->listing(of),
                     c_->changes(of),
                     c_->count(of),
                     c_->epoch(of),
                     c_->number(of),
                     c_->tasks(of),
                     answer ? scenarios::in_words(*answer) : ""};
    check(seen, relation, expected);
  }

  // One of the descriptions of what is seen is as expected.
  static void check(words const& seen, std::string_view relation, std::string const& expected) {
    bool const holds = std::ranges::any_of(seen, [&](std::string const& text) {
      return relation == " -> " ? text == expected : has_in_order(text, expected);
    });
    BOOST_TEST(holds == (relation != " !~ "), "expected" << relation << expected << ", but it is: "
                                                         << seen.front() << ", " << seen.back());
  }

  std::optional<std::string> look(words const& all) {
    std::string const& what = all[0];
    if (what == "replies") return c_->replies();
    if (what == "log") return c_->log();
    if (what == "error") return c_->error();
    if (what == "missing") return c_->look().barriers.at(0).missing;
    if (what == "arrived") return std::to_string(c_->look().barriers.at(0).arrived);
    if (what == "self" || what == "task-error") {
      auto const task = c_->look().tasks.at(std::stoul(all.at(1)));
      return what == "self" ? std::to_string(task.self.value) : task.error.text();
    }
    if (what == "done") return c_->logic().done() ? "yes" : "no";
    if (what == "state") return c_->state_of(static_cast<std::uint32_t>(std::stoul(all.at(1))));
    if (what == "goodbye") return c_->goodbye(client(all.at(1)));
    if (what == "headline") return c_->look().state.headline;
    if (what == "blamed") return c_->look().state.tasks;
    if (what == "since") return c_->since();
    if (what == "last-round") return c_->last_round();
    if (what == "pushed") return c_->pushed_error(client(all.at(1)));
    if (what == "endings") return c_->endings(client(all.at(1)));
    if (what == "freeze") return std::to_string(c_->freeze(client(all.at(1))));
    if (what == "progress") return c_->progress_of(std::stoul(all.at(1)));
    if (what == "pushes") return std::to_string(pushes(all.at(1), client(all.at(2))));
    return count_of(what);
  }

  std::size_t pushes(std::string const& kind, int who) {
    if (kind == "errors") return c_->pushed<job_error>(who).size();
    if (kind == "probes") return c_->pushed<core::probe>(who).size();
    if (kind == "freezes") return c_->pushed<core::freeze_request>(who).size();
    if (kind == "progress") return c_->pushed<core::barrier_progress>(who).size();
    if (kind == "heartbeats") return c_->pushed<std::monostate>(who).size();
    throw std::runtime_error{"no push is called " + kind};
  }

  std::optional<std::string> count_of(std::string const& what) {
    auto const now = c_->look();
    std::map<std::string, std::uint64_t> const counts{
        {"sessions", now.sessions},         {"keys", now.keys},
        {"waiting-gets", now.waiting_gets}, {"waiting-pops", now.waiting_pops},
        {"queued", now.queued_items},       {"leased", now.leased_items},
        {"locks", now.locks_held},          {"waiting-locks", now.waiting_locks},
        {"spares", now.spares_waiting},     {"memory", now.memory_bytes},
        {"barriers", now.barriers.size()},
    };
    auto const at = counts.find(what);
    if (at == counts.end()) return std::nullopt;
    return std::to_string(at->second);
  }

  bool act(words const& all) {
    std::string const& what = all[0];
    if (look(all)) return true;
    if (what == "at" || what == "pass" || what == "stall" || what == "sleep") {
      return pass(what, all.at(1)), true;
    }
    if (what == "epoch") return begin_epoch(std::stoi(all.at(1))), true;
    if (what == "enrolled") return enrol(std::stoi(all.at(1)), std::stoi(all.at(2))), true;
    if (what == "stop") return c_->stop(all.size() > 1 ? join(all, 1) : "test"), true;
    if (what == "observer") {
      clients_[all.at(1)] = c_->observer(all.size() > 2 ? all[2] : "observer:1");
      return true;
    }
    if (what == "guest") {
      core::guest_args as{task_id{static_cast<std::uint32_t>(std::stoul(all.at(2)))},
                          scenarios::secret_of_grants};
      clients_[all.at(1)] = c_->hello({.label = "child:1", .acts_for = std::move(as)});
      return true;
    }
    if (what == "malformed") return c_->malformed(client(all.at(1)), join(all, 2)), true;
    if (what == "cancel") return c_->cancel(calls_.at(all.at(1))), true;
    if (what == "ended") {
      auto const code = scenarios::code_named(all.size() > 2 ? all[2] : "OK");
      c_->task_ended(static_cast<std::uint32_t>(std::stoul(all.at(1))),
                     {code.value_or(errc::aborted), join(all, code ? 3 : 2)});
      return true;
    }
    return act_as(what, all);
  }

  // Of a client.
  bool act_as(std::string const& what, words const& all) {
    static std::map<std::string, std::function<void(cluster&, int)>> const actions{
        {"cut", [](cluster& c, int who) { c.lose(who); }},
        {"unreachable", [](cluster& c, int who) { c.lose(who, core::loss::unreachable); }},
        {"resume", [](cluster& c, int who) { c.resume(who); }},
        {"blink", [](cluster& c, int who) { c.blink(who); }},
        {"bye", [](cluster& c, int who) { c.bye(who); }},
        {"abandon", [](cluster& c, int who) { c.bye(who, true); }},
        {"deaf", [](cluster& c, int who) { c[who].deaf = true; }},
        {"hears", [](cluster& c, int who) { c[who].deaf = false; }},
        {"mute", [](cluster& c, int who) { c[who].beats = false; }},
        {"blocked", [](cluster& c, int who) { c.write_blocked(who); }},
        {"flows", [](cluster& c, int who) { c.write_progressed(who); }},
        {"paused", [](cluster& c, int who) { c.reading_paused(who); }},
        {"read", [](cluster& c, int who) { c.reading_resumed(who); }},
        {"heard", [](cluster& c, int who) { c.heard(who); }},
        {"heartbeat", [](cluster& c, int who) { c.heartbeat(who); }},
    };
    auto const at = actions.find(what);
    if (at == actions.end()) return false;
    at->second(*c_, client(all.at(1)));
    return true;
  }

  void pass(std::string const& how, std::string const& time) {
    bool const before = time.ends_with('-');
    auto const by = time == "1ns"
                        ? 1ns
                        : scenarios::duration_of(time.substr(0, time.size() - (before ? 1 : 0))) -
                              (before ? 1ns : 0ns);
    if (how == "at") c_->at(by);
    if (how == "pass") c_->pass(by);
    if (how == "stall") c_->stall(by);
    if (how == "sleep") c_->sleep_without_advance(by);
  }

  // An elastic job in its first epoch: client i is task i, member m<i>.
  void begin_epoch(int members) {
    enrol(members, 0);
    if (members < static_cast<int>(row_.tasks)) c_->pass(2s);
    c_->replies();
    c_->log();
  }

  void enrol(int members, int spares) {
    for (int i = 0; i < members + spares; ++i) {
      auto const name = i < members ? "m" + std::to_string(i) : "s" + std::to_string(i - members);
      calls_.insert_or_assign(name, c_->enrol(c_->observer(), name));
    }
    c_->replies();
    c_->log();
  }

  call send(words all) {
    std::string name;
    if (all.size() > 1 && all[1] == "=") {
      name = all[0];
      all.erase(all.begin(), all.begin() + 2);
    }
    auto const keep = [&](call sent) {
      if (!name.empty()) calls_.insert_or_assign(name, sent);
      return sent;
    };
    if (all[0] == "new") return keep(c_->enrol(c_->observer(), join(all, 1)));
    // "0-2 barrier b" is a call of each.
    if (auto const dash = all[0].find('-'); dash != std::string::npos && name.empty()) {
      int const last = std::stoi(all[0].substr(dash + 1));
      for (int i = std::stoi(all[0].substr(0, dash)); i < last; ++i) {
        all[0] = std::to_string(i);
        send(all);
      }
      all[0] = std::to_string(last);
    }
    auto const slash = all[0].find('/');
    caller who{client(all[0].substr(0, slash))};
    if (slash != std::string::npos) {
      who.task = task_id{static_cast<std::uint32_t>(std::stoul(all[0].substr(slash + 1)))};
    }
    all.erase(all.begin());
    if (all.back() == "now") {
      auto const* const present =
          c_->body<core::tasks_answer>(c_->send(who, core::watch_tasks_args{}));
      all.back() = std::to_string(present->version);
    }
    if (all.at(0) == "next-epoch") {
      auto const shrinks = all.size() > 2 && all[2] == "shrinks";
      return keep(c_->next_epoch(who, shrinks, scenarios::timeout_of(all, 1)));
    }
    if (all[0] == "finish" || all[0] == "release" || all[0] == "extend")
      return keep(update_lease(who, all));
    auto what = scenarios::request_of(all);
    if (!what) throw std::runtime_error{"no call is named " + all[0]};
    auto const timeout = std::visit(
        [](auto const& args) {
          if constexpr (requires { args.timeout; }) return args.timeout;
          return without_limit;
        },
        *what);
    return keep(c_->send(who, *std::move(what), timeout));
  }

  call update_lease(caller who, words const& all) {
    auto const change = all[0] == "finish"    ? core::lease_change::finish
                        : all[0] == "release" ? core::lease_change::release
                                              : core::lease_change::extend;
    auto const lease = all.size() > 2 ? scenarios::duration_of(all[2]) : 60s;
    return c_->update_lease(who, calls_.at(all[1]), change, lease);
  }

  int client(std::string const& name) {
    auto const at = clients_.find(name);
    return at == clients_.end() ? std::stoi(name) : at->second;
  }

  row const& row_;
  std::unique_ptr<cluster> c_;
  std::map<std::string, call> calls_;
  std::map<std::string, int> clients_;
};

}  // namespace

rows::rows(std::initializer_list<row> all, boost::source_location where) {
  using namespace boost::unit_test;
  for (row const& one : all) {
    framework::current_auto_test_suite().add(
        make_test_case([one] { play{one}; }, one.name, where.file_name(), where.line()));
  }
}

}  // namespace coxswain::test
