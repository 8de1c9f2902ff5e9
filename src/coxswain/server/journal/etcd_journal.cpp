#include "coxswain/server/journal/etcd_journal.hpp"

#include "coxswain/server/journal/batch.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace coxswain::server {
namespace {

// An entry's piece of a batch, with the byte before it.
constexpr std::size_t piece_bytes_max = etcd::value_bytes_max - 1;

// Inputs that nothing waits for gather for this long, or until there are so many.
constexpr duration gathered_within = 1s;
constexpr std::size_t gathered_bytes_max = 256 * 1024;

// So many are written ahead if etcd has nothing else to do: of a barrier's arrivals few are left
// when the last one waits for them.
constexpr std::size_t written_ahead_bytes = 8 * 1024;

// A snapshot is wanted when the inputs since the last one are longer than this and than twice the
// snapshot, or have as many entries.
constexpr std::uint64_t log_bytes_in_etcd_max = 16 * 1024 * 1024;
constexpr std::uint64_t log_entries_max = 10'000;

// Where etcd's database fills up.
constexpr std::uint64_t log_entries_min = 100;

// More would fill etcd's database.
constexpr std::size_t snapshot_bytes_max = 256 * 1024 * 1024;

constexpr duration look_again = 5ms;

// Appends a Put without its value, if that is longer than `most`. False, and nothing is appended,
// for all else.
bool append_without_value(std::string& out, wire::record const& input, std::size_t most) {
  if (input.kind != wire::record_kind::message) return false;
  auto message = wire::decode_client(input.content);
  auto* const put = message ? std::get_if<core::put_args>(&message->what) : nullptr;
  if (put == nullptr || put->value.size() <= most) return false;
  auto shortened = input;
  shortened.number = std::exchange(put->value, {}).size();
  std::string frame;
  wire::append_frame(frame, *message);
  shortened.content = std::string_view{frame}.substr(wire::length_bytes);
  wire::append(out, shortened);
  return true;
}

}  // namespace

std::shared_ptr<etcd_journal> etcd_journal::make(std::shared_ptr<etcd::client> by,
                                                 etcd::job_keys keys, std::int64_t revision,
                                                 log_end from) {
  std::shared_ptr<etcd_journal> made{new etcd_journal{by, from}};
  auto changed = [weak = std::weak_ptr{made}] {
    if (auto const self = weak.lock()) self->entries_changed();
  };
  made->writer_ = std::make_shared<etcd::log_writer>(std::move(by), std::move(keys), revision,
                                                     from.first, from.entry, std::move(changed));
  return made;
}

etcd_journal::etcd_journal(std::shared_ptr<etcd::client> by, log_end from)
    : by_{std::move(by)},
      end_{from},
      entries_since_snapshot_{from.entry - std::min(from.entry, from.first)} {}

etcd_journal::~etcd_journal() { writer_->stop(); }

void etcd_journal::begin(wire::recording_head const& head) {
  std::string bytes(batch_head_bytes, '\0');
  wire::append(bytes, head);
  end_ = {};
  end_.checksum = seal(bytes, 0, 0, 0, {duration::zero(), 0, duration::zero(), since_1970_now()});
  has_begun_ = false;
  asio::co_spawn(by_->executor(), begin_log(shared_from_this(), std::move(bytes)), asio::detached);
}

asio::awaitable<void> etcd_journal::begin_log(std::shared_ptr<etcd_journal> self,
                                              std::string head) {
  status why = co_await etcd::log_writer::begin(self->writer_, std::move(head));
  if (!why.ok()) co_return self->fail(std::move(why));
  self->has_begun_ = true;
  self->pump();
}

void etcd_journal::append(wire::record const& input) {
  if (pending_.empty()) pending_.resize(batch_head_bytes);
  bool const may_be_volatile = volatile_above_ != 0 && input.content.size() > volatile_above_;
  if (!may_be_volatile || !append_without_value(pending_, input, volatile_above_)) {
    wire::append(pending_, input);
  }
  end_.at = std::max(end_.at, input.at);
  has_uncommitted_ = true;
}

status etcd_journal::commit() {
  if (!failure_.ok() || !has_uncommitted_) return failure_;
  has_uncommitted_ = false;
  ++committed_;
  if (!pending_since_) pending_since_ = clock_now();
  return {};
}

status etcd_journal::synchronize(time_point, bool is_awaited) {
  is_awaited_ = is_awaited;
  pump();
  return failure_;
}

std::optional<time_point> etcd_journal::next_synchronization() const {
  if (!pending_since_ || !writer_->has_room() || !failure_.ok()) return std::nullopt;
  return *pending_since_ + gathered_within;
}

void etcd_journal::name_leader(std::string address, std::uint64_t term) {
  leader_ = std::move(address);
  term_ = term;
}

