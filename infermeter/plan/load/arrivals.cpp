#include "infermeter/plan/load/arrivals.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "infermeter/plan/quantity.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::string_view kForms =
    "constant, poisson, gamma:CV, burst:N, step:RATE:TIME/RATE:TIME…, "
    "ramp:RATE:RATE:TIME, or a file of times (FILE.csv, FILE.jsonl)";
constexpr std::size_t kMostSteps = 1000;
constexpr double kLongestStep = 1e7;  // seconds

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Result<double> positive_time(std::string_view text) {
  INFERMETER_TRY(const double seconds, seconds_from_string(text));
  if (seconds > 0 && seconds <= kLongestStep) return seconds;
  return usage_error(fmt::format("expected a time above 0, such as 30s, got {}", in_quotes(text)));
}

Result<Arrivals> gamma_from(std::string_view rest) {
  const auto cv = number_of(rest);
  if (!cv || !(*cv >= 0.05 && *cv <= 20)) {
    return usage_error(
        fmt::format("expected gamma:CV with a coefficient of variation from 0.05 to 20, got {}", in_quotes(rest)));
  }
  return Arrivals{.kind = Arrivals::Kind::gamma, .cv = *cv};
}

Result<Arrivals> burst_from(std::string_view rest) {
  const auto size = integer_from_string(rest, 1, 1'000'000);
  if (!size) return usage_error(fmt::format("burst:N: {}", size.error().message));
  return Arrivals{.kind = Arrivals::Kind::burst, .burst = static_cast<int>(*size)};
}

Result<Arrivals> steps_from(std::string_view rest) {
  Arrivals arrivals{.kind = Arrivals::Kind::step};
  for (const std::string_view part : parts_of(rest, '/')) {
    const auto pair = parts_of(part, ':');
    if (pair.size() != 2)
      return usage_error(fmt::format("expected step:RATE:TIME/RATE:TIME…, got {}", in_quotes(part)));
    Arrivals::Step step;
    INFERMETER_TRY(step.rate, rate_from_string(pair[0]));
    INFERMETER_TRY(step.for_s, positive_time(pair[1]));
    arrivals.steps.push_back(step);
    if (arrivals.steps.size() > kMostSteps) return usage_error(fmt::format("more than {} steps", kMostSteps));
  }
  return arrivals;
}

Result<Arrivals> ramp_from(std::string_view rest) {
  const auto parts = parts_of(rest, ':');
  if (parts.size() != 3) return usage_error(fmt::format("expected ramp:RATE:RATE:TIME, got {}", in_quotes(rest)));
  Arrivals arrivals{.kind = Arrivals::Kind::ramp, .steps = {{}, {}}};
  INFERMETER_TRY(arrivals.steps[0].rate, rate_from_string(parts[0]));
  INFERMETER_TRY(arrivals.steps[1].rate, rate_from_string(parts[1]));
  INFERMETER_TRY(arrivals.steps[0].for_s, positive_time(parts[2]));
  return arrivals;
}

bool is_file_name(std::string_view text) {
  return text.ends_with(".csv") || text.ends_with(".jsonl") || text.ends_with(".txt") ||
         text.find('/') != std::string_view::npos;
}

}  // namespace

Result<double> rate_from_string(std::string_view text) {
  const std::string_view digits = text.ends_with("/s") ? text.substr(0, text.size() - 2) : text;
  const auto rate = number_of(digits);
  if (rate && *rate > 0 && *rate <= kHighestRate) return *rate;
  return usage_error(fmt::format("expected requests per second above 0, such as 40, got {}", in_quotes(text)));
}

Result<Arrivals> arrivals_from_string(std::string_view text) {
  if (text == "constant") return Arrivals{.kind = Arrivals::Kind::constant};
  if (text == "poisson") return Arrivals{.kind = Arrivals::Kind::poisson};
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (word == "gamma") return gamma_from(rest);
  if (word == "burst") return burst_from(rest);
  if (word == "step") return steps_from(rest);
  if (word == "ramp") return ramp_from(rest);
  if (is_file_name(text)) return Arrivals{.kind = Arrivals::Kind::trace, .file = std::string(text)};
  return usage_error(fmt::format("expected {}, got {}", kForms, in_quotes(text)));
}

}  // namespace infermeter
