#include "infermeter/profile/write/trace_labels.hpp"

#include <utility>

#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

constexpr std::string_view kCut = "…";

// What steers a terminal or an editor becomes a space.
std::string without_controls(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = next_character(text);
    const bool is_shown = character.valid && !steers_display(character.code);
    is_shown ? result += text.substr(0, character.size) : result += ' ';
    text.remove_prefix(character.size);
  }
  return result;
}

// At most `limit` bytes of well-formed text, no sequence cut.
std::string_view first_bytes(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0U) == 0x80U) --limit;
  return text.substr(0, limit);
}

std::string or_else(const std::string& text, std::string_view other) {
  return text.empty() ? std::string(other) : text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) {
    if (result.size() > kLongestTraceText) break;
    if (!result.empty()) result += ", ";
    result += name;
  }
  return result;
}

void add_texts(TraceLabel& label, const ProfiledOperator& op) {
  const auto add = [&](std::string_view key, std::string_view text) {
    if (!text.empty()) label.texts.emplace_back(key, trace_text(text));
  };
  add("kernel", op.kernel);
  add("precision", op.precision);
  add("layout", op.layout);
  add("shapes", op.shapes);
  add("provider", op.provider);
  add("nodes", joined(op.nodes));
  if (!op.nodes.empty()) add("nodes_by", to_string(op.rule));
}

void add_numbers(TraceLabel& label, const ProfiledOperator& op) {
  const auto add = [&](std::string_view key, const auto& number) {
    if (number) label.numbers.emplace_back(key, static_cast<double>(*number));
  };
  add("flops", op.flops);
  add("moved_bytes", op.moved_bytes);
  add("activation_bytes", op.activation_bytes);
  add("parameter_bytes", op.parameter_bytes);
  add("output_bytes", op.output_bytes);
  add("arena_peak_bytes", op.arena_peak_bytes);
  add("arena_in_use_bytes", op.arena_in_use_bytes);
}

TraceLabel label_of(const OperatorProfile& profile, std::size_t op) {
  const ProfiledOperator& source = profile.operators[op];
  TraceLabel label{.name = or_else(trace_text(source.name), "(no name)"),
                   .category = or_else(trace_text(source.kind), "(no kind)"),
                   .texts = {},
                   .numbers = {},
                   .op = op};
  add_texts(label, source);
  add_numbers(label, source);
  if (!profile.has_events() && op < profile.mean_calls.size()) {
    label.numbers.emplace_back("calls_per_inference", profile.mean_calls[op]);
  }
  return label;
}

}  // namespace

std::string trace_text(std::string_view bytes) {
  const std::string whole = without_controls(valid_utf8(bytes.substr(0, kLongestTraceText + 4)));
  if (whole.size() <= kLongestTraceText) return whole;
  return std::string(first_bytes(whole, kLongestTraceText - kCut.size())) + std::string(kCut);
}

std::vector<TraceLabel> trace_labels(const OperatorProfile& profile, std::size_t iterations) {
  std::vector<TraceLabel> labels{
      {.name = "iteration", .category = "iteration", .texts = {}, .numbers = {}, .op = std::nullopt}};
  if (!profile.has_events()) {
    labels[0].name = "mean iteration, laid out from sums";
    labels[0].texts.emplace_back("note", "the runtime reported no single times and no order");
    labels[0].numbers.emplace_back("iterations", static_cast<double>(iterations));
  }
  for (std::size_t op = 0; op < profile.operators.size(); ++op) labels.push_back(label_of(profile, op));
  return labels;
}

}  // namespace infermeter
