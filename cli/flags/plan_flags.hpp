// Plan flags: what flags, INFERMETER_* variables, a plan file and infermeter.toml say, put together.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags/other_names.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/draft.hpp"

namespace infermeter {

// What the flags are for, as some make sense for one use only. Fixed: verbs whose number of processes never depends on
// what is measured.
enum class Use { run, fixed, comparison };

class PlanFlags {
 public:
  // One flag per setting of infermeter/plan/setting.hpp, --plan and the positional subjects.
  void declare(CLI::App& app, Use use = Use::run);

  // Flags override the plan file, that overrides variables, and those override infermeter.toml in the current
  // folder.
  [[nodiscard]] Result<PlanDraft> gather(const Surroundings& world) const;

  // Did a flag, or --plan, name something to measure?
  [[nodiscard]] bool names_subjects() const;
  // What was given as positional arguments.
  [[nodiscard]] const std::vector<std::string>& positional() const { return values_.at("subjects"); }
  // A flag that changes a plan and was given ("--seed"), or nothing; but for the settings of these keys.
  [[nodiscard]] std::string changing_flag(std::initializer_list<std::string_view> but = {}) const;
  // Was the flag of this setting given, or another name of it?
  [[nodiscard]] bool gives(std::string_view key) const;
  [[nodiscard]] const OtherNames& other_names() const { return other_names_; }

 private:
  [[nodiscard]] Result<Done> apply_flags(PlanDraft& draft) const;

  OtherNames other_names_;

  // What was given, those of kOptionFlags as options of the back end.
  [[nodiscard]] std::map<std::string_view, std::vector<std::string>> values() const;

  // The same with what other names of the flags say.
  [[nodiscard]] std::map<std::string_view, std::vector<std::string>> given() const;

  std::map<std::string_view, std::vector<std::string>> values_;  // by key of the setting; empty: not given
  std::map<std::string_view, std::string> options_;              // of the back end, by key, from flags of their own
  std::string plan_file_;
  bool no_compare_outputs_ = false, until_resolved_ = false, all_pairs_ = false, drop_disturbed_ = false;
};

// What variables and infermeter.toml say, for verbs that have no plan: output_dir, format.
[[nodiscard]] Result<PlanDraft> ambient_draft(const Surroundings& world);

// Declares the flags of these settings only, and puts what was given into the draft.
class SomeFlags {
 public:
  void declare(CLI::App& app, std::initializer_list<std::string_view> keys);
  // Also by their other names.
  void declare_other_names(CLI::App& app) { other_names_.declare(app, values_); }
  [[nodiscard]] Result<Done> apply(PlanDraft& draft) const;
  [[nodiscard]] bool has(std::string_view key) const { return !values_.at(key).empty(); }
  [[nodiscard]] const OtherNames& other_names() const { return other_names_; }

 private:
  OtherNames other_names_;
  std::map<std::string_view, std::vector<std::string>> values_;
};

// The variable of a setting: INFERMETER_BATCH_SIZES.
[[nodiscard]] std::string variable_name(std::string_view key);

}  // namespace infermeter
