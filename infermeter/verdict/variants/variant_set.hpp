// Which subjects of a run are which variant of a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace infermeter {

// One row of the report.
struct VariantEntry {
  std::string label;
  std::string kind;                            // "int8-static"
  std::string refusal;                         // why it was not measured; empty: it was
  std::vector<std::optional<int>> subjects{};  // of the run, by batch size
};

struct VariantSet {
  std::string model;
  std::vector<std::int64_t> batch_sizes{};
  std::vector<VariantEntry> entries{};  // the first one is the baseline
  std::vector<std::string> notes{};     // sentences: what was left out and why
};

}  // namespace infermeter
