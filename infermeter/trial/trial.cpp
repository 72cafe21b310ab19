#include "infermeter/trial/trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "infermeter/data/quoted.hpp"
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

Result<Done> check_batch(std::span<const Port> inputs, std::int64_t batch_size) {
  const Port* other = nullptr;
  for (const Port& input : inputs) {
    if (input.kind != Value::Kind::tensor || input.shape.size() < 2 || input.shape.front() < 0) continue;
    if (input.shape.front() == batch_size) return Done{};
    if (other == nullptr) other = &input;
  }
  if (other == nullptr) return Done{};
  const std::int64_t fixed = other->shape.front();
  return usage_error(
      fmt::format("the first dimension of input {} is fixed at {}, so an inference has {} items and not {}: "
                  "give --batch-sizes {}, or a model whose first dimension is dynamic",
                  in_quotes(other->name), fixed, fixed, batch_size, fixed));
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

std::vector<Diagnostic> diagnose_executed(const LoadPlan& asked, bool threads_were_said, const Samples& samples) {
  std::vector<Diagnostic> found;
  const std::string dtype = samples.executed_value("dtype");
  // Where an option of the back end quantised the model, it says so: that was asked for as well.
  if (!dtype.empty() && dtype != asked.dtype && samples.executed_value("quantize").empty())
    found.push_back({DiagnosticId::precision_not_as_asked,
                     fmt::format("{} was asked for and {} is executed", asked.dtype, dtype),
                     {}});
  const std::string threads = samples.executed_value("threads");
  if (threads_were_said && !threads.empty() && threads != std::to_string(asked.threads))
    found.push_back({DiagnosticId::threads_not_as_asked,
                     fmt::format("{} threads were asked for and {} are used", asked.threads, threads),
                     {}});
  return found;
}

}  // namespace infermeter
