// Plan <-> JSON. Objects are written with sorted keys and doubles in the shortest form that reads back the same, so
// equal plans have equal bytes.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "infermeter/plan/plan_file.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

Json pairs_to_json(const Pairs& pairs) {
  Json json = Json::array();
  for (const auto& [name, value] : pairs) json.push_back(Json::array({name, value}));
  return json;
}

template <class T>
Json optional_to_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json subject_to_json(const Subject& s) {
  Json json = {{"label", s.label},
               {"model", s.model},
               {"backend", s.backend},
               {"device", s.device},
               {"dtype", to_string(s.dtype)},
               {"batch_size", s.batch_size},
               {"threads", s.threads},
               {"dimensions", pairs_to_json(s.dimensions)},
               {"batch_axes", pairs_to_json(s.batch_axes)},
               {"options", pairs_to_json(s.options)},
               {"backend_library", s.backend_library},
               {"group", s.group}};
  if (!s.load.empty()) json["load"] = pairs_to_json(s.load);
  if (!s.environment.empty()) json["environment"] = pairs_to_json(s.environment);
  return json;
}

// nullopt: it is no whole number, or one beyond 64 bits with a sign. get<> would truncate and wrap.
std::optional<std::int64_t> whole_from(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  if (json.is_number_unsigned() && !std::in_range<std::int64_t>(json.get<std::uint64_t>())) return std::nullopt;
  return json.get<std::int64_t>();
}

// Reads an object's members into fields. The first member of a wrong kind stops it and is named in the error; members
// that are not there leave the field as it is, so that plans of older versions can be read.
class Members {
 public:
  Members(const Json& object, std::string_view what) : object_(object), what_(what) {
    if (!object.is_object()) fail("", "an object");
  }

  void read(const char* key, std::string& field) { take(key, &Json::is_string, "a string", field); }
  void read(const char* key, bool& field) { take(key, &Json::is_boolean, "true or false", field); }
  void read(const char* key, double& field) { take(key, &Json::is_number, "a number", field); }
  void read(const char* key, std::uint64_t& field) {
    take(key, &Json::is_number_unsigned, "a whole number of at least 0", field);
  }
  void read(const char* key, std::int64_t& field) {
    const Json* member = find(key);
    if (member == nullptr) return;
    const auto whole = whole_from(*member);
    if (!whole) return fail(key, "a whole number");
    field = *whole;
  }
  void read(const char* key, int& field) {
    std::int64_t wide = field;
    read(key, wide);
    if (wide < INT32_MIN || wide > INT32_MAX) return fail(key, "a whole number of 32 bits");
    field = static_cast<int>(wide);
  }
  void read(const char* key, std::size_t index_limit, std::size_t& field) {
    std::uint64_t wide = field;
    read(key, wide);
    if (wide >= index_limit) return fail(key, "the number of a subject of the plan");
    field = wide;
  }
  template <class T>
  void read(const char* key, std::optional<T>& field) {
    const Json* member = find(key);
    if (member == nullptr) return;
    field.reset();
    if (member->is_null()) return;
    T value{};
    read(key, value);
    field = value;
  }
  void read(const char* key, std::vector<int>& field) {
    for_each(key, [&](const Json& element) {
      const auto wide = whole_from(element);
      if (!wide || !std::in_range<int>(*wide)) return fail(key, "an array of whole numbers of 32 bits");
      field.push_back(static_cast<int>(*wide));
    });
  }
  void read(const char* key, Pairs& field) {
    for_each(key, [&](const Json& element) {
      const bool is_pair =
          element.is_array() && element.size() == 2 && element[0].is_string() && element[1].is_string();
      if (!is_pair) return fail(key, "an array of [name, value]");
      field.emplace_back(element[0].get<std::string>(), element[1].get<std::string>());
    });
  }
  // A text that `parse` turns into the field.
  template <class T, class Parse>
  void read(const char* key, T& field, Parse parse) {
    std::string text;
    read(key, text);
    if (find(key) == nullptr || error_) return;
    const auto parsed = parse(text);
    if (!parsed) return fail(key, parsed.error().message);
    field = *parsed;
  }
  template <class Visit>
  void for_each(const char* key, Visit visit) {
    const Json* member = find(key);
    if (member == nullptr) return;
    if (!member->is_array()) return fail(key, "an array");
    for (const Json& element : *member) visit(element);
  }

  const Json* find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  void fail(std::string_view key, std::string_view expected) {
    if (!error_)
      error_ = internal_error(fmt::format("the stored plan is damaged: {}{} is not {}", what_, key, expected));
  }
  [[nodiscard]] Result<Done> result() const { return error_ ? Result<Done>(*error_) : Result<Done>(Done{}); }

