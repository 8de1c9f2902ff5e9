#include "coxswain/client/client_calls.hpp"

#include "coxswain/base/little_endian.hpp"
#include "coxswain/client/asking.hpp"
#include "coxswain/core/model/operations.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::detail {
namespace {

core::barrier_args reduction_args(std::string_view name, core::reduction how,
                                  std::string_view operand) {
  core::barrier_args args;
  args.name = name;
  args.reduce = how;
  args.data = operand;
  return args;
}

question at_barrier(core::barrier_args args, barrier_options const& options) {
  args.participants = options.participants;
  args.fail_when_lost = options.fail_when_lost;
  if (options.on_progress) args.progress_every = std::max<duration>(options.progress_every, 1ms);
  question q{std::move(args), options.timeout};
  q.on_progress = options.on_progress;
  return q;
}

// A call that never begins well.
template <class T>
class refused final : public operation<T> {
 public:
  refused(connection_ptr at, status why) : at_{std::move(at)}, why_{std::move(why)} {}

  void begin(std::unique_ptr<operation<T>>, completion<T> done) override {
    auto on = asio::get_associated_executor(done, at_->executor());
    post_ended(at_->executor(), std::make_unique<stepped<T>>(std::move(done)), std::move(on),
               std::make_exception_ptr(error{why_}));
  }

 private:
  connection_ptr at_;
  status why_;
};

// Convert the member of an answer that its row names to the result of the call.

template <class T>
T given(T& value) {
  return std::move(value);
}
template <std::same_as<std::string> T>
T given(bytes& value) {
  return T{value.view()};
}
template <std::same_as<bool> T>
T given(std::uint64_t& count) {
  return count > 0;
}
template <std::same_as<std::vector<key_value>> T>
T given(std::vector<core::listing_answer::entry>& entries) {
  T all;
  for (auto& entry : entries) {
    all.push_back({std::move(entry.key), std::string{entry.value.view()}, entry.version});
  }
  return all;
}
template <std::same_as<std::vector<process>> T>
T given(std::vector<core::alive_answer::task>& tasks) {
  T all;
  for (auto const& task : tasks) all.push_back({task.id, task.self});
  return all;
}

template <class Args>
using row = std::remove_cvref_t<decltype(core::operation_of<Args>)>;

template <class T, class Args>
concept gives = requires(typename row<Args>::answer& a) {
  given<T>(std::invoke(core::operation_of<Args>.result, a));
};

template <class T, class Args>
T result_of_row(core::answer& a) {
  return given<T>(
      std::invoke(core::operation_of<Args>.result, value_of<typename row<Args>::answer>(a)));
}

template <class T>
struct reader_of {
  using type = T (*)(core::answer&);

  template <class Args>
  type operator()(Args const&) const {
    if constexpr (std::is_void_v<T>) return nothing;
    if constexpr (gives<T, Args>) return result_of_row<T, Args>;
    return nullptr;
  }
};

// Results of answers.

round_number round_of(core::answer& a) { return value_of<core::barrier_answer>(a).round; }

std::vector<std::string> gathered(core::answer& a) {
  std::vector<std::string> all;
  for (auto const& item : value_of<core::barrier_answer>(a).data) all.emplace_back(item.view());
  return all;
}

std::string reduced(core::answer& a) {
  auto const& data = value_of<core::barrier_answer>(a).data;
  if (data.size() == 1) return std::string{data.front().view()};
  throw error{status{errc::internal, "the coordinator's reply has no result of the reduction"}};
}

template <class Number>
Number reduced_number(core::answer& a) {
  auto const result = reduced(a);
  if (result.size() == number_bytes) return from_little_endian<Number>(result);
  throw error{status{errc::internal, "the coordinator's reply to the reduction is not a number"}};
}

bool stops(core::answer& a) { return std::holds_alternative<core::sync_point>(a.value); }

template <class Value>
Value whole(core::answer& a) {
  return std::move(value_of<Value>(a));
}

std::optional<epoch_end> ending_of(core::answer& a) {
  throw_unless_ok(a);
  auto* const ending = std::get_if<core::epoch_ends>(&a.value);
  return ending ? std::optional{std::move(*ending)} : std::nullopt;
}

// Page by page.
asio::awaitable<job_status> inspect_all(connection_ptr at, duration timeout) {
  job_status all;
  core::inspect_args args;
  for (bool goes_on = true; goes_on;) {
    question q{args, timeout};
    auto a = co_await ask(at, std::move(q));
    auto& page = *value_of<boxed<job_status>>(a);
    auto const next = std::exchange(page.next_task, std::nullopt);
    if (args.first_task == task_id{}) {
      all = std::move(page);
    } else {
      std::move(page.tasks.begin(), page.tasks.end(), std::back_inserter(all.tasks));
    }
    goes_on = next && *next > args.first_task;
    if (goes_on) args.first_task = *next;
  }
  co_return all;
}

// Of one epoch: when the next one begins meanwhile, it begins again.
asio::awaitable<epoch_members> all_members(connection_ptr at, duration timeout) {
  epoch_members all;
  core::epoch_members_args args;
  for (bool goes_on = true; goes_on;) {
    question q{args, timeout};
    auto a = co_await ask(at, std::move(q));
    auto& page = value_of<epoch_members>(a);
    auto const next = std::exchange(page.next_task, std::nullopt);
    bool const begins = args.first_task == task_id{};
    bool const begins_again = !begins && page.epoch != all.epoch;
    if (begins) {
      all = std::move(page);
    } else if (!begins_again) {
      std::move(page.members.begin(), page.members.end(), std::back_inserter(all.members));
    }
    goes_on = begins_again || (next && *next > args.first_task);
    if (goes_on) args.first_task = begins_again ? task_id{} : *next;
  }
  co_return all;
}

}  // namespace

