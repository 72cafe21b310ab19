#include "infermeter/verdict/answers/like_for_like.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace infermeter {
namespace {

// The trial that speaks for a subject: its first whole one, else the first that came far enough to say anything.
const Samples* speaker(const RunRecord& record, int subject) {
  const Samples* best = nullptr;
  for (const Samples& trial : record.trials) {
    if (trial.subject != subject || trial.executed.empty()) continue;
    if (trial.end == TrialEnd::ok) return &trial;
    if (best == nullptr) best = &trial;
  }
  return best;
}

std::string executed(const Samples* trial, std::string_view key) {
  return trial == nullptr ? std::string() : trial->executed_value(key);
}

class Differences {
 public:
  Differences(const RunRecord& record, int baseline, int candidate)
      : record_(record),
        baseline_(record.plan.subjects[static_cast<std::size_t>(baseline)]),
        candidate_(record.plan.subjects[static_cast<std::size_t>(candidate)]),
        baseline_trial_(speaker(record, baseline)),
        candidate_trial_(speaker(record, candidate)) {}

  std::vector<Diagnostic> find(int baseline, int candidate) {
    compare_executed(DiagnosticId::precision_differs, "dtype", "executed in");
    // Of language models.
    compare_executed(DiagnosticId::precision_differs, "kv_cache", "keys and values are kept in");
    compare_executed(DiagnosticId::input_differs, "first_prompt", "the first prompt has the digest");
    compare_executed(DiagnosticId::threads_differ, "threads", "threads:");
    if (same_runtime()) {
      compare_executed(DiagnosticId::runtime_version_differs, "runtime_version", executed(candidate_trial_, "runtime"));
    }
    if (baseline_.backend == candidate_.backend) {
      compare_executed(DiagnosticId::provider_differs, "provider", "provider");
    }
    const std::string before = device(baseline_, baseline_trial_), after = device(candidate_, candidate_trial_);
    // What a server computes on is unknown: to compare it with a runtime is to ask what serving costs.
    if (before != "server" && after != "server") compare(DiagnosticId::device_differs, "device", before, after);
    compare(DiagnosticId::batch_differs, "batch size", std::to_string(baseline_.batch_size),
            std::to_string(candidate_.batch_size));
    compare_batch_axes();
    compare_environment();
    compare_models(static_cast<std::size_t>(baseline), static_cast<std::size_t>(candidate));
    compare_inputs();
    return std::move(found_);
  }

 private:
  void compare(DiagnosticId id, std::string_view what, const std::string& before, const std::string& after) {
    if (before.empty() || after.empty() || before == after) return;
    found_.push_back(
        {id, fmt::format("{} {}, but {} for '{}'", what, after, before, baseline_.label), candidate_.label});
  }

  void compare_executed(DiagnosticId id, std::string_view key, std::string_view what) {
    compare(id, what, executed(baseline_trial_, key), executed(candidate_trial_, key));
  }

  // What was taken for the batch, of each input in its order: back ends may call inputs by other names.
  void compare_batch_axes() {
    const auto axes = [](const Samples* trial) {
      std::string text;
      const std::string reported = executed(trial, "batch_axis");
      for (std::string_view rest = reported; !rest.empty();) {
        const std::size_t end = std::min(rest.find(", "), rest.size());
        const std::string_view one = rest.substr(0, end);
        text += (text.empty() ? "" : ", ") + std::string(one.substr(one.rfind('=') + 1));
        rest.remove_prefix(std::min(end + 2, rest.size()));
      }
      return text;
    };
    compare(DiagnosticId::batch_differs, "batch axis", axes(baseline_trial_), axes(candidate_trial_));
  }

  bool same_runtime() const {
    const std::string before = executed(baseline_trial_, "runtime");
    const std::string after = executed(candidate_trial_, "runtime");
    return !before.empty() && before == after;
  }

  // The device asked for says nothing while it is "auto".
  static std::string device(const Subject& subject, const Samples* trial) {
    const std::string seen = executed(trial, "device");
    if (!seen.empty()) return seen;
    return subject.device == "auto" ? std::string() : subject.device;
  }

  void compare_environment() {
    Pairs before = baseline_.environment, after = candidate_.environment;
    std::ranges::sort(before);
    std::ranges::sort(after);
    if (before == after) return;
    const auto text = [](const Pairs& pairs) {
      std::string joined;
      for (const auto& [name, value] : pairs) joined += fmt::format("{}{}={}", joined.empty() ? "" : " ", name, value);
      return joined.empty() ? "none" : joined;
    };
    found_.push_back(
        {DiagnosticId::environment_differs,
         fmt::format("environment variables: {}, but {} for '{}'", text(after), text(before), baseline_.label),
         candidate_.label});
  }

  void compare_models(std::size_t baseline, std::size_t candidate) {
    if (std::max(baseline, candidate) >= record_.models.size()) return;
    const ModelFacts& before = record_.models[baseline];
    const ModelFacts& after = record_.models[candidate];
    if (before.sha256.empty() || after.sha256.empty() || before.sha256 == after.sha256) return;
    const bool same_name = before.path == after.path || before.name == after.name;
    const std::string what = same_name ? fmt::format("the contents of {} differ from those for", after.name)
                                       : fmt::format("the model file is {}, but {} for", after.name, before.name);
    found_.push_back({DiagnosticId::model_differs, fmt::format("{} '{}'", what, baseline_.label), candidate_.label});
  }

  // Another batch size means other bytes, which has been said already.
  void compare_inputs() {
    if (baseline_trial_ == nullptr || candidate_trial_ == nullptr || baseline_.batch_size != candidate_.batch_size)
      return;
    const std::uint64_t before = baseline_trial_->input_digest;
    const std::uint64_t after = candidate_trial_->input_digest;
    if (before == 0 || after == 0 || before == after) return;
    found_.push_back({DiagnosticId::input_differs,
                      fmt::format("the input bytes are not those of '{}' (digest {:016x}, there {:016x})",
                                  baseline_.label, after, before),
                      candidate_.label});
  }

  const RunRecord& record_;
  const Subject& baseline_;
  const Subject& candidate_;
  const Samples* baseline_trial_;
  const Samples* candidate_trial_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> like_for_like(const RunRecord& record, int baseline, int candidate) {
  return Differences(record, baseline, candidate).find(baseline, candidate);
}

std::vector<Diagnostic> same_outputs_in_every_process(const RunRecord& record, int subject) {
  const Samples* first = nullptr;
  int others = 0;
  int compared = 0;
  for (const Samples& trial : record.trials) {
    const bool usable = trial.subject == subject && trial.end == TrialEnd::ok && trial.output_digest != 0;
    if (!usable) continue;
    if (first == nullptr) first = &trial;
    if (trial.input_digest != first->input_digest) continue;
    ++compared;
    others += trial.output_digest != first->output_digest ? 1 : 0;
  }
  if (others == 0) return {};
  return {
      {DiagnosticId::outputs_not_deterministic,
       fmt::format("{} of {} processes gave other outputs than the first for the same input bytes", others, compared),
       record.plan.subjects[static_cast<std::size_t>(subject)].label}};
}

}  // namespace infermeter
