// Each key is linearizable: versions order the changes, and a read sees the current value.

#include "tests/sim/everything/rules/key_story.hpp"
#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace coxswain::sim {
namespace {

class key_judge {
 public:
  key_judge(history const& h, violations& found) : h_{h}, story_{h}, found_{found} {
    for (call_record const& c : h.calls) {
      auto const* const all = c.asks<core::remove_tree_args>();
      if (c.process == 0 && all && all->all) cleaned_ = c.made;
    }
  }

  void check() {
    for (call_record const& c : h_.calls) {
      c_ = &c;
      if (c.answered) std::visit([&](auto const& args) { look(args); }, c.asked);
    }
    check_unclaimed();
    check_removals();
  }

 private:
  using state = key_story::state;

  void report_violation(std::string const& what) { found_.push_back(what + ": " + h_.text(*c_)); }
  [[nodiscard]] errc code() const { return c_->got.outcome.code(); }

  // The acting call made this change, and no other call did.
  state const* claim(std::string const& key, std::uint64_t version) {
    state const* const s = story_.change(key, version);
    if (!s) {
      report_violation("no such change, " + std::to_string(version));
      return nullptr;
    }
    if (!claimed_.emplace(version, c_).second) report_violation("two calls made one change");
    if (s->seen < c_->made || s->from > *c_->answered) {
      report_violation("not changed at that time");
    }
    return s;
  }
  state const* claim_stored(std::string const& key) {
    auto const* const stored = c_->gave<core::stored_answer>();
    return stored ? claim(key, stored->version) : nullptr;
  }
  void expect_value(state const& s, std::string const& value) {
    if (s.value != value) report_violation("another value was stored");
  }
  template <class IsSo>
  void expect_so(std::string const& key, IsSo is_so, std::string const& what) {
    if (!story_.was_so(key, c_->made, *c_->answered, is_so)) report_violation(what);
  }
  void expect_there(std::string const& key) {
    expect_so(
        key, [](state const& s) { return s.value.has_value(); }, "it was not there");
  }
  void expect_absent(std::string const& key) {
    expect_so(
        key, [](state const& s) { return !s.value; }, "it was there");
  }

