#include "infermeter/plan/load/goodput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "infermeter/plan/quantity.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::string_view at_most_sign = "<=";

Result<Done> refuse_bound(std::string_view text) {
  return usage_error(fmt::format("expected 'ttft<=200ms', 'tpot<=50ms' or 'response<=2s' (with other times), got {}",
                                 in_quotes(text)));
}

std::optional<double>* bound_named(GoodputBounds& bounds, std::string_view name) {
  if (name == "ttft") return &bounds.ttft_s;
  if (name == "tpot") return &bounds.tpot_s;
  return name == "response" ? &bounds.response_s : nullptr;
}

Result<Done> take_bound(GoodputBounds& bounds, std::string_view text) {
  const std::size_t sign = text.find(at_most_sign);
  if (sign == std::string_view::npos) return refuse_bound(text);
  std::optional<double>* const bound = bound_named(bounds, text.substr(0, sign));
  if (bound == nullptr) return refuse_bound(text);
  if (*bound) return usage_error(fmt::format("{} is bounded twice", text.substr(0, sign)));
  INFERMETER_TRY(const double bound_s, seconds_from_string(text.substr(sign + at_most_sign.size())));
  if (!(bound_s > 0)) return usage_error(fmt::format("a time of at most 0 cannot be: {}", in_quotes(text)));
  *bound = bound_s;
  return Done{};
}

// "ttft <= 1s  tpot<=2s" -> "ttft<=1s tpot<=2s"
std::string without_spaces_around_signs(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ') {
      plain += text[i];
      continue;
    }
    const std::size_t next = text.find_first_not_of(' ', i);
    const bool is_before_sign = next != std::string_view::npos && text.substr(next).starts_with(at_most_sign);
    if (!plain.empty() && !plain.ends_with(at_most_sign) && !plain.ends_with(' ') && !is_before_sign) plain += ' ';
  }
  return plain;
}

}  // namespace

Result<GoodputBounds> goodput_from_string(std::string_view text) {
  const std::string plain = without_spaces_around_signs(text);
  std::string_view left = plain;
  GoodputBounds bounds;
  do {
    const std::size_t space = std::min(left.find(' '), left.size());
    const std::string_view one = left.substr(0, space);
    left.remove_prefix(std::min(space + 1, left.size()));
    INFERMETER_TRY_DONE(take_bound(bounds, one));
  } while (!left.empty());
  return bounds;
}

}  // namespace infermeter
