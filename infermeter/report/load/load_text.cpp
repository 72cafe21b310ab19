#include "infermeter/report/load/load_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "infermeter/plan/load/load_shape.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/samples/generation/kv_cache_memory.hpp"
#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/load/requests_needed.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr const char* no_figure = "–";

std::string_view short_reason(LoadRule rule) {
  switch (rule) {
    case LoadRule::rate: return "fewer requests ended per second than came";
    case LoadRule::late: return "the generator issued requests late";
    case LoadRule::errors: return "requests failed";
    case LoadRule::enough: return "too few requests for its percentile";
    case LoadRule::stationary: return "the queue grew: more requests than the subject can serve";
    case LoadRule::outputs: return "answers differ under load";
    case LoadRule::gave_up: return "requests were given up";
  }
  return "";
}

std::string requests_per_s(double rate) { return three_digits(rate) + "/s"; }
std::string as_share(double share) { return three_digits(100 * share) + " %"; }

Cell load_cell(const SubjectVerdict& subject, std::string_view name, FigureText format) {
  const Estimate* estimate = subject.summary.estimate(name);
  if (estimate == nullptr || !estimate->value) return {no_figure, Tone::faint};
  return {with_interval(*estimate->value, estimate->interval, format), Tone::plain};
}

std::string needs(std::string_view percentile) {
  return fmt::format("needs {}", requests_needed(load_figure(percentile)->percentile));
}

// A time, unless it is not what its name says.
Cell time_cell(const SubjectVerdict& subject, std::string_view name) {
  switch (subject.load ? subject.load->state_of(name) : LoadFigureState::determined) {
    case LoadFigureState::at_once: return {no_figure, Tone::faint};
    case LoadFigureState::too_few: return {needs(name), Tone::faint};
    case LoadFigureState::determined: break;
  }
  return load_cell(subject, name, format_time);
}

Cell response_cell(const SubjectVerdict& subject, std::string_view name) {
  Cell cell = time_cell(subject, name);
  if (cell.tone == Tone::plain && subject.load->is_overloaded()) return {"⚠ " + cell.text, Tone::warning};
  return cell;
}

Cell kv_cache_cell(const std::optional<KvCacheMemory>& memory) {
  if (!memory) return {no_figure, Tone::faint};
  return {fmt::format("{} per token, {} at {} tokens", format_bytes(static_cast<double>(memory->bytes_per_token)),
                      format_bytes(memory->bytes()), memory->context),
          Tone::plain};
}

bool is_generation(const SubjectVerdict& subject) {
  return std::ranges::any_of(subject.summary.counters, [](const CounterSummary& counter) {
    const LoadFigure* figure = load_figure(counter.name);
    return figure != nullptr && figure->of_generation;
  });
}

Cell valid_cell(const LoadValidity& load) {
  if (load.valid()) return {"✓ valid", Tone::good};
  std::string rules;
  for (const LoadFinding& finding : load.findings) {
    rules += (rules.empty() ? "" : ", ") + std::string(to_string(finding.rule));
  }
  return {"✗ NOT valid: " + rules, Tone::bad};
}

Cell plain_cell(const SubjectVerdict& subject, std::string_view name) {
  const Estimate* estimate = subject.summary.estimate(name);
  if (estimate == nullptr || !estimate->value) return {no_figure, Tone::faint};
  return {plain_number(*estimate->value), Tone::plain};
}

Cell failed_cell(const SubjectVerdict& subject) {
  Cell cell = plain_cell(subject, "failed");
  if (subject.load->finding(LoadRule::errors) != nullptr) cell.tone = Tone::bad;
  return cell;
}

// Beside the response time, which has the interval. No figure where both are 0: nothing waited.
Cell two_times(const SubjectVerdict& subject, std::string_view median, std::string_view tail) {
  const Estimate *one = subject.summary.estimate(median), *other = subject.summary.estimate(tail);
  if (one == nullptr || other == nullptr || !one->value || !other->value) return {no_figure, Tone::faint};
  if (*one->value == 0 && *other->value == 0) return {no_figure, Tone::faint};
  const LoadFigureState state = subject.load->state_of(tail);
  const std::string of_tail = state == LoadFigureState::determined ? format_time(*other->value) : needs(tail);
  return {fmt::format("{}, {}", format_time(*one->value), of_tail), Tone::plain};
}

void leave_out_empty_columns(Grid& grid) {
  for (std::size_t column = grid.columns.size(); column-- > 0;) {
    const auto is_empty = [&](const std::vector<Cell>& row) { return row[column].text == no_figure; };
    if (grid.rows.empty() || !std::ranges::all_of(grid.rows, is_empty)) continue;
    const auto at = static_cast<std::ptrdiff_t>(column);
    grid.columns.erase(grid.columns.begin() + at);
    for (auto& row : grid.rows) row.erase(row.begin() + at);
  }
}

