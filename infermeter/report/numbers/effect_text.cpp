#include "infermeter/report/numbers/effect_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/stats/summary/metrics.hpp"

namespace infermeter {
namespace {

constexpr double shown_as_ratio = 0.405;  // log 1.5: "2.52x" is clearer than "152 %"

constexpr std::array words = {
    MetricWords{"throughput", "has", "more throughput", "less throughput"},
    MetricWords{"memory_peak", "has", "less peak memory", "more peak memory"},
    MetricWords{"load_time", "is", "faster to load", "slower to load"},
    MetricWords{"compile_time", "is", "faster to compile", "slower to compile"},
    MetricWords{"max_rate", "takes", "more requests per second", "fewer requests per second"},
    MetricWords{"offered_rate", "was", "offered more requests", "offered fewer requests"},
    MetricWords{"achieved_rate", "has", "more requests per second", "fewer requests per second"},
    MetricWords{"samples_rate", "has", "more inferences per second", "fewer inferences per second"},
    MetricWords{"lag_p50", "has", "less lag", "more lag"},
    MetricWords{"lag_p99", "has", "less lag", "more lag"},
    MetricWords{"late_p99", "has", "less lateness of the generator", "more lateness of the generator"},
    MetricWords{"in_flight_mean", "has", "fewer requests in flight", "more requests in flight"},
    MetricWords{"in_flight_max", "has", "fewer requests in flight at most", "more requests in flight at most"},
    MetricWords{"failed", "has", "fewer failed requests", "more failed requests"},
    MetricWords{"failed_share", "has", "fewer failed requests", "more failed requests"},
    MetricWords{"goodput", "has", "more good requests per second", "fewer good requests per second"},
    MetricWords{"goodput_share", "has", "more good requests", "fewer good requests"},
    MetricWords{"output_tokens_rate", "has", "more output tokens per second", "fewer output tokens per second"},
    MetricWords{"output_tokens_mean", "has", "shorter answers", "longer answers"},
    MetricWords{"prompt_tokens_mean", "has", "shorter prompts", "longer prompts"},
    MetricWords{"first_inference_time", "is", "faster in its first inference", "slower in its first inference"},
};

// A share of the baseline's value; or how many times the one is of the other.
bool is_ratio(double effect) { return std::abs(effect) > shown_as_ratio; }

double effect_share(std::string_view metric, double effect) { return std::abs(value_change(metric, effect)); }

std::string effect_number(std::string_view metric, double effect, bool ratio) {
  return three_digits(ratio ? std::exp(std::abs(effect)) : 100 * effect_share(metric, effect));
}

std::string_view direction(std::string_view metric, double effect) {
  return effect > 0 ? words_of(metric).worse : words_of(metric).better;
}

std::string progress_of(const std::string& label, const PairedComparison& c) {
  if (!c.estimate) return label + ": no whole pair";
  std::string text = fmt::format("{} {}", label, effect_text(c.metric, *c.estimate));
  if (c.interval) text += fmt::format(" ({})", effects_text(c.metric, *c.interval));
  return text;
}

}  // namespace

double value_change(std::string_view metric, double effect) {
  const MetricKind* kind = metric_kind(metric);
  const bool lower = kind == nullptr || kind->lower_is_better;
  return std::expm1(lower ? effect : -effect);
}

std::string signed_number(std::string_view metric, double effect) {
  const double percent = 100 * value_change(metric, effect);
  return (percent < 0 ? "-" : "+") + three_digits(std::abs(percent));
}

MetricWords words_of(std::string_view metric) {
  const auto* found = std::ranges::find(words, metric, &MetricWords::metric);
  return found == words.end() ? MetricWords{metric, "is", "faster", "slower"} : *found;
}

std::string metric_name(std::string_view metric) {
  std::string name(metric);
  if (name.ends_with("_p99_9")) return metric_name(name.substr(0, name.size() - 2)) + ".9";
  if (name.starts_with("latency_")) name = "latency " + name.substr(8);
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string effect_text(std::string_view metric, double effect) {
  if (effect == 0) return "no difference in " + metric_name(metric);
  const bool ratio = is_ratio(effect);
  return fmt::format("{}{} {}", effect_number(metric, effect, ratio), ratio ? "x" : " %", direction(metric, effect));
}

std::string effects_text(std::string_view metric, const Interval& interval) {
  if (interval.low > 0 || interval.high < 0) {
    return fmt::format("{} {}", sizes_text(metric, interval), direction(metric, interval.low + interval.high));
  }
  return fmt::format("{} … {}", effect_text(metric, interval.low), effect_text(metric, interval.high));
}

std::string size_text(double effect) {
  return is_ratio(effect) ? three_digits(std::exp(effect)) + "x" : three_digits(100 * std::expm1(effect)) + " %";
}

std::string sizes_text(std::string_view metric, const Interval& interval) {
  if (interval.low <= 0 && interval.high >= 0) return effects_text(metric, interval);
  // One side: the smaller effect first, whichever direction it is.
  const bool worse = interval.low > 0;
  const double near = worse ? interval.low : interval.high, far = worse ? interval.high : interval.low;
  const bool ratio = is_ratio(far);
  return fmt::format("{} … {}{}", effect_number(metric, near, ratio), effect_number(metric, far, ratio),
                     ratio ? "x" : " %");
}

std::string comparison_progress(const std::vector<std::string>& labels, const ComparisonVerdict& verdict) {
  std::string text;
  for (const PairedComparison& c : verdict.primary) {
    if (!text.empty()) text += "; ";
    text += progress_of(labels.at(static_cast<std::size_t>(c.candidate)), c);
  }
  if (!verdict.next) return text;
  text += fmt::format("; next check after {} pairs", verdict.next->pairs);
  if (verdict.next->smallest_effect) text += " decides beyond " + size_text(*verdict.next->smallest_effect);
  return text;
}

}  // namespace infermeter
