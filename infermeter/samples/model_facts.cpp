#include "infermeter/samples/model_facts.hpp"

#include "infermeter/samples/reported_number.hpp"

namespace infermeter {

void take_reported_size(ModelFacts& model, const Samples& trial) {
  if (const auto bytes = reported_number(trial, "model_bytes")) model.size_bytes = *bytes;
  const auto parameters = reported_number(trial, "parameters");
  if (!parameters) return;
  if (model.parameters != parameters) model.nonzero_parameters.reset();  // they are a count of the file's
  model.parameters = parameters;
}

}  // namespace infermeter
