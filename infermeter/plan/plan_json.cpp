// Plan <-> JSON. Objects are written with sorted keys and doubles in the shortest form that reads back the same, so
// equal plans have equal bytes.
#include <algorithm>
#include <type_traits>

#include "infermeter/plan/plan_fields.hpp"
#include "infermeter/plan/plan_file.hpp"

namespace infermeter {

bool name_to_value(std::string_view name, StackSampling& value) {
  return take_value(stack_sampling_from_string(name), value);
}
bool name_to_value(std::string_view name, OutlierRule& value) {
  return take_value(outlier_rule_from_string(name), value);
}

template <class V, MaybeConst<Question> S>
void visit_fields(V& v, S& s) {
  v.field("metric", s.metric);
  v.field("margin", s.margin);
  v.field("alpha", s.alpha);
  v.field("until_resolved", s.until_resolved);
  v.field("all_pairs", s.all_pairs);
  v.field("drop_disturbed", s.drop_disturbed);
  v.field("fail_slower", s.fail_slower);
  v.field("fail_inconclusive", s.fail_inconclusive);
  v.field("budget_s", s.budget_s);
}

template <class V, MaybeConst<Tuning> S>
void visit_fields(V& v, S& s) {
  v.field("objective", s.objective);
  v.field("constraints", s.constraints);
  v.field("indifference", s.indifference);
  v.field("alpha", s.alpha);
  v.field("budget_s", s.budget_s);
  v.field("halving_blocks", s.halving_blocks);
  v.field("race_blocks", s.race_blocks);
  v.field("confirmation_pairs", s.confirmation_pairs);
  v.field("settings", s.settings);
  v.field("left_out", s.left_out);
}

template <class V, MaybeConst<PlannedTrial> S>
void visit_fields(V& v, S& s) {
  v.field("subject", s.subject);
  v.field("process", s.process);
}

template <class V, MaybeConst<Plan> S>
void visit_fields(V& v, S& s) {
  v.field("processes", s.processes);
  v.field("warmup", s.stopping.warmup);
  v.field("count_first", s.stopping.count_first);
  v.field("automatic_warmup", s.automatic.warmup);
  v.field("automatic_iterations", s.automatic.iterations);
  v.field("automatic_processes", s.automatic.processes);
  v.field("precision", s.precision);
  v.field("budget_s", s.budget_s);
  v.field("repeat_disturbed", s.repeat_disturbed);
  v.field("leak_iterations", s.leak_iterations);
  v.field("profile_processes", s.profiling.processes);
  v.field("profile_iterations", s.profiling.iterations);
  v.field("stacks", s.profiling.stacks);
  v.field("python_profiler", s.profiling.python);
  v.field("iterations", s.stopping.iterations);
  v.field("duration_s", s.stopping.duration_s);
  v.field("load_timeout_s", s.limits.load_timeout_s);
  v.field("run_timeout_s", s.limits.run_timeout_s);
  v.field("memory_limit_bytes", s.limits.memory_limit_bytes);
  v.field("seed", s.seed);
  v.field("data", s.data.source);
  v.field("distributions", s.data.distributions);
  v.field("data_limit", s.data.limit);
  // One seed was both before there were two.
  if constexpr (!std::is_const_v<S>) s.data.seed = s.seed.value_or(s.data.seed);
  v.field("data_seed", s.data.seed);
  v.field("labels", s.data.labels);
  v.field("outliers", s.outliers);
  v.field("sandbox", s.sandbox);
  v.field("compare_outputs", s.compare_outputs);
  v.field("cpus", s.cpus);
  v.field("output_dir", s.output_dir);
  v.field("backend_path", s.backend_path);
  v.field("allow_code", s.allow_code);
  v.field("question", s.question);
  v.where_there("tuning", s.tuning);
  v.field("subjects", s.subjects);
  v.field("order", s.order);
}

std::string plan_to_json(const Plan& plan) { return structure_to_json(plan); }

Result<Plan> plan_from_json(std::string_view text) {
  constexpr std::string_view what = "the stored plan";
  INFERMETER_TRY(Plan plan, structure_from_json<Plan>(text, what));
  const auto is_of_a_subject = [&](const PlannedTrial& trial) { return trial.subject < plan.subjects.size(); };
  if (!std::ranges::all_of(plan.order, is_of_a_subject))
    return io_error(std::string(what) + " cannot be read: a trial of its order is of no subject");
  return plan;
}

}  // namespace infermeter
