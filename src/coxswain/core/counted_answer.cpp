#include "coxswain/core/counted_answer.hpp"

#include <utility>
#include <vector>

namespace coxswain::core {
namespace {

struct counted_one {
  counted_one(answer w, std::size_t s, std::shared_ptr<memory_meter> m)
      : what{std::move(w)}, size{s}, memory{std::move(m)} {
    memory->add(size);
  }
  counted_one(counted_one const&) = delete;
  counted_one& operator=(counted_one const&) = delete;
  ~counted_one() { memory->subtract(size); }

  answer what;
  std::size_t size;
  std::shared_ptr<memory_meter> memory;
};

std::size_t beside(listing_answer::entry const& e) { return e.key.size(); }
std::size_t beside(key_change const& c) { return c.key.size(); }
std::size_t beside(snapshot::task const& t) {
  return t.label.size() + t.peer.size() + t.error.message().size();
}
std::size_t beside(snapshot::barrier const& b) { return b.name.size() + b.missing.size(); }
std::size_t beside(snapshot::finished_round const& r) { return r.name.size(); }
std::size_t beside(snapshot::straggler const&) { return 0; }
std::size_t beside(events_answer::entry const& e) {
  return e.what.text.size() + e.what.barrier.size() + e.tasks.size();
}
std::size_t beside(missing_task const& m) { return sizeof(m); }
std::size_t beside(why_answer::wait const& w);

template <class Item>
std::size_t bytes_of_all(std::vector<Item> const& items) {
  std::size_t sum = items.capacity() * sizeof(Item);
  for (auto const& one : items) sum += beside(one);
  return sum;
}

std::size_t beside(why_answer::wait const& w) {
  std::size_t const texts = w.name.size() + w.waiting.size();
  return w.missing ? texts + w.missing->missing.size() + bytes_of_all(w.missing->known) : texts;
}

}  // namespace

std::size_t bytes_of(listing_answer const& what) { return bytes_of_all(what.entries); }
std::size_t bytes_of(key_changes_answer const& what) { return bytes_of_all(what.changes); }
std::size_t bytes_of(snapshot const& what) {
  return sizeof(what) + bytes_of_all(what.tasks) + bytes_of_all(what.barriers) +
         bytes_of_all(what.rounds) + bytes_of_all(what.stragglers);
}
std::size_t bytes_of(tasks_answer const& what) { return bytes_of_all(what.tasks); }
std::size_t bytes_of(events_answer const& what) { return bytes_of_all(what.entries); }
std::size_t bytes_of(why_answer const& what) {
  return bytes_of_all(what.waits) + what.stuck.size();
}

answer_ptr counted(answer what, std::size_t size, std::shared_ptr<memory_meter> const& memory) {
  auto const one = boost::make_local_shared<counted_one const>(std::move(what), size, memory);
  return {one, &one->what};
}

}  // namespace coxswain::core
