#include "infermeter/trial/trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "infermeter/data/port_fit.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/trial/trial_steps.hpp"

namespace infermeter {

std::unique_ptr<AnyTrial> make_trial(const imb_backend& backend, const TrialRequest& request, const TrialHost& host,
                                     const SampleBlock& block, const MemoryProbe& memory) {
#if defined(__x86_64__)
  if (block.clock() == ClockKind::tsc) return std::make_unique<Trial<TscClock>>(backend, request, host, block, memory);
#endif
  return std::make_unique<Trial<MonotonicClock>>(backend, request, host, block, memory);
}

TrialEnd end_for(const Error& error, Phase phase) {
  if (error.kind == ErrorKind::worker) return TrialEnd::out_of_memory;
  return phase < Phase::first_inference ? TrialEnd::load_failed : TrialEnd::run_failed;
}

namespace {

// Of batches that are not simply the first dimension of everything that has one.
std::vector<Diagnostic> diagnose_places(std::span<const Port> inputs) {
  std::string text;
  bool is_usual = true;
  for (const Port& input : inputs) {
    is_usual = is_usual && (input.batch_axis ? *input.batch_axis == 0 : input.rank_known && input.shape.empty());
    text += fmt::format("{}{} has {}", text.empty() ? "" : ", ", in_quotes(input.name),
                        input.batch_axis ? fmt::format("it at dimension {}", *input.batch_axis) : "none");
  }
  if (is_usual) return {};
  return {{DiagnosticId::batch_axes_told, fmt::format("the batch of the inputs: {}", text), {}}};
}

}  // namespace

std::vector<Diagnostic> diagnose_batch(std::span<const Port> inputs, const Pairs& asked) {
  const bool has_batch = std::ranges::any_of(inputs, [](const Port& input) { return input.batch_axis.has_value(); });
  const auto large =
      std::ranges::find_if(inputs, [](const Port& input) { return input.shape.size() > 1 && input.shape.front() > 1; });
  if (has_batch) return diagnose_places(inputs);
  if (!asked.empty() || large == inputs.end()) return {};
  return {{DiagnosticId::no_batch_axis,
           fmt::format("an inference is one item: no input has a batch axis (input {} is {})", in_quotes(large->name),
                       describe(*large)),
           {}}};
}

std::string shapes_text(const ItemValues& inputs) {
  std::string text;
  for (const Value& input : inputs) {
    if (!text.empty()) text += " ";
    if (input.kind != Value::Kind::tensor) {
      text += input.kind == Value::Kind::sequence ? "sequence" : "none";
      continue;
    }
    // A tuple of one keeps its comma.
    const auto& shape = input.tensor.shape;
    text += fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  }
  return text;
}

std::vector<Diagnostic> diagnose_counters(std::span<const Counter> counters) {
  std::vector<Diagnostic> found;
  std::map<std::string_view, std::size_t> times;
  for (const Counter& counter : counters) ++times[counter.name];
  for (const auto& [name, count] : times)
    if (count > 1)
      found.push_back({DiagnosticId::counter_repeated,
                       fmt::format("the back end gave counter {} {} times; the first is used", in_quotes(name), count),
                       {}});
  return found;
}

// What the loaded model could do at once, as its back end reports (infermeter_backend.h).
std::vector<Diagnostic> diagnose_requests(const LoadPlan& asked, const Samples& samples) {
  const std::string at_once = samples.executed_value("concurrent_inferences");
  if (at_once.empty() || at_once == "0" || at_once == "1") return {};
  std::string options;
  for (const auto& [key, value] : asked.options)
    options += fmt::format("{}{}={}", options.empty() ? "" : ", ", key, value);
  return {{DiagnosticId::one_request_at_a_time,
           fmt::format("it was measured one request at a time; with {} it could do {} at once",
                       options.empty() ? "its options" : options, at_once),
           {}}};
}

std::vector<Diagnostic> diagnose_generation(const GenerationRecord& generation) {
  if (generation.parts == 0 || generation.parts == generation.output_tokens) return {};
  return {{DiagnosticId::parts_not_tokens,
           fmt::format("answers of {} tokens came in {} pieces: itl is the time between pieces, not tokens",
                       generation.output_tokens, generation.parts),
           {}}};
}

std::vector<Diagnostic> diagnose_prompts(const Samples& samples, std::uint64_t asked_before) {
  const auto in_file = integer_from_string(samples.executed_value("prompts_in_file"), 1, INT64_MAX);
  if (!in_file.ok() || !samples.generation) return {};
  const std::uint64_t asked = samples.generation->answers + asked_before;
  // The first one is the first inference's.
  if (asked < static_cast<std::uint64_t>(*in_file)) return {};
  return {{DiagnosticId::prompts_repeat,
           fmt::format("{} asked, and {} in the file: the same were asked again", counted(asked, "request"),
                       counted(*in_file, "prompt")),
           {}}};
}

bool has_first_tokens(const Samples& samples) { return samples.generation && samples.generation->ttft.count() > 0; }

std::vector<Diagnostic> diagnose_executed(const LoadPlan& asked, bool threads_were_said, bool is_under_load,
                                          const Samples& samples) {
  std::vector<Diagnostic> found;
  const std::string dtype = samples.executed_value("dtype");
  // Where an option of the back end quantised the model, it says so: that was asked for as well. Where the back end
  // executes what the model's file has, another type than float32 is the file's own, and --dtype changes nothing.
  const bool is_models_own = asked.dtype == "float32" && samples.executed_value("dtype_from") == "model";
  if (!dtype.empty() && dtype != asked.dtype && !is_models_own && samples.executed_value("quantize").empty())
    found.push_back({DiagnosticId::precision_not_as_asked,
                     fmt::format("{} was asked for and {} is executed", asked.dtype, dtype),
                     {}});
  const std::string threads = samples.executed_value("threads");
  if (threads_were_said && !threads.empty() && threads != std::to_string(asked.threads))
    found.push_back({DiagnosticId::threads_not_as_asked,
                     fmt::format("{} threads were asked for and {} are used", asked.threads, threads),
                     {}});
  if (is_under_load) return found;
  for (Diagnostic& diagnostic : diagnose_requests(asked, samples)) found.push_back(std::move(diagnostic));
  return found;
}

}  // namespace infermeter
