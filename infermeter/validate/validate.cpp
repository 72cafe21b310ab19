// A validation on one page: the baseline once more on the first items, then both subjects, part by part.
#include "infermeter/validate/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infermeter/data/port_fit.hpp"
#include "infermeter/machine/machine.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/run/begin.hpp"
#include "infermeter/run/texts/parting_texts.hpp"
#include "infermeter/run/trial_job.hpp"
#include "infermeter/run/workload.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/validate/inputs.hpp"
#include "infermeter/validate/labels.hpp"
#include "infermeter/verdict/sandbox_in_force.hpp"

namespace infermeter {
namespace {

Result<Done> check_one(const std::optional<double>& value, std::string_view name, std::string_view output) {
  if (!value || (*value >= 0 && *value < 1e300)) return Done{};
  const std::string of = output.empty() ? std::string() : fmt::format(" of output '{}'", output);
  return usage_error(fmt::format("the {} tolerance{} must be a number of at least 0, not {}", name, of, *value));
}

Result<Done> check_request(const ValidationRequest& request) {
  const auto& subjects = request.plan.subjects;
  if (subjects.size() != 2) {
    return usage_error(fmt::format("validate compares two subjects, the baseline first; got {}", subjects.size()));
  }
  if (subjects[0].batch_size != subjects[1].batch_size) {
    return usage_error(
        fmt::format("validate compares item by item, and the batch sizes are {} and {}: give both the "
                    "same batch=N",
                    subjects[0].batch_size, subjects[1].batch_size));
  }
  INFERMETER_TRY_DONE(check_one(request.tolerance.relative, "relative", ""));
  INFERMETER_TRY_DONE(check_one(request.tolerance.absolute, "absolute", ""));
  for (const auto& [output, tolerance] : request.by_output) {
    INFERMETER_TRY_DONE(check_one(tolerance.relative, "relative", output));
    INFERMETER_TRY_DONE(check_one(tolerance.absolute, "absolute", output));
  }
  if (request.max_drop && !(*request.max_drop >= 0 && *request.max_drop <= 1)) {
    return usage_error(fmt::format("--max-drop must be a share between 0 and 1, not {}", *request.max_drop));
  }
  if (request.max_increase && !(*request.max_increase >= 0 && *request.max_increase < 1e300)) {
    return usage_error(fmt::format("--max-increase must be a share of at least 0, not {}", *request.max_increase));
  }
  if (request.max_increase && request.plan.data.labels != next_labels) {
    return usage_error(
        "an increase of perplexity can only be judged of texts: give --text FILE, or --data with tokens and --labels "
        "next");
  }
  return Done{};
}

Error no_such_output(const std::string& name, const std::vector<std::string>& outputs) {
  std::string known;
  for (const std::string& output : outputs) known += fmt::format("{}'{}'", known.empty() ? "" : ", ", output);
  return usage_error(fmt::format("a tolerance is given for output '{}'{}, the outputs are {} (--tolerance)", name,
                                 did_you_mean(name, outputs), known));
}

// What one trial gave.
struct Answers {
  Samples samples;
  std::vector<Port> inputs, outputs;
  std::vector<ItemValues> values;
  DataSet data;
};

class ValidationRun {
 public:
  ValidationRun(const ValidationRequest& request, const RunContext& context)
      : request_(request),
        context_(context),
        inputs_(request, context.launcher, context.interrupt),
        labels_(request.plan.data.labels, request.max_drop) {}

