// The closed lists of names that a plan uses, and the outlier rule's text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "infermeter/plan/plan.hpp"
#include "infermeter/text/nearest.hpp"

namespace infermeter {
namespace {

constexpr std::array<std::string_view, 3> kPrecisions{"float32", "float16", "bfloat16"};
constexpr std::array<std::string_view, 6> kKindsOfDevice{"cpu", "cuda", "mps", "tpu", "gpu", "npu"};
constexpr std::array<std::string_view, 3> kSandboxes{"auto", "strict", "off"};
constexpr std::array<std::string_view, 3> kStackSamplings{"auto", "dwarf", "off"};
constexpr std::array<std::string_view, 4> kPythonProfilers{"off", "py-spy", "cprofile", "pyinstrument"};
constexpr std::array<std::string_view, 4> kOutlierRules{"none", "sigma", "iqr", "mad"};

// The factors that are usual: three sigma; Tukey's fences; Iglewicz and Hoaglin's modified z-score.
constexpr std::array<double, 4> kUsualFactors{0, 3, 1.5, 3.5};

template <std::size_t N>
Result<std::size_t> index_of(const std::array<std::string_view, N>& names, std::string_view name,
                             std::string_view what) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return i;
  }
  const auto near = nearest_name(name, std::vector<std::string>(names.begin(), names.end()));
  return usage_error(fmt::format("unknown {} '{}'{}; there are {}", what, name.substr(0, 60),
                                 near ? fmt::format(" (did you mean '{}'?)", *near) : "", fmt::join(names, ", ")));
}

}  // namespace

std::string_view to_string(Precision precision) { return kPrecisions.at(static_cast<std::size_t>(precision)); }

Result<Precision> precision_from_string(std::string_view name) {
  INFERMETER_TRY(const std::size_t index, index_of(kPrecisions, name, "dtype"));
  return static_cast<Precision>(index);
}

bool is_kind_of_device(std::string_view name) {
  return std::ranges::find(kKindsOfDevice, name) != kKindsOfDevice.end();
}

std::string_view to_string(Sandbox sandbox) { return kSandboxes.at(static_cast<std::size_t>(sandbox)); }

Result<Sandbox> sandbox_from_string(std::string_view name) {
  INFERMETER_TRY(const std::size_t index, index_of(kSandboxes, name, "sandbox"));
  return static_cast<Sandbox>(index);
}

bool is_weaker(Sandbox one, Sandbox other) {
  const auto strength = [](Sandbox sandbox) {
    return sandbox == Sandbox::strict ? 2 : sandbox == Sandbox::off ? 0 : 1;
  };
  return strength(one) < strength(other);
}

std::string_view to_string(StackSampling sampling) { return kStackSamplings.at(static_cast<std::size_t>(sampling)); }

Result<StackSampling> stack_sampling_from_string(std::string_view name) {
  INFERMETER_TRY(const std::size_t index, index_of(kStackSamplings, name, "way to sample stacks"));
  return static_cast<StackSampling>(index);
}

std::string_view to_string(PythonProfiler profiler) { return kPythonProfilers.at(static_cast<std::size_t>(profiler)); }

Result<PythonProfiler> python_profiler_from_string(std::string_view name) {
  INFERMETER_TRY(const std::size_t index, index_of(kPythonProfilers, name, "profiler of Python"));
  return static_cast<PythonProfiler>(index);
}

Result<OutlierRule> outlier_rule_from_string(std::string_view text) {
  const std::size_t colon = text.find(':');
  INFERMETER_TRY(const std::size_t kind, index_of(kOutlierRules, text.substr(0, colon), "outlier rule"));
  double factor = kUsualFactors[kind];
  if (colon != std::string_view::npos) {
    const std::string_view number = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), factor);
    const bool whole = error == std::errc{} && end == number.data() + number.size();
    if (kind == 0 || !whole || !std::isfinite(factor) || factor <= 0) {
      return usage_error(fmt::format("expected an outlier rule such as none, sigma:3, iqr:1.5 or mad:3.5, got '{}'",
                                     text.substr(0, 60)));
    }
  }
  return OutlierRule{.kind = static_cast<OutlierRule::Kind>(kind), .factor = factor};
}

std::string to_string(const OutlierRule& rule) {
  const std::string_view name = kOutlierRules.at(static_cast<std::size_t>(rule.kind));
  return rule.kind == OutlierRule::Kind::none ? std::string(name) : fmt::format("{}:{}", name, rule.factor);
}

}  // namespace infermeter