 private:
  template <class T>
  void take(const char* key, bool (Json::*is)() const noexcept, std::string_view expected, T& field) {
    const Json* member = find(key);
    if (member == nullptr) return;
    if (!(member->*is)()) return fail(key, expected);
    field = member->get<T>();
  }

  const Json& object_;
  std::string what_;
  std::optional<Error> error_;
};

Result<Subject> subject_from_json(const Json& json) {
  Subject s;
  Members m(json, "subject ");
  m.read("label", s.label);
  m.read("model", s.model);
  m.read("backend", s.backend);
  m.read("device", s.device);
  m.read("dtype", s.dtype, precision_from_string);
  m.read("batch_size", s.batch_size);
  m.read("threads", s.threads);
  m.read("dimensions", s.dimensions);
  m.read("batch_axes", s.batch_axes);
  m.read("options", s.options);
  m.read("load", s.load);
  m.read("environment", s.environment);
  m.read("backend_library", s.backend_library);
  m.read("group", s.group);
  INFERMETER_TRY_DONE(m.result());
  return s;
}

Json settings_to_json(const Plan& p) {
  return {{"processes", p.processes},
          {"warmup", p.stopping.warmup},
          {"count_first", p.stopping.count_first},
          {"automatic_warmup", p.automatic.warmup},
          {"automatic_iterations", p.automatic.iterations},
          {"automatic_processes", p.automatic.processes},
          {"precision", p.precision},
          {"budget_s", optional_to_json(p.budget_s)},
          {"repeat_disturbed", p.repeat_disturbed},
          {"leak_iterations", p.leak_iterations},
          {"profile_processes", p.profiling.processes},
          {"profile_iterations", p.profiling.iterations},
          {"stacks", to_string(p.profiling.stacks)},
          {"python_profiler", to_string(p.profiling.python)},
          {"iterations", optional_to_json(p.stopping.iterations)},
          {"duration_s", optional_to_json(p.stopping.duration_s)},
          {"load_timeout_s", p.limits.load_timeout_s},
          {"run_timeout_s", p.limits.run_timeout_s},
          {"memory_limit_bytes", p.limits.memory_limit_bytes},
          {"seed", optional_to_json(p.seed)},
          {"data", p.data.source},
          {"distributions", pairs_to_json(p.data.distributions)},
          {"data_limit", p.data.limit},
          {"data_seed", p.data.seed},
          {"labels", p.data.labels},
          {"outliers", to_string(p.outliers)},
          {"sandbox", to_string(p.sandbox)},
          {"compare_outputs", p.compare_outputs},
          {"cpus", p.cpus},
          {"output_dir", p.output_dir},
          {"backend_path", p.backend_path},
          {"allow_code", p.allow_code}};
}

Json question_to_json(const Question& q) {
  return {{"metric", q.metric},
          {"margin", q.margin},
          {"alpha", q.alpha},
          {"until_resolved", q.until_resolved},
          {"all_pairs", q.all_pairs},
          {"drop_disturbed", q.drop_disturbed},
          {"fail_slower", q.fail_slower},
          {"fail_inconclusive", q.fail_inconclusive},
          {"budget_s", optional_to_json(q.budget_s)}};
}

Json tuning_to_json(const Tuning& t) {
  return {{"objective", t.objective},       {"constraints", t.constraints},
          {"indifference", t.indifference}, {"alpha", t.alpha},
          {"budget_s", t.budget_s},         {"halving_blocks", t.halving_blocks},
          {"race_blocks", t.race_blocks},   {"confirmation_pairs", t.confirmation_pairs},
          {"settings", t.settings},         {"left_out", pairs_to_json(t.left_out)}};
}

Result<Done> read_tuning(const Json* json, Plan& plan) {
  if (json == nullptr || json->is_null()) return Done{};
  Tuning& t = plan.tuning.emplace();
  Members m(*json, "tuning ");
  m.read("objective", t.objective);
  m.for_each("constraints", [&](const Json& element) {
    if (!element.is_string()) return m.fail("constraints", "an array of texts");
    t.constraints.push_back(element.get<std::string>());
  });
  m.read("indifference", t.indifference);
  m.read("alpha", t.alpha);
  m.read("budget_s", t.budget_s);
  m.read("halving_blocks", t.halving_blocks);
  m.read("race_blocks", t.race_blocks);
  m.read("confirmation_pairs", t.confirmation_pairs);
  m.read("settings", t.settings);
  m.read("left_out", t.left_out);
  return m.result();
}

