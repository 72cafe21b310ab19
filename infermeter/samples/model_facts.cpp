#include "infermeter/samples/model_facts.hpp"

#include <charconv>

#include "infermeter/samples/samples.hpp"

namespace infermeter {
namespace {

std::optional<std::uint64_t> reported_number(const Samples& trial, std::string_view key) {
  const std::string text = trial.executed_value(key);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void take_reported_size(ModelFacts& model, const Samples& trial) {
  if (const auto bytes = reported_number(trial, "model_bytes")) model.size_bytes = *bytes;
  const auto parameters = reported_number(trial, "parameters");
  if (!parameters) return;
  if (model.parameters != parameters) model.nonzero_parameters.reset();  // they are a count of the file's
  model.parameters = parameters;
}

}  // namespace infermeter