  void look(core::put_args const& a) {
    std::string const key = normal(a.key);
    if (code() == errc::already_exists) {
      expect_there(key);
      return expect_no_heir(key, a);
    }
    if (is_inherited(key, a)) return;
    state const* const s = claim_stored(key);
    if (!s) return;
    expect_value(*s, a.value);
    state const& before = story_.before(key, s->version);
    if (!a.overwrite && before.value && !(a.replaces_predecessor && has_predecessor(key, before)))
      report_violation("it has overwritten");
    if (a.ephemeral && story_.at(key, story_.last()).version != s->version && s->to >= cleaned_) {
      report_violation("the key outlived its owner");
    }
  }
  // A put of the same value by another process of the acting task, at any time before.
  [[nodiscard]] bool has_predecessor(std::string const& key, state const& s) const {
    return c_->task && std::any_of(h_.calls.begin(), h_.calls.end(), [&](call_record const& c) {
             auto const* const put = c.asks<core::put_args>();
             return put && c.process != c_->process && c.task == c_->task &&
                    c.made < *c_->answered && put->value == s.value && normal(put->key) == key;
           });
  }
  // It has changed nothing, since a predecessor had put the same.
  bool is_inherited(std::string const& key, core::put_args const& a) {
    auto const* const stored = c_->gave<core::stored_answer>();
    state const* const s = stored ? story_.change(key, stored->version) : nullptr;
    bool const is_older = s && (claimed_.contains(s->version) || s->seen < c_->made);
    if (!is_older || a.overwrite || a.replaces_predecessor || !has_predecessor(key, *s))
      return false;
    expect_value(*s, a.value);
    if (s->to < c_->made) report_violation("the value was not there then");
    return true;
  }
  // It was refused, so the key was not that of a predecessor all the time.
  void expect_no_heir(std::string const& key, core::put_args const& a) {
    auto const& by = h_.processes[c_->process];
    // A process of several tasks is recoverable if one of them is.
    bool const is_recoverable = by.recoverable && (by.tasks.size() == 1 || h_.all_are_recoverable);
    if (h_.options.elastic || a.ephemeral || !is_recoverable) return;
    auto const is_others = [&](state const& s) {
      auto const by = claimed_.find(s.version);
      auto const* const put = by == claimed_.end() ? nullptr : by->second->asks<core::put_args>();
      bool const is_heir = put && !put->ephemeral && by->second->task &&
                           by->second->task == c_->task && by->second->process != c_->process &&
                           !has_put(key);
      return !is_heir || !(a.replaces_predecessor || s.value == a.value);
    };
    expect_so(key, is_others, "its predecessor has put it");
  }
  // The acting process has put the key before.
  [[nodiscard]] bool has_put(std::string const& key) const {
    return std::any_of(h_.calls.begin(), h_.calls.end(), [&](call_record const& c) {
      auto const* const put = c.asks<core::put_args>();
      return put && c.process == c_->process && c.made < c_->made && normal(put->key) == key;
    });
  }
  void look(core::append_args const& a) {
    std::string const key = normal(a.key);
    if (state const* const s = claim_stored(key)) {
      expect_value(*s, story_.before(key, s->version).value.value_or("") + a.value);
    }
  }
  void look(core::compare_and_set_args const& a) {
    std::string const key = normal(a.key);
    if (state const* const s = claim_stored(key)) {
      expect_value(*s, a.value);
      if (!matches(story_.before(key, s->version), a.expected))
        report_violation("it was not as expected");
    } else if (auto const* const held = c_->gave<core::value_answer>()) {
      expect_read(key, *held);
      expect_so(
          key, [&](state const& now) { return !matches(now, a.expected); }, "as expected");
    } else if (code() == errc::not_found) {
      expect_absent(key);
    }
  }
  static bool matches(state const& s, core::expected_value const& expected) {
    if (std::holds_alternative<core::absent_value>(expected)) return !s.value;
    if (!s.value) return false;
    if (auto const* const v = std::get_if<std::uint64_t>(&expected)) return *v == s.version;
    return std::get<std::string>(expected) == *s.value;
  }
  void look(core::increment_args const& a) {
    auto const* const sum = c_->gave<core::counter_answer>();
    std::string const key = normal(a.key);
    state const* const s = sum ? claim(key, sum->version) : nullptr;
    if (!s) return;
    expect_value(*s, std::to_string(sum->value));
    std::string const before = story_.before(key, s->version).value.value_or("0");
    if (std::to_string(sum->value - a.by) != before) report_violation("wrongly added to " + before);
  }
  void look(core::put_all_args const& a) {
    auto const* const stored = c_->gave<core::stored_answer>();
    if (!stored) return;
    std::uint64_t version = stored->version - a.entries.size();
    for (auto const& [raw, value] : a.entries) {
      std::string const key = normal(raw);
      state const* const s = claim(key, ++version);
      if (!s) continue;
      expect_value(*s, value);
      if (!a.overwrite && story_.before(key, version).value) report_violation("it has overwritten");
    }
  }
  void look(core::remove_args const& a) {
    std::string const only = normal(a.key);
    check_removal([&](std::string const& key) { return key == only; });
    auto const* const removed = c_->gave<core::removed_answer>();
    if (removed && removed->count == 0) expect_absent(only);
  }
  void look(core::remove_tree_args const& a) {
    std::string const directory = normal(a.directory);
    check_removal([&](std::string const& key) { return concerns(key, directory); });
  }
  template <class IsMeant>
  void check_removal(IsMeant is_meant) {
    auto const* const removed = c_->gave<core::removed_answer>();
    if (!removed) return;
    std::uint64_t count = 0;
    for (key_record const& one : h_.keys) {
      bool const is_then = one.at >= c_->made && h_.earliest(one.at) <= *c_->answered;
      if (is_then && !one.what.value && is_meant(one.what.key)) ++count;
    }
    if (count < removed->count) report_violation("fewer were removed");
  }

  void expect_read(std::string const& key, core::value_answer const& got) {
    state const* const s = story_.change(key, got.version);
    if (!s || s->value != got.value.view()) return report_violation("there was no such value");
    if (s->from > *c_->answered || s->to < c_->made)
      report_violation("the value was not there then");
  }
  void look(core::get_args const& a) { check_value(a.key); }
  void look(core::try_get_args const& a) {
    check_value(a.key);
    if (code() == errc::not_found) expect_absent(normal(a.key));
  }
  void check_value(std::string const& raw) {
    if (auto const* const got = c_->gave<core::value_answer>()) expect_read(normal(raw), *got);
    // If the client itself ended the call, the coordinator may have executed it.
    bool const is_known = h_.is_calm(c_->process, c_->made, *c_->answered);
    if (code() == errc::deadline_exceeded && is_known) expect_absent(normal(raw));
  }
  void expect_present(std::uint64_t version) {
    if (!story_.is_present(version, c_->made, *c_->answered))
      report_violation("not the present version");
  }
  [[nodiscard]] bool is_state(core::listing_answer::entry const& e, std::uint64_t version) const {
    state const& s = story_.at(e.key, version);
    return s.version == e.version && s.value == e.value.view();
  }
  void look(core::list_args const& a) {
    auto const* const got = c_->gave<core::listing_answer>();
    if (!got) return;
    expect_present(got->version);
    if (got->more && got->entries.empty()) return report_violation("a page without a key");
    auto const through = got->more ? std::optional{got->entries.back().key} : std::nullopt;
    auto const all = count(normal(a.directory), got->version, through);
    if (got->entries.size() != all) report_violation("not all");
    for (auto const& e : got->entries) {
      if (!is_state(e, got->version)) report_violation("'" + e.key + "' was not so");
    }
  }
  void look(core::get_all_args const& a) {
    auto const* const got = c_->gave<core::listing_answer>();
    if (!got) return;
    expect_present(got->version);
    if (got->entries.size() != a.keys.size())
      return report_violation("not as many as were asked for");
    for (std::size_t i = 0; i < a.keys.size(); ++i) {
      auto const& e = got->entries[i];
      if (e.key != normal(a.keys[i]) || !is_state(e, got->version)) report_violation("not so");
    }
  }
  void look(core::count_keys_args const& a) {
    auto const* const got = c_->gave<core::count_answer>();
    if (!got) return;
    for (std::uint64_t v = 0; v <= story_.last(); ++v) {
      if (story_.is_present(v, c_->made, *c_->answered) &&
          count(normal(a.directory), v) == got->count) {
        return;
      }
    }
    report_violation("there were not so many");
  }
  template <class Args>
  void look(Args const&) {}