// Inputs that are not sent to etcd yet count as one more entry.
std::optional<core::snapshot::leadership> etcd_journal::leader(time_point now) const {
  core::snapshot::leadership made{leader_, term_, end_.entry - writer_->durable(), 0, {}};
  for (auto const& batch : ends_) made.lag_bytes += batch.bytes;
  auto oldest = ends_.empty() ? pending_since_ : ends_.front().since;
  if (pending_since_) {
    ++made.lag_entries;
    made.lag_bytes += pending_.size();
  }
  if (oldest) made.lag = std::max(now - *oldest, duration::zero());
  return made;
}

void etcd_journal::pump() {
  while (failure_.ok() && has_begun_ && writer_->has_room()) {
    if (pieces_.empty()) {
      bool const is_idle = writer_->last() == writer_->durable();
      bool const is_due = is_awaited_ || pending_.size() > gathered_bytes_max ||
                          (is_idle && pending_.size() > written_ahead_bytes) ||
                          (pending_since_ && clock_now() - *pending_since_ >= gathered_within);
      if (!pending_since_ || !is_due) return;
      seal_pending();
    }
    writer_->append(std::move(pieces_.front()));
    pieces_.pop_front();
  }
}

void etcd_journal::seal_pending() {
  end_.checksum = seal(pending_, ++end_.batch, 0, end_.checksum,
                       {end_.at, 0, duration::zero(), since_1970_now()});
  bytes_since_snapshot_ += pending_.size();
  for (std::size_t at = 0; at < pending_.size(); at += piece_bytes_max) {
    bool const is_last = pending_.size() - at <= piece_bytes_max;
    std::string piece(1,
                      static_cast<char>((at == 0 ? begins_batch : 0) | (is_last ? ends_batch : 0)));
    piece.append(pending_, at, piece_bytes_max);
    pieces_.push_back(std::move(piece));
    ++end_.entry;
    ++entries_since_snapshot_;
  }
  ends_.push_back({end_.entry, committed_, pending_.size(), *pending_since_});
  pending_.clear();
  pending_since_.reset();
}

void etcd_journal::entries_changed() {
  if (!writer_->failure().ok()) return fail(writer_->failure());
  while (!ends_.empty() && ends_.front().entry <= writer_->durable()) {
    durable_ = ends_.front().commit;
    ends_.pop_front();
  }
  pump();
  start_upload();
  if (changed_) changed_();
}

void etcd_journal::fail(status why) {
  if (!failure_.ok()) return;
  failure_ = std::move(why);
  writer_->stop();
  if (changed_) changed_();
}

bool etcd_journal::wants_snapshot() const {
  if (snapshot_ || !failure_.ok()) return false;
  if (needs_space_ && entries_since_snapshot_ > log_entries_min) return true;
  return bytes_since_snapshot_ > std::max(log_bytes_in_etcd_max, 2 * snapshot_bytes_) ||
         entries_since_snapshot_ > log_entries_max;
}

status etcd_journal::write_snapshot(core::coordinator const& core, bool) {
  if (snapshot_ || !failure_.ok()) return {};
  if (pending_since_) seal_pending();
  entries_since_snapshot_ = bytes_since_snapshot_ = 0;
  needs_space_ = false;
  snapshot made;
  made.entry = end_.entry;
  made.bytes.resize(batch_head_bytes);
  seal(made.bytes, end_.batch, 0, end_.checksum, {end_.at, 0, duration::zero(), since_1970_now()});
  core.save([&made](std::string_view piece) {
    if (made.bytes.size() <= snapshot_bytes_max) made.bytes += piece;
  });
  if (made.bytes.size() > snapshot_bytes_max) {
    return {errc::resource_exhausted,
            "the coordinator's state is too large for a snapshot in etcd; its inputs are kept "
            "instead"};
  }
  snapshot_bytes_ = made.bytes.size();
  snapshot_.emplace(std::move(made));
  is_awaited_ = true;
  pump();
  start_upload();
  return {};
}

// Once all its entries are there.
void etcd_journal::start_upload() {
  if (!snapshot_ || snapshot_->is_under_way || writer_->durable() < snapshot_->entry) return;
  snapshot_->is_under_way = true;
  asio::co_spawn(by_->executor(), upload(shared_from_this()), asio::detached);
}

asio::awaitable<void> etcd_journal::upload(std::shared_ptr<etcd_journal> self) {
  auto const entry = self->snapshot_->entry;
  self->snapshot_outcome_ = co_await etcd::log_writer::write_snapshot(
      self->writer_, entry, std::move(self->snapshot_->bytes));
  self->snapshot_.reset();
  if (self->changed_) self->changed_();
}

bool etcd_journal::finish_snapshot(status& outcome) {
  if (snapshot_) return false;
  outcome = std::exchange(snapshot_outcome_, {});
  return true;
}

asio::awaitable<bool> etcd_journal::drain(std::shared_ptr<etcd_journal> self,
                                          time_point give_up_at) {
  asio::steady_timer timer{self->by_->executor()};
  while (self->failure_.ok() && clock_now() < give_up_at) {
    static_cast<void>(self->synchronize(clock_now(), true));
    if (self->durable_ == self->committed_ && !self->snapshot_) co_return true;
    timer.expires_after(look_again);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_return false;
}

}  // namespace coxswain::server