template <class T>
call<T> client_calls::ask(core::request what, call_options const& options) const {
  auto const read = std::visit(reader_of<T>{}, what);
  assert(read && "the row gives another result");
  return asking(at_, question{std::move(what), options.timeout}, read);
}

template call<void> client_calls::ask(core::request, call_options const&) const;
template call<bool> client_calls::ask(core::request, call_options const&) const;
template call<std::int64_t> client_calls::ask(core::request, call_options const&) const;
template call<std::uint64_t> client_calls::ask(core::request, call_options const&) const;
template call<std::string> client_calls::ask(core::request, call_options const&) const;
template call<round_number> client_calls::ask(core::request, call_options const&) const;
template call<std::vector<key_value>> client_calls::ask(core::request, call_options const&) const;
template call<std::vector<process>> client_calls::ask(core::request, call_options const&) const;
template call<tasks_result> client_calls::ask(core::request, call_options const&) const;
template call<events_result> client_calls::ask(core::request, call_options const&) const;
template call<global_topology> client_calls::ask(core::request, call_options const&) const;
template call<epoch> client_calls::ask(core::request, call_options const&) const;
template call<why_result> client_calls::ask(core::request, call_options const&) const;

call<void> client_calls::reset(call_options const& options) const {
  need_session(at_);
  core::reset_args args{at_->incarnation()};
  return asking(at_, question{std::move(args), options.timeout}, nothing);
}

// --- Barriers --------------------------------------------------------------------------------

call<round_number> client_calls::barrier(std::string_view name,
                                         barrier_options const& options) const {
  core::barrier_args args;
  args.name = name;
  return asking(at_, at_barrier(std::move(args), options), round_of);
}

call<std::vector<std::string>> client_calls::all_gather(std::string_view name,
                                                        std::string_view data,
                                                        barrier_options const& options) const {
  core::barrier_args args;
  args.name = name;
  args.gather = true;
  args.data = data;
  return asking(at_, at_barrier(std::move(args), options), gathered);
}

call<std::int64_t> client_calls::reduce(std::string_view name, std::optional<std::int64_t> operand,
                                        reduction how, barrier_options const& options) const {
  need_session(at_);
  if (!operand) {
    status why{errc::out_of_range, "reduce: the operand does not fit a signed 64-bit integer"};
    return std::make_unique<refused<std::int64_t>>(at_, std::move(why));
  }
  constexpr std::array kinds{core::reduction::sum_int64, core::reduction::min_int64,
                             core::reduction::max_int64};
  auto args =
      reduction_args(name, kinds.at(static_cast<std::size_t>(how)), to_little_endian(*operand));
  return asking(at_, at_barrier(std::move(args), options), reduced_number<std::int64_t>);
}

call<double> client_calls::reduce(std::string_view name, double operand, reduction how,
                                  barrier_options const& options) const {
  constexpr std::array kinds{core::reduction::sum_double, core::reduction::min_double,
                             core::reduction::max_double};
  auto args =
      reduction_args(name, kinds.at(static_cast<std::size_t>(how)), to_little_endian(operand));
  return asking(at_, at_barrier(std::move(args), options), reduced_number<double>);
}

call<std::string> client_calls::reduce_bits(std::string_view name, std::string_view operand,
                                            bitwise how, barrier_options const& options) const {
  auto const kind = how == bitwise::all ? core::reduction::bit_and : core::reduction::bit_or;
  auto args = reduction_args(name, kind, operand);
  return asking(at_, at_barrier(std::move(args), options), reduced);
}

call<round_number> client_calls::all_equal(std::string_view name, std::string_view data,
                                           barrier_options const& options) const {
  auto args = reduction_args(name, core::reduction::all_equal, data);
  return asking(at_, at_barrier(std::move(args), options), round_of);
}

// --- The job ---------------------------------------------------------------------------------

call<job_error> client_calls::failure() const {
  return asking(at_, question{question::kind::failure}, whole<job_error>);
}

call<void> client_calls::preempt(time_limit in, std::optional<task_id> who,
                                 call_options const& options) const {
  need_session(at_);
  if (!who) who = at_->task();
  if (!who) {
    status why{errc::invalid_argument, "preempt: an observer must name a task"};
    return std::make_unique<refused<void>>(at_, std::move(why));
  }
  core::preempt_args args{*who, in};
  return asking(at_, question{std::move(args), options.timeout}, nothing);
}

call<bool> client_calls::reached_sync_point(std::uint64_t step) const {
  return asking(at_, question{step}, stops);
}

call<std::optional<epoch_end>> client_calls::epoch_wanted() const {
  return asking(at_, question{question::kind::ending}, ending_of);
}

asio::awaitable<coxswain::epoch_members> client_calls::epoch_members(
    call_options const& options) const {
  return all_members(at_, options.timeout);
}

asio::awaitable<job_status> client_calls::inspect(call_options const& options) const {
  return inspect_all(at_, options.timeout);
}

// --- Watching --------------------------------------------------------------------------------

}  // namespace coxswain::detail
