// A model without a back end is measured on every back end here that reads it.
#pragma once

#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

struct ChosenBackends {
  std::vector<std::string> names{};
  std::string note{};  // the sentence that says which; empty where a model turns out to be none
};

// Those that read all of the models, by zoo names, endings of files and names of workloads; an error where there is
// none.
[[nodiscard]] Result<ChosenBackends> backends_that_read(const std::vector<std::string>& models,
                                                        const std::vector<BackendInfo>& backends);

}  // namespace infermeter
