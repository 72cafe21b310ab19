// The two forms of everything that is not a report: columns for people, JSON for programs.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

struct ListFormat {
  std::string name = "table";

  void declare(CLI::App& app);
  [[nodiscard]] Result<bool> is_json() const;
};

// Indented, with a line break at the end; text that is not UTF-8 shows U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace infermeter