  Result<Validation> operator()() {
    const double begin = monotonic_s();
    INFERMETER_TRY(models_, models());
    describe();
    out_.created_at = wall_clock_s();
    out_.hostname = host_name();
    // What the baseline differs from itself by; and what an item takes.
    INFERMETER_TRY(Answers again, trial(0, 0, kAgainItems, false));
    out_.times.again_s = out_.times.models_s;
    out_.times.models_s = 0;
    const std::int64_t part = part_size(again);
    planned_ = 1 + 2 * static_cast<std::size_t>((inputs_.items() + part - 1) / part);
    for (std::int64_t first = 0; first < inputs_.items(); first += part) {
      INFERMETER_TRY_DONE(do_part(first, std::min(part, inputs_.items() - first), again));
      again.values.clear();
    }
    INFERMETER_TRY_DONE(conclude());
    out_.times.data_s = inputs_.seconds();
    out_.times.whole_s = monotonic_s() - begin;
    return std::move(out_);
  }

 private:
  [[nodiscard]] Result<std::vector<ModelFacts>> models() const {
    if (context_.is_checked) return resolve_models(request_.plan, context_);
    return resolve_models(request_.plan, context_, check_validation(request_, context_));
  }

  void describe() {
    const Plan& plan = request_.plan;
    out_.baseline = {plan.subjects[0], models_[0], {}};
    out_.candidate = {plan.subjects[1], models_[1], {}};
    out_.data = plan.data;
    if (!request_.text.empty()) out_.data.source = request_.text;
    out_.are_texts = plan.data.labels == next_labels;
    out_.perturb = request_.perturb;
    out_.noise = request_.noise;
    out_.seed = plan.data.seed;
  }

  // By the items that have been seen; their number is bounded by their inputs, since outputs come after them.
  [[nodiscard]] std::int64_t part_size(const Answers& again) const {
    std::uint64_t largest = 1;
    for (const DataItem& item : again.data.items) largest = std::max(largest, bytes_of(item.inputs));
    for (const ItemValues& values : again.values) largest = std::max(largest, bytes_of(values));
    return items_in_a_part(largest, request_.most_bytes);
  }

  Result<Done> do_part(std::int64_t first, std::int64_t count, const Answers& again) {
    INFERMETER_TRY(const Answers baseline, trial(0, first, count, true));
    INFERMETER_TRY(const Answers candidate, trial(1, first, count, true));
    if (first == 0) begin_comparison(baseline, candidate, again);
    comparer_->add(baseline.values, candidate.values);
    INFERMETER_TRY_DONE(labels_.add(baseline.data, baseline.values, candidate.values));
    for (std::size_t i = 0; i < baseline.data.items.size(); ++i) {
      out_.items.push_back(baseline.data.items[i].name);
      if (!request_.on_outputs || i >= baseline.values.size() || i >= candidate.values.size()) continue;
      INFERMETER_TRY_DONE(request_.on_outputs(static_cast<std::size_t>(first) + i, baseline.data.items[i],
                                              baseline.values[i], candidate.values[i]));
    }
    return Done{};
  }

  void begin_comparison(const Answers& baseline, const Answers& candidate, const Answers& again) {
    out_.baseline.executed = baseline.samples.executed;
    out_.candidate.executed = candidate.samples.executed;
    names_.clear();
    for (const auto& output : baseline.samples.outputs) names_.push_back(output.name);
    names_.resize(baseline.values.empty() ? 0 : baseline.values.front().size());
    const std::size_t both = std::min(baseline.values.size(), again.values.size());
    out_.again_items = both;
    out_.again =
        compare_outputs(names_, std::span(baseline.values).first(both), std::span(again.values).first(both), {});
    comparer_.emplace(names_, tolerances(baseline, candidate));
    for (const Answers* one : {&baseline, &candidate}) {
      for (const Diagnostic& diagnostic : one->samples.diagnostics) out_.diagnostics.push_back(diagnostic);
    }
    out_.sandbox = sandbox_in_force(request_.plan.sandbox, out_.diagnostics);
    if (baseline.samples.input_digest != candidate.samples.input_digest) note_inputs(baseline, candidate);
    // Of language models that make their prompts themselves.
    const std::string asked = baseline.samples.executed_value("first_prompt"),
                      also = candidate.samples.executed_value("first_prompt");
    if (!asked.empty() && !also.empty() && asked != also)
      out_.diagnostics.push_back(
          {DiagnosticId::input_differs,
           fmt::format("the two were not asked the same first prompt (digests {} and {})", asked, also),
           request_.plan.subjects[1].label});
  }

