#include "infermeter/trial/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/data/batch_axis.hpp"

namespace infermeter {
namespace {

OutputFacts facts_of(const Tensor& tensor) {
  OutputFacts facts;
  facts.dtype = to_string(tensor.dtype);
  facts.shape = tensor.shape;
  facts.element_count = element_count(tensor.shape).value_or(0);
  if (tensor.dtype == DType::float32) {
    for (const float x : tensor.as<float>()) {
      facts.nan_count += std::isnan(x) ? 1 : 0;
      facts.inf_count += std::isinf(x) ? 1 : 0;
    }
    return facts;
  }
  if (const auto numbers = to_doubles(tensor)) {
    for (const double x : numbers.value()) {
      facts.nan_count += std::isnan(x) ? 1 : 0;
      facts.inf_count += std::isinf(x) ? 1 : 0;
    }
  }
  return facts;
}

OutputFacts facts_of(const Value& value) {
  if (value.kind == Value::Kind::tensor) return facts_of(value.tensor);
  OutputFacts facts;
  facts.dtype = value.kind == Value::Kind::sequence ? "sequence" : "none";
  facts.element_count = value.elements.size();
  return facts;
}

bool all_equal(std::span<const std::uint64_t> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [&](std::uint64_t n) { return n == numbers.front(); });
}

}  // namespace

std::vector<OutputFacts> describe_outputs(std::span<const Port> ports, std::span<const Value> values,
                                          std::span<const Port> inputs, std::int64_t items) {
  std::vector<OutputFacts> outputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    OutputFacts& facts = outputs.emplace_back(facts_of(values[i]));
    const Port port = i < ports.size() ? ports[i] : Port{};
    facts.name = i < ports.size() ? port.name : fmt::format("output {}", i);
    facts.batch_axis = output_batch_axis(inputs, port, facts.shape, items);
  }
  return outputs;
}

std::vector<Shape> shapes_of(std::span<const Value> values) {
  std::vector<Shape> shapes;
  for (const Value& value : values) {
    const bool is_tensor = value.kind == Value::Kind::tensor;
    shapes.push_back(is_tensor ? value.tensor.shape : Shape{static_cast<std::int64_t>(value.elements.size())});
  }
  return shapes;
}

std::vector<Diagnostic> diagnose_shapes(std::span<const Port> ports, std::span<const Shape> first,
                                        std::span<const Shape> later) {
  for (std::size_t i = 0; i < std::min(first.size(), later.size()); ++i) {
    if (first[i] == later[i]) continue;
    const std::string name = i < ports.size() ? ports[i].name : fmt::format("output {}", i);
    return {{DiagnosticId::output_shapes_change,
             fmt::format("output '{}' has shape {} in one inference and {} in another: times of different work are put "
                         "together",
                         name, to_string(first[i]), to_string(later[i])),
             {}}};
  }
  return {};
}

std::vector<Diagnostic> diagnose_outputs(std::span<const OutputFacts> outputs, std::uint64_t first,
                                         std::span<const std::uint64_t> output_digests,
                                         std::span<const std::uint64_t> input_digests) {
  std::vector<Diagnostic> found;
  for (const OutputFacts& output : outputs)
    if (output.nan_count + output.inf_count > 0)
      found.push_back({DiagnosticId::outputs_not_finite,
                       fmt::format("output '{}' holds {} NaN and {} infinite of {} elements", output.name,
                                   output.nan_count, output.inf_count, output.element_count),
                       {}});
  if (!output_digests.empty() && output_digests.front() != first)
    found.push_back({DiagnosticId::outputs_not_deterministic,
                     "the first inference and a later one on the same input gave different bytes",
                     {}});
  if (output_digests.size() > 1 && all_equal(output_digests) && !all_equal(input_digests))
    found.push_back({DiagnosticId::outputs_constant,
                     fmt::format("{} different inputs gave the same output bytes", output_digests.size()),
                     {}});
  return found;
}

}  // namespace infermeter