std::string_view written(const Pairs& load, std::string_view key) {
  const auto found = std::ranges::find(load, key, &Pairs::value_type::first);
  return found == load.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace

std::string load_words(const Pairs& load) {
  const auto shape = load_shape_from_pairs(load);
  if (!shape) return "under load";
  std::string text(to_string(shape->scenario));
  if (const auto sought = written(load, "find_rate"); !sought.empty()) {
    text += fmt::format(", highest rate with {}", printable(sought, 60));
  }
  if (shape->rate > 0) text += fmt::format(", {}/s", three_digits(shape->rate));
  if (const auto arrivals = written(load, "arrivals"); !arrivals.empty()) text += " " + printable(arrivals, 60);
  if (shape->concurrency > 0) text += fmt::format(", {} at once", shape->concurrency);
  if (const auto bounds = written(load, "goodput"); !bounds.empty()) {
    text += fmt::format(", good within {}", printable(bounds, 80));
  }
  if (shape->samples > 1) text += fmt::format(", {} inferences each", shape->samples);
  return text;
}

std::string load_sentence(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  const int index = answer.subjects.front();
  const Subject& subject = record.plan.subjects.at(static_cast<std::size_t>(index));
  const LoadValidity& load = *verdict.subjects.at(static_cast<std::size_t>(index)).load;
  std::string text = fmt::format("{} ({}): ", printable(subject.label, 120), load_words(subject.load));
  if (load.valid()) {
    text += "the load is valid";
  } else {
    text += "the load is NOT valid: ";
    for (const LoadFinding& finding : load.findings) {
      if (&finding != &load.findings.front()) text += "; ";
      text += short_reason(finding.rule);
    }
  }
  if (answer.value) text += fmt::format("; {} requests/s", three_digits(*answer.value));
  for (const Answer& figure : answer.besides) {
    const bool first = &figure == &answer.besides.front();
    text += fmt::format(", {}{} {}", first ? "response time " : "", figure.metric == "response_p50" ? "p50" : "p99",
                        format_time(*figure.value));
  }
  return text;
}

bool is_under_load(const Group& group) {
  return std::ranges::all_of(group.subjects, [](const SubjectVerdict* subject) { return subject->load.has_value(); });
}

Grid load_grid(const RunRecord& record, const Verdict& verdict) {
  Grid grid{.columns = {{"Load", Align::left},
                        {"Arrivals", Align::left},
                        {"Valid", Align::left},
                        {"Offered", Align::left},
                        {"Achieved", Align::left},
                        {"Highest rate", Align::left},
                        {"Response p50", Align::left},
                        {"Response p90", Align::left},
                        {"Response p99", Align::left},
                        {"Response p99.9", Align::left},
                        {"Service p50, p99", Align::left},
                        {"Lag p50, p99", Align::left},
                        {"In flight", Align::right},
                        {"Failed", Align::right},
                        {"Goodput", Align::left},
                        {"Good", Align::left}},
            .rows = {}};
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (!subject.load) continue;
    const Pairs& load = subject_of(record, subject).load;
    grid.rows.push_back({{printable(label_alone(record, subject.subject), 200), Tone::plain},
                         {load_words(load), Tone::plain},
                         valid_cell(*subject.load),
                         load_cell(subject, "offered_rate", requests_per_s),
                         load_cell(subject, "achieved_rate", requests_per_s),
                         load_cell(subject, "max_rate", requests_per_s),
                         response_cell(subject, "response_p50"),
                         response_cell(subject, "response_p90"),
                         response_cell(subject, "response_p99"),
                         response_cell(subject, "response_p99_9"),
                         two_times(subject, "service_p50", "service_p99"),
                         two_times(subject, "lag_p50", "lag_p99"),
                         plain_cell(subject, "in_flight_mean"),
                         failed_cell(subject),
                         load_cell(subject, "goodput", requests_per_s),
                         load_cell(subject, "goodput_share", as_share)});
  }
  leave_out_empty_columns(grid);
  return grid;
}

Grid generation_grid(const RunRecord& record, const Verdict& verdict) {
  Grid grid{.columns = {{"Answers token by token", Align::left},
                        {"TTFT p50", Align::left},
                        {"TTFT p90", Align::left},
                        {"TTFT p99", Align::left},
                        {"TPOT p50", Align::left},
                        {"TPOT p90", Align::left},
                        {"TPOT p99", Align::left},
                        {"ITL p50", Align::left},
                        {"ITL p99", Align::left},
                        {"Tokens per second", Align::left},
                        {"Output tokens", Align::right},
                        {"Prompt tokens", Align::right},
                        {"KV cache", Align::left}},
            .rows = {}};
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (!is_generation(subject)) continue;
    std::vector<Cell> row = {{printable(label_alone(record, subject.subject), 200), Tone::plain}};
    for (const char* const name :
         {"ttft_p50", "ttft_p90", "ttft_p99", "tpot_p50", "tpot_p90", "tpot_p99", "itl_p50", "itl_p99"})
      row.push_back(time_cell(subject, name));
    row.push_back(load_cell(subject, "output_tokens_rate", three_digits));
    row.push_back(plain_cell(subject, "output_tokens_mean"));
    row.push_back(plain_cell(subject, "prompt_tokens_mean"));
    row.push_back(kv_cache_cell(kv_cache_memory(record.trials, subject.subject)));
    grid.rows.push_back(std::move(row));
  }
  leave_out_empty_columns(grid);
  return grid;
}

}  // namespace infermeter
