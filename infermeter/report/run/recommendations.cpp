#include "infermeter/report/run/recommendations.hpp"

#include <fmt/format.h>

#include <cmath>

#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/run/accuracy_text.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

std::string unclear_text(const Recommendation& found) {
  std::string text = fmt::format("Accuracy cannot be determined yet ({}", signed_share(found.value));
  if (found.interval) {
    text += fmt::format(" [{}, {}]", signed_share(found.interval->low), signed_share(found.interval->high));
  }
  text += ")";
  return found.more_rows ? text + fmt::format("; about {} more rows would settle it", *found.more_rows) : text;
}

}  // namespace

Sentence recommendation_sentence(const Recommendation& found) {
  using Kind = Recommendation::Kind;
  switch (found.kind) {
    case Kind::faster: return {Tone::good, format_ratio(found.value) + " faster than baseline"};
    case Kind::slower: return {Tone::warning, format_ratio(1 / found.value) + " slower than baseline"};
    case Kind::not_faster:
      return {Tone::warning, fmt::format("Not faster than baseline ({})", format_ratio(found.value))};
    case Kind::less_memory: return {Tone::good, format_bytes(found.value) + " less memory"};
    case Kind::more_memory: return {Tone::warning, format_bytes(-found.value) + " more memory"};
    case Kind::smaller_model: return {Tone::good, fmt::format("{:.1f}x smaller model", found.value)};
    case Kind::larger_model: return {Tone::warning, fmt::format("{:.1f}x larger model", 1 / found.value)};
    case Kind::accuracy_maintained:
      return {Tone::good, fmt::format("Accuracy maintained ({})", signed_share(found.value))};
    case Kind::accuracy_lost: return {Tone::warning, "Accuracy loss: " + signed_share(found.value)};
    case Kind::accuracy_unclear: return {Tone::faint, unclear_text(found)};
    case Kind::outputs_agree: return {Tone::good, "Outputs agree"};
    case Kind::outputs_differ:
      return {Tone::warning, std::isfinite(found.value)
                                 ? fmt::format("Outputs differ beyond tolerance (max {:.2g})", found.value)
                                 : "Outputs differ beyond tolerance"};
    case Kind::outputs_undecided: return {Tone::faint, "Whether outputs agree cannot be determined"};
  }
  return {};
}

std::string recommendations_text(const RunRecord& record, const Verdict& verdict, const RecommendOptions& options) {
  std::string text;
  for (const auto& subject : verdict.subjects) {
    const auto found = recommend(record, subject, options);
    if (found.empty()) continue;
    text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", printable(label_alone(record, subject.subject), 120));
    for (const Recommendation& one : found) {
      const Sentence sentence = recommendation_sentence(one);
      text += fmt::format("  {} {}\n", sign_of(sentence.tone), sentence.text);
    }
  }
  return text;
}

}  // namespace infermeter
