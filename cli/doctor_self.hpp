// doctor --aa: a program compared with itself, to know what this machine adds.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/surroundings.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/verdict/comparison.hpp"

namespace infermeter {

struct SelfComparison {
  int pairs = 0;  // 0: not asked for
  std::string subject = "mobilenet_v3_small@onnxruntime";

  void declare(CLI::App& app);
};

struct SelfNoise {
  std::string run;
  MachineNoise noise;
  PairedComparison comparison;
  // Over all trials: medians, and the largest.
  std::optional<double> foreign_cpu, most_foreign_cpu, most_steal;
  int exit_code = 0;
};

// Measures, and keeps the noise in the store of draft.plan.output_dir.
[[nodiscard]] Result<SelfNoise> compare_with_itself(Surroundings& world, const SelfComparison& asked, PlanDraft draft);

[[nodiscard]] std::string as_text(const SelfNoise& noise);
[[nodiscard]] nlohmann::ordered_json as_json(const SelfNoise& noise);

}  // namespace infermeter
