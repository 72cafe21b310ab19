#include "cli/doctor_self.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/measure_plan.hpp"
#include "cli/output/report_output.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/stats/comparison/design_power.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/self_noise.hpp"

namespace infermeter {
namespace {

constexpr int kFewestPairs = 8;
constexpr std::array kPairsTold = {8, 20, 40};

Result<Plan> plan_of(const SelfComparison& asked, PlanDraft draft) {
  if (asked.pairs < kFewestPairs || asked.pairs > 10'000) {
    return usage_error(fmt::format("--aa {}: from {} to 10000 pairs", asked.pairs, kFewestPairs));
  }
  INFERMETER_TRY(const SubjectDraft subject, subject_draft_from_string(asked.subject));
  draft.subjects = {subject, subject};
  draft.models.clear();
  draft.backends.clear();
  // Of lists the first: two subjects are compared.
  const auto keep_first = [](auto& list) {
    if (list.size() > 1) list.erase(list.begin() + 1, list.end());
  };
  keep_first(draft.batch_sizes);
  keep_first(draft.dtypes);
  keep_first(draft.threads);
  draft.is_comparison = true;
  draft.max_pairs = asked.pairs;
  draft.question = Question{.margin = 0, .all_pairs = true};
  return make_plan(draft);
}

// By the looks of a comparison of so many pairs.
double detectable_by(const SelfNoise& found, int pairs) {
  const auto shown = detectable_effect({.looks = usual_looks(pairs)}, pairs, true);
  return shown.value_or(0) * found.noise.standard_deviation;
}

void note_disturbances(const RunRecord& record, SelfNoise& found) {
  std::vector<double> foreign;
  for (const Samples& trial : record.trials) {
    if (trial.noise.foreign_cpu) foreign.push_back(*trial.noise.foreign_cpu);
    if (trial.noise.steal) found.most_steal = std::max(found.most_steal.value_or(0), *trial.noise.steal);
  }
  if (foreign.empty()) return;
  std::ranges::sort(foreign);
  found.foreign_cpu = foreign[foreign.size() / 2];
  found.most_foreign_cpu = foreign.back();
}

}  // namespace

void SelfComparison::declare(CLI::App& app) {
  app.add_option("--aa", pairs,
                 "Compare a program with itself over N pairs of processes, 8 to 10000 (20, for example).")
      ->type_name("N")
      ->group("Noise");
  app.add_option("--aa-subject", subject,
                 "The program that is compared with itself. Default: mobilenet_v3_small@onnxruntime.")
      ->type_name("SUBJECT")
      ->group("Noise");
}

Result<SelfNoise> compare_with_itself(Surroundings& world, const SelfComparison& asked, PlanDraft draft) {
  INFERMETER_TRY(Plan plan, plan_of(asked, std::move(draft)));
  INFERMETER_TRY(const Launcher launcher, find_launcher(plan.backend_path));
  INFERMETER_TRY(const auto measured, measure_plan(world, std::move(plan), launcher, Verbosity::usual));
  const RunRecord& record = measured.record;
  const Verdict verdict = judge(record);
  const auto noise = self_noise(record);
  if (!noise && look_at_interrupts(world.interrupt) != 0) {
    return worker_error(
        fmt::format("interrupted before two pairs of {} had ended: `infermeter run --resume {}` continues",
                    asked.subject, record.id));
  }
  if (!noise) {
    return worker_error(
        fmt::format("{} gave no pairs to compare: `infermeter report {}` says why", asked.subject, record.id));
  }
  SelfNoise found{.run = record.id,
                  .noise = *noise,
                  .comparison = verdict.comparison->primary.front(),
                  .foreign_cpu = {},
                  .most_foreign_cpu = {},
                  .most_steal = {},
                  .exit_code = exit_code_of_run(world, record, verdict.exit_code)};
  note_disturbances(record, found);
  return found;
}

std::string as_text(const SelfNoise& found) {
  std::string text =
      fmt::format("{} compared with itself, {} pairs:\n", printable(found.noise.subject), found.noise.pairs);
  text += fmt::format("  a pair varies by {}\n", size_text(found.noise.standard_deviation));
  for (const int pairs : kPairsTold) {
    text += fmt::format("  {:>2} pairs show a difference of {} with 80 % power\n", pairs,
                        size_text(detectable_by(found, pairs)));
  }
  if (found.comparison.interval) {
    const bool alarm = found.comparison.interval->low > 0 || found.comparison.interval->high < 0;
    text += fmt::format("  difference found: {}{}\n", effects_text(found.noise.metric, *found.comparison.interval),
                        alarm ? ", a false alarm: one in twenty is expected" : ", as it should be");
  }
  if (found.foreign_cpu) {
    text += fmt::format("  other programs used {:.2f} processors in the median, {:.2f} at most", *found.foreign_cpu,
                        *found.most_foreign_cpu);
    text += found.most_steal ? fmt::format("; up to {:.1f} % was stolen\n", *found.most_steal * 100) : "\n";
  }
  return text;
}

nlohmann::ordered_json as_json(const SelfNoise& found) {
  auto effects = nlohmann::ordered_json::object();
  for (const int pairs : kPairsTold) {
    effects[std::to_string(pairs)] = detectable_by(found, pairs);
  }
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  return {{"run", found.run},
          {"subject", found.noise.subject},
          {"metric", found.noise.metric},
          {"pairs", found.noise.pairs},
          {"standard_deviation", found.noise.standard_deviation},
          {"minimum_effect", std::move(effects)},
          {"p", found.comparison.p},
          {"foreign_cpu_median", or_null(found.foreign_cpu)},
          {"foreign_cpu_max", or_null(found.most_foreign_cpu)},
          {"steal_max", or_null(found.most_steal)}};
}

}  // namespace infermeter
