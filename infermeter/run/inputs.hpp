// The inputs of a run: made once per signature of a model's inputs, so that every subject gets the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "infermeter/data/data_set.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// How the data of `subject` are to be made, and what they may take (most_bytes_of_data). Pictures are decoded in
// workers of `launcher`, where it has a worker program.
[[nodiscard]] DataOptions data_options_of(const Plan& plan, const Subject& subject, const Launcher& launcher,
                                          const std::atomic<int>* interrupt);

// Equal for inputs that get equal data. Names count: data may be looked up by them.
[[nodiscard]] std::string signature_of(std::span<const Port> inputs);

class RunInputs {
 public:
  RunInputs(const Plan& plan, const Launcher& launcher, const std::atomic<int>* interrupt)
      : plan_(plan), launcher_(launcher), interrupt_(interrupt) {}

  // The data set for `subject`, whose model takes `ports`. Copies share their bytes.
  [[nodiscard]] Result<DataSet> operator()(const Subject& subject, std::span<const Port> ports);

 private:
  const Plan& plan_;
  const Launcher& launcher_;
  const std::atomic<int>* interrupt_;
  std::map<std::string, DataSet> made_;  // by signature
  std::uint64_t bytes_ = 0;              // of them
};

}  // namespace infermeter