  void note_inputs(const Answers& baseline, const Answers& candidate) {
    const auto inputs = [](const Answers& answers) {
      std::string text;
      for (const Port& port : answers.inputs)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", infermeter::describe(port));
      return text;
    };
    out_.diagnostics.push_back(
        {DiagnosticId::input_differs,
         fmt::format("the two do not take the same bytes: {} and {}", inputs(baseline), inputs(candidate)),
         request_.plan.subjects[1].label});
  }

  // By the coarser of the two precisions that were really executed, unless the user says otherwise.
  std::vector<Tolerance> tolerances(const Answers& baseline, const Answers& candidate) {
    std::vector<Tolerance> result;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      Tolerance tolerance = coarser_tolerance(baseline.samples.executed_value("dtype"),
                                              candidate.samples.executed_value("dtype"), baseline.values.front()[i]);
      for (const AskedTolerance& asked : {request_.tolerance, asked_for(names_[i])}) {
        tolerance.relative = asked.relative.value_or(tolerance.relative);
        tolerance.absolute = asked.absolute.value_or(tolerance.absolute);
      }
      if (i < out_.again.outputs.size()) {
        tolerance.floor = std::max(tolerance.floor, out_.again.outputs[i].max_absolute.value_or(0));
      }
      result.push_back(tolerance);
    }
    return result;
  }

  [[nodiscard]] AskedTolerance asked_for(const std::string& output) const {
    AskedTolerance asked;
    for (const auto& [name, tolerance] : request_.by_output) {
      if (name == output) asked = tolerance;
    }
    return asked;
  }

  Result<Done> conclude() {
    for (const auto& [name, tolerance] : request_.by_output) {
      if (std::ranges::find(names_, name) == names_.end()) return no_such_output(name, names_);
    }
    ComparedOutputs compared = comparer_->result();
    out_.outputs = std::move(compared.whole);
    out_.samples = std::move(compared.samples);
    add_parting_texts(out_.outputs.outputs, models_[0], models_[1], request_.plan.sandbox, context_);
    INFERMETER_TRY(out_.accuracy, labels_.result(names_));
    out_.perplexity = labels_.perplexity();
    if (out_.perplexity) out_.perplexity->allowed = request_.max_increase;
    if (request_.max_increase && !out_.perplexity) {
      return usage_error(
          "--max-increase: a model assigns probability 0 to a token of the texts, so its perplexity is infinite");
    }
    if (!labels_.misfit().empty()) {
      out_.diagnostics.push_back({DiagnosticId::accuracy_not_told, labels_.misfit(), {}});
    }
    return Done{};
  }

  Result<Answers> trial(std::size_t subject, std::int64_t first, std::int64_t count, bool with_labels) {
    Answers answers;
    const double made_before_s = inputs_.seconds();
    const auto data = [&](std::span<const Port> ports) -> Result<DataSet> {
      const std::int64_t most = first == 0 && !with_labels ? first_items(ports, count) : count;
      INFERMETER_TRY(answers.data, inputs_(request_.plan.subjects[subject], ports, first, most, with_labels));
      return answers.data;
    };
    const TrialHooks hooks{.data = data, .on_progress = progress(subject), .interrupt = context_.interrupt};
    const TrialJob job = job_for(subject);
    INFERMETER_TRY_DONE(check_unchanged(models_[subject]));
    TrialResult result =
        context_.trial ? context_.trial(context_.launcher, job, hooks) : run_trial(context_.launcher, job, hooks);
    INFERMETER_TRY_DONE(check_unchanged(models_[subject]));
    out_.times.models_s += result.samples.wall_s - (inputs_.seconds() - made_before_s);
    if (result.launcher_error) return *result.launcher_error;
    if (result.samples.end != TrialEnd::ok) return trial_failure(result.samples, job.subject.label);
    if (trials_ > 1) parts_s_ += result.samples.wall_s;
    report_finished(subject, result.samples);
    if (result.output_values.size() != answers.data.items.size()) {
      return internal_error("the worker ended well and did not give the outputs of all items");
    }
    answers.samples = std::move(result.samples);
    answers.inputs = std::move(result.inputs);
    answers.outputs = std::move(result.outputs);
    answers.values = std::move(result.output_values);
    return answers;
  }

