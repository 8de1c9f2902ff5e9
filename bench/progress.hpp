#pragma once
// A line on standard error that is written over, if a person looks at it.

#include <string>

namespace coxswain::bench {

class progress {
 public:
  progress();
  ~progress();
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  void show(std::string const& text) const;

 private:
  bool is_live_;
};

}  // namespace coxswain::bench