Result<Done> read_question(const Json* json, Plan& plan) {
  if (json == nullptr || json->is_null()) return Done{};
  Question& q = plan.question.emplace();
  Members m(*json, "question ");
  m.read("metric", q.metric);
  m.read("margin", q.margin);
  m.read("alpha", q.alpha);
  m.read("until_resolved", q.until_resolved);
  m.read("all_pairs", q.all_pairs);
  m.read("drop_disturbed", q.drop_disturbed);
  m.read("fail_slower", q.fail_slower);
  m.read("fail_inconclusive", q.fail_inconclusive);
  m.read("budget_s", q.budget_s);
  return m.result();
}

void read_settings(Members& m, Plan& p) {
  m.read("processes", p.processes);
  m.read("warmup", p.stopping.warmup);
  m.read("count_first", p.stopping.count_first);
  m.read("automatic_warmup", p.automatic.warmup);
  m.read("automatic_iterations", p.automatic.iterations);
  m.read("automatic_processes", p.automatic.processes);
  m.read("precision", p.precision);
  m.read("budget_s", p.budget_s);
  m.read("repeat_disturbed", p.repeat_disturbed);
  m.read("leak_iterations", p.leak_iterations);
  m.read("profile_processes", p.profiling.processes);
  m.read("profile_iterations", p.profiling.iterations);
  m.read("stacks", p.profiling.stacks, stack_sampling_from_string);
  m.read("python_profiler", p.profiling.python, python_profiler_from_string);
  m.read("iterations", p.stopping.iterations);
  m.read("duration_s", p.stopping.duration_s);
  m.read("load_timeout_s", p.limits.load_timeout_s);
  m.read("run_timeout_s", p.limits.run_timeout_s);
  m.read("memory_limit_bytes", p.limits.memory_limit_bytes);
  m.read("seed", p.seed);
  m.read("data", p.data.source);
  m.read("distributions", p.data.distributions);
  m.read("data_limit", p.data.limit);
  p.data.seed = p.seed.value_or(p.data.seed);  // one seed was both before there were two
  m.read("data_seed", p.data.seed);
  m.read("labels", p.data.labels);
  m.read("outliers", p.outliers, outlier_rule_from_string);
  m.read("sandbox", p.sandbox, sandbox_from_string);
  m.read("compare_outputs", p.compare_outputs);
  m.read("cpus", p.cpus);
  m.read("output_dir", p.output_dir);
  m.read("backend_path", p.backend_path);
  m.read("allow_code", p.allow_code);
}

Result<Done> read_subjects(Members& members, Plan& plan) {
  std::optional<Error> error;
  members.for_each("subjects", [&](const Json& element) {
    auto subject = subject_from_json(element);
    if (!subject && !error) error = subject.error();
    if (subject) plan.subjects.push_back(std::move(*subject));
  });
  if (error) return *error;
  return Done{};
}

Result<Done> read_order(Members& members, Plan& plan) {
  std::optional<Error> error;
  members.for_each("order", [&](const Json& element) {
    PlannedTrial trial;
    Members m(element, "order ");
    m.read("subject", plan.subjects.size(), trial.subject);
    m.read("process", trial.process);
    if (!m.result() && !error) error = m.result().error();
    plan.order.push_back(trial);
  });
  if (error) return *error;
  return Done{};
}

}  // namespace

std::string plan_to_json(const Plan& plan) {
  Json json = settings_to_json(plan);
  json["question"] = plan.question ? question_to_json(*plan.question) : Json(nullptr);
  if (plan.tuning) json["tuning"] = tuning_to_json(*plan.tuning);
  json["subjects"] = Json::array();
  for (const Subject& subject : plan.subjects) json["subjects"].push_back(subject_to_json(subject));
  json["order"] = Json::array();
  for (const PlannedTrial& trial : plan.order) {
    json["order"].push_back({{"subject", trial.subject}, {"process", trial.process}});
  }
  // Text that is not UTF-8 is refused by check_plan; a plan that skipped it is written with U+FFFD, not with an
  // exception.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Plan> plan_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return internal_error("the stored plan is damaged: it is not JSON");
  Plan plan;
  Members members(json, "plan ");
  read_settings(members, plan);
  INFERMETER_TRY_DONE(read_question(members.find("question"), plan));
  INFERMETER_TRY_DONE(read_tuning(members.find("tuning"), plan));
  INFERMETER_TRY_DONE(read_subjects(members, plan));
  INFERMETER_TRY_DONE(read_order(members, plan));
  INFERMETER_TRY_DONE(members.result());
  return plan;
}

}  // namespace infermeter
