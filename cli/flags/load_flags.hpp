// Load flags: how requests arrive, for verbs that measure under load.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/flags/plan_flags.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/draft.hpp"

namespace infermeter {

class LoadFlags {
 public:
  void declare(CLI::App& app);
  // Rates and concurrencies multiply the subjects that say nothing of their load.
  [[nodiscard]] Result<Done> apply(PlanDraft& draft, const PlanFlags& plan) const;
  [[nodiscard]] bool any() const;

 private:
  std::vector<std::string> scenario_, rates_, concurrencies_, arrivals_, samples_, requests_, find_rate_, goodput_,
      spin_;
  bool mlperf_ = false;
};

}  // namespace infermeter
