// Answers of a function that is often asked the same, such as a quantile that takes a search.
#pragma once

#include <cstddef>
#include <map>

namespace infermeter {

// The last answers: all are forgotten when there are `most`. As a thread_local variable it needs no lock.
template <class Key, class Value>
class Remembered {
 public:
  template <class Make>
  const Value& get(const Key& key, const Make& make) {
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    if (known_.size() >= most) known_.clear();
    return known_.emplace(key, make()).first->second;
  }

 private:
  static constexpr std::size_t most = 256;
  std::map<Key, Value> known_;
};

}  // namespace infermeter
