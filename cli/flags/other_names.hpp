// Other names: flags as earlier tools called them (docs/coming-from.md), in one table. A verb takes those of the
// settings that it has.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

class OtherNames {
 public:
  using Values = std::map<std::string_view, std::vector<std::string>>;  // by key of the setting; empty: not given

  // Those of the settings in `values`.
  void declare(CLI::App& app, const Values& values);
  // Adds what was given to `values`, in our words. A setting that is given by both of its names is refused.
  [[nodiscard]] Result<Done> add_to(Values& values) const;

  // --generate-html, --report-format html: the page, wherever the other reports go.
  [[nodiscard]] bool wants_page() const;
  // --save-dir: the folder of everything that is left.
  [[nodiscard]] std::string save_dir() const;
  // --framework: the word of a runner that measured four batch sizes where none were said.
  [[nodiscard]] bool names_framework() const { return has("--framework"); }
  [[nodiscard]] bool has(std::string_view flag) const;

 private:
  std::map<std::string_view, std::vector<std::string>> given_;  // by the flag
};

}  // namespace infermeter
