#include <algorithm>
#include <array>
#include <utility>

#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/fidelity/element_reader.hpp"

namespace infermeter {
namespace {

// Unit roundoff times what a network makes of it (docs/methodology.md, "Tolerances"): 2^12 where sums are accumulated
// in the precision itself, 2^3 where only the stored values are rounded and sums are kept in float32. The floor is the
// smallest normal number, which runtimes may flush to 0; of float16, whose subnormal numbers are kept, what is relative
// of that.
constexpr Tolerance for_float64{.relative = 0x1p-41, .floor = 0x1p-1022};
constexpr Tolerance for_float32{.relative = 0x1p-12, .floor = 0x1p-126};
constexpr Tolerance for_float16{.relative = 0x1p-8, .floor = 0x1p-22};
constexpr Tolerance for_bfloat16{.relative = 0x1p-5, .floor = 0x1p-126};
constexpr Tolerance for_int8{.relative = 0x1p-3, .floor = 0x1p-126};
constexpr Tolerance exact{};

constexpr std::array<std::pair<std::string_view, Tolerance>, 12> by_precision = {{
    {"float64", for_float64},
    {"f64", for_float64},
    {"float16", for_float16},
    {"f16", for_float16},
    {"fp16", for_float16},
    {"bfloat16", for_bfloat16},
    {"bf16", for_bfloat16},
    {"int8", for_int8},
    {"i8", for_int8},
    {"uint8", for_int8},
    {"u8", for_int8},
    {"int4", for_int8},
}};

// Whatever else a back end says, and nothing at all, is taken for float32.
Tolerance of_one_precision(std::string_view name) {
  const auto* found = std::ranges::find(by_precision, name, &std::pair<std::string_view, Tolerance>::first);
  return found == by_precision.end() ? for_float32 : found->second;
}

// Of "float32+float16" the coarsest.
Tolerance of_precision(std::string_view names) {
  Tolerance coarsest = exact;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find('+', begin), names.size());
    const Tolerance one = of_one_precision(names.substr(begin, end - begin));
    if (one.relative > coarsest.relative) coarsest = one;
    begin = end + 1;
  }
  return coarsest;
}

// What storing the result in its own type costs: one rounding, given the same room as above.
Tolerance of_storage(DType output) {
  switch (output) {
    case DType::float16: return for_float16;
    case DType::bfloat16: return for_bfloat16;
    case DType::float8e4m3fn:
    case DType::float8e4m3fnuz: return {.relative = 0x1p-3, .floor = 0x1p-9};  // one step; the smallest subnormal
    case DType::float8e5m2:
    case DType::float8e5m2fnuz: return {.relative = 0x1p-2, .floor = 0x1p-16};
    case DType::float4e2m1: return {.relative = 0x1p-1, .floor = 0.5};
    default: return exact;
  }
}

// That of ONNX's own test runner, of the output's largest value instead of each element, so that elements near 0 of a
// large output do not fail for rounding. Its atol of 1e-7 would pass any small output.
constexpr double recorded_relative = 1e-3;

}  // namespace

Tolerance default_tolerance(std::string_view executed_precision, DType output) {
  const DTypeClass kind = class_of(output);
  if (kind != DTypeClass::real && kind != DTypeClass::complex) return exact;
  const Tolerance executed = of_precision(executed_precision);
  const Tolerance stored = of_storage(output);
  return {.relative = std::max(executed.relative, stored.relative), .floor = std::max(executed.floor, stored.floor)};
}

Tolerance coarser_tolerance(std::string_view one, std::string_view other, const Value& output) {
  const DType dtype = output.kind == Value::Kind::tensor ? output.tensor.dtype : DType::float32;
  const Tolerance first = default_tolerance(one, dtype);
  const Tolerance second = default_tolerance(other, dtype);
  return first.relative > second.relative ? first : second;
}

Tolerance recorded_tolerance(std::string_view executed_precision, const Value& recorded) {
  Tolerance widest = exact;
  for (const Value& element : recorded.elements) {
    const Tolerance one = recorded_tolerance(executed_precision, element);
    widest = {.relative = std::max(widest.relative, one.relative), .absolute = std::max(widest.absolute, one.absolute)};
  }
  if (recorded.kind != Value::Kind::tensor) return widest;
  const Tolerance executed = default_tolerance(executed_precision, recorded.tensor.dtype);
  if (executed.relative == 0) return exact;  // integers, truth values, texts
  return {.relative = std::max(recorded_relative, executed.relative), .absolute = executed.floor};
}

}  // namespace infermeter