  // Of large items fewer are tried first: what is known of them before they are made is their shape.
  [[nodiscard]] std::int64_t first_items(std::span<const Port> ports, std::int64_t count) const {
    std::uint64_t bytes = 1;
    for (const Port& port : ports) {
      Shape shape = port.shape;
      for (std::int64_t& extent : shape) extent = std::max<std::int64_t>(extent, 1);
      bytes += infermeter::bytes_of(port.dtype, element_count(shape).value_or(0));
    }
    return std::min(count, items_in_a_part(bytes, request_.most_bytes));
  }

  [[nodiscard]] TrialJob job_for(std::size_t subject) {
    TrialJob job = outputs_job(request_.plan, request_.plan.subjects[subject], models_[subject]);
    job.cache_folder = workload_cache(job.subject, models_[subject], context_.cache);
    job.seed += trials_++;
    return job;
  }

  // Of the trial that was begun last.
  [[nodiscard]] Progress progress_of(std::size_t subject) const {
    Progress shown;
    shown.trial = trials_ - 1;
    shown.trials = std::max(planned_, trials_);
    shown.subject = &request_.plan.subjects[subject];
    return shown;
  }

  [[nodiscard]] std::function<void(const TrialProgress&)> progress(std::size_t subject) const {
    if (!context_.on_progress) return {};
    return [this, subject](const TrialProgress& now) {
      Progress shown = progress_of(subject);
      shown.phase = now.phase;
      shown.seconds_left = seconds_left();
      context_.on_progress(shown);
    };
  }

  void report_finished(std::size_t subject, const Samples& samples) const {
    if (!context_.on_progress) return;
    Progress shown = progress_of(subject);
    shown.phase = Phase::done;
    shown.finished = &samples;
    context_.on_progress(shown);
  }

  // By the trials of whole parts that have ended; the first trial of all has fewer items.
  [[nodiscard]] std::optional<double> seconds_left() const {
    if (trials_ < 3) return std::nullopt;
    const std::size_t ended = trials_ - 1, left = planned_ > ended ? planned_ - ended : 0;
    return parts_s_ / static_cast<double>(ended - 1) * static_cast<double>(left);
  }

  const ValidationRequest& request_;
  const RunContext& context_;
  std::vector<ModelFacts> models_;
  ValidationInputs inputs_;
  ValidationLabels labels_;
  std::vector<std::string> names_;
  std::optional<OutputComparer> comparer_;
  std::size_t trials_ = 0, planned_ = 3;
  double parts_s_ = 0;  // that the trials of whole parts took
  Validation out_;
};

}  // namespace

RunCheck check_validation(const ValidationRequest& request, const RunContext& context) {
  RunCheck check;
  if (!check.problems.take(check_request(request))) return check;
  check = check_run(request.plan, context, {.is_timed = false, .perturb = request.perturb, .noise = request.noise});
  if (!check.ports.front()) return check;
  std::vector<std::string> outputs;
  for (const Port& port : check.ports.front()->outputs) outputs.push_back(port.name);
  for (const auto& [name, tolerance] : request.by_output) {
    if (std::ranges::find(outputs, name) == outputs.end()) check.problems.add(no_such_output(name, outputs));
  }
  return check;
}

Result<Validation> validate(const ValidationRequest& request, const RunContext& context) {
  return ValidationRun(request, context)();
}

}  // namespace infermeter