  // All keys of the directory at that version, or those of a page that ends with `through`.
  [[nodiscard]] std::size_t count(std::string const& directory, std::uint64_t version,
                                  std::optional<std::string> const& through = {}) const {
    std::size_t all = 0;
    for (auto const& [key, _] : story_.all()) {
      bool const is_meant = is_below(key, directory) && (!through || key <= *through);
      all += is_meant && story_.at(key, version).value ? 1 : 0;
    }
    return all;
  }

  // A change without a matching reply was made by a call whose outcome is unknown to its caller.
  void check_unclaimed() {
    std::size_t unclaimed = 0;
    for (key_record const& one : h_.keys) {
      if (one.what.value && !claimed_.contains(one.what.version)) ++unclaimed;
    }
    std::size_t unknown = 0;
    for (call_record const& c : h_.calls) unknown += changes_of_unknown(c);
    if (unclaimed <= unknown) return;
    found_.push_back(std::to_string(unclaimed) + " changes were made by no call, or twice; only " +
                     std::to_string(unknown) + " may have been");
  }
  // A key is removed by a call or because it is ephemeral.
  void check_removals() {
    for (key_record const& one : h_.keys) {
      if (one.what.value) continue;
      if (h_.options.elastic && is_below(one.what.key, "epoch")) continue;  // see check_epochs
      bool const is_explained =
          std::any_of(h_.calls.begin(), h_.calls.end(), [&](call_record const& c) {
            if (c.made > one.at) return false;
            auto const* const put = c.asks<core::put_args>();
            if (put && put->ephemeral && normal(put->key) == one.what.key) return true;
            if (!is_outcome_unknown(c) && *c.answered < h_.earliest(one.at)) return false;
            auto const* const remove = c.asks<core::remove_args>();
            if (remove && normal(remove->key) == one.what.key) return true;
            auto const* const tree = c.asks<core::remove_tree_args>();
            return tree && concerns(one.what.key, normal(tree->directory));
          });
      if (!is_explained) found_.push_back("no call has removed '" + one.what.key + "'");
    }
  }
  // The coordinator may execute such a call after its client has ended it.
  static bool is_outcome_unknown(call_record const& c) {
    return !c.answered || c.got.outcome.code() == errc::unavailable ||
           c.got.outcome.code() == errc::cancelled ||
           c.got.outcome.code() == errc::deadline_exceeded;
  }
  static std::size_t changes_of_unknown(call_record const& c) {
    if (!is_outcome_unknown(c)) return 0;
    if (auto const* const all = c.asks<core::put_all_args>()) return all->entries.size();
    return c.asks<core::put_args>() || c.asks<core::append_args>() ||
                   c.asks<core::increment_args>() || c.asks<core::compare_and_set_args>()
               ? 1
               : 0;
  }

  history const& h_;
  key_story story_;
  violations& found_;
  call_record const* c_{};
  std::map<std::uint64_t, call_record const*> claimed_;  // by the version of the change
  time_point cleaned_{};
};

}  // namespace

void check_keys(history const& h, violations& found) {
  if (!h.keys_are_whole) {
    if (!h.limits_are_small) found.push_back("the auditor missed changes of keys");
    return;
  }
  for (std::size_t i = 0; i < h.keys.size(); ++i) {
    if (h.keys[i].what.version == i + 1) continue;
    found.push_back("change " + std::to_string(i + 1) + " was reported as " +
                    std::to_string(h.keys[i].what.version));
    return;
  }
  key_judge{h, found}.check();
}

}  // namespace coxswain::sim
