// The inputs of a validation, part by part: made once for both subjects where they take the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "infermeter/validate/request.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

class ValidationInputs {
 public:
  ValidationInputs(const ValidationRequest& request, const Launcher& launcher, const std::atomic<int>* interrupt)
      : request_(request), launcher_(launcher), interrupt_(interrupt) {}

  // `count` items from `first` on for a subject that takes `ports`. With labels only where they are wanted.
  [[nodiscard]] Result<DataSet> operator()(const Subject& subject, std::span<const Port> ports, std::int64_t first,
                                           std::int64_t count, bool with_labels);
  // How many items there are to go through in all, known once a part has been made.
  [[nodiscard]] std::int64_t items() const { return items_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // that making them took

 private:
  const ValidationRequest& request_;
  const Launcher& launcher_;
  const std::atomic<int>* interrupt_;
  std::string key_;  // of what was made last
  DataSet made_;
  std::int64_t items_ = 0;
  double seconds_ = 0;
};

// Bytes that the largest item takes, and how many items a part may have by them.
[[nodiscard]] std::uint64_t bytes_of(const ItemValues& values);
[[nodiscard]] std::int64_t items_in_a_part(std::uint64_t bytes_per_item, std::uint64_t most_bytes);

}  // namespace infermeter
