#include "infermeter/report/profile/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/plan/imported.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/operator_memory.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/answers/profile_answers.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_name = 48;
constexpr std::size_t longest_kind = 24;
constexpr std::size_t max_clauses = 3;
constexpr std::size_t most_by_memory = 5;

std::string profile_label(const RunRecord& record, int subject) { return printable(label_alone(record, subject), 120); }

std::optional<Interval> interval_of(const OperatorTime& time) {
  if (!time.low_s || !time.high_s) return std::nullopt;
  return Interval{.low = *time.low_s, .high = *time.high_s, .confidence = 0.95};
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

// A distorted profile's times are not the timed run's: its shares are what can be read.
Cell operator_time_cell(const OperatorTable& table, const OperatorTime& time) {
  if (table.distorted) return {"–", Tone::faint};
  return {with_interval(time.mean_s, interval_of(time), format_time), Tone::plain};
}

// "jit_avx512_f32, float32, NCHWc"
std::string kernel_text(const ProfiledOperator& op) {
  std::string text;
  for (const std::string* part : {&op.kernel, &op.precision, &op.layout}) {
    if (!part->empty()) text += (text.empty() ? "" : ", ") + printable(*part, 40);
  }
  return text;
}

Cell roof_cell(const Roofline& roofline, std::size_t op) {
  const auto point = std::ranges::find(roofline.points, op, &RooflinePoint::op);
  if (point == roofline.points.end()) return {"", Tone::plain};
  return {fmt::format("{:.0f} % {}", point->fraction * 100, point->bound == Bound::compute ? "compute" : "memory"),
          Tone::plain};
}

class OperatorRows {
 public:
  OperatorRows(const SubjectProfile& profile, std::size_t most) : profile_(profile), most_(most) {}

  Grid grid() {
    Grid grid{.columns = {{"Operator", Align::left},
                          {"Kind", Align::left},
                          {"Share", Align::right},
                          {"Time", Align::left},
                          {"Of the roof", Align::left, true},
                          {"Kernel, precision, layout", Align::left, true}},
              .rows = {}};
    width_ = grid.columns.size();
    const OperatorTable& table = profile_.table;
    const std::size_t shown = std::min(most_, table.operators.size());
    for (std::size_t i = 0; i < shown; ++i) add(grid, table.operators[i]);
    add_others(grid, shown);
    add(grid, {Cell{"(rest)", Tone::faint}, Cell{"between", Tone::faint}, Cell{percent(table.rest.share), Tone::plain},
               operator_time_cell(table, table.rest)});
    return grid;
  }

 private:
  void add(Grid& grid, std::vector<Cell> cells) const {
    cells.resize(width_);
    grid.rows.push_back(std::move(cells));
  }

  void add(Grid& grid, const OperatorTime& time) const {
    const ProfiledOperator& op = profile_.table.profile->operators[time.op];
    add(grid, {Cell{printable(op.name, longest_name), Tone::plain}, Cell{printable(op.kind, longest_kind), Tone::plain},
               Cell{percent(time.share), Tone::plain}, operator_time_cell(profile_.table, time),
               roof_cell(profile_.roofline, time.op), Cell{kernel_text(op), Tone::plain}});
  }

  void add_others(Grid& grid, std::size_t shown) const {
    const auto& all = profile_.table.operators;
    if (shown == all.size()) return;
    OperatorTime others;
    for (std::size_t i = shown; i < all.size(); ++i) {
      others.mean_s += all[i].mean_s;
      others.share += all[i].share;
    }
    add(grid, {Cell{fmt::format("({} others)", all.size() - shown), Tone::faint}, Cell{},
               Cell{percent(others.share), Tone::plain}, operator_time_cell(profile_.table, others)});
  }

  const SubjectProfile& profile_;
  std::size_t most_, width_ = 0;
};

// Files that were imported hold operators or stacks, and never both.
std::string no_operators(const RunRecord& record, int subject) {
  std::size_t samples = 0;
  for (const TrialStacks& stacks : record.stacks) {
    const auto at = static_cast<std::size_t>(stacks.position);
    const bool is_its = at < record.side_trials.size() && record.side_trials[at].subject == subject;
    if (is_its) samples += stacks.stacks.samples.size();
  }
  if (!is_imported(record.plan) || samples == 0) return ": no profile of operators";
  return fmt::format(": call stacks of {}, no operators",
                     counted(static_cast<std::int64_t>(samples), "sample", "samples"));
}

std::string profile_title(const RunRecord& record, const SubjectProfile& profile) {
  const OperatorTable& table = profile.table;
  std::string text = fmt::format("{}: {}, {}", profile_label(record, profile.subject),
                                 counted(static_cast<std::int64_t>(table.operators.size()), "operator", "operators"),
                                 counted(static_cast<std::int64_t>(table.processes), "process", "processes"));
  if (table.profiled_p50_s) text += fmt::format("; p50 {} with profiling", format_time(*table.profiled_p50_s));
  if (table.clean_p50_s) text += fmt::format(", {} without", format_time(*table.clean_p50_s));
  return text;
}

std::vector<std::string> profile_lines(const SubjectProfile& profile) {
  std::vector<std::string> lines;
  for (const ProfileSource& source : profile.table.profile->sources) {
    if (source.available && source.detail.empty()) continue;
    lines.push_back(fmt::format("{}{}: {}", source.available ? "" : "no ", printable(source.name, 40),
                                printable(source.detail, 300)));
  }
  if (profile.roofline.whole_fraction) {
    lines.push_back(fmt::format("the whole model runs at {:.0f} % of this machine's roof ({} GFLOP)",
                                *profile.roofline.whole_fraction * 100,
                                three_digits(profile.roofline.whole_flops / 1e9)));
    for (const std::string& note : profile.roofline.notes) lines.push_back(printable(note, 300));
  } else if (!profile.roofline.reason.empty()) {
    lines.push_back("no roofline: " + printable(profile.roofline.reason, 300));
  }
  if (profile.table.left_out > 0) {
    lines.push_back(fmt::format("{} had other operators and are left out",
                                counted(static_cast<std::int64_t>(profile.table.left_out), "process", "processes")));
  }
  return lines;
}

std::string profile_bounds(double low, double high) {
  return fmt::format("95 % interval {} … {}", signed_time(low), signed_time(high));
}

std::string clauses_text(const Explanation& why) {
  std::string text;
  for (std::size_t i = 0; i < std::min(why.clauses.size(), max_clauses); ++i) {
    const Clause& clause = why.clauses[i];
    text += fmt::format("{}{} ({}, {}, {:.{}f} %)", i == 0 ? "" : "; ", printable(clause.sentence, 300),
                        signed_time(clause.mean_s), profile_bounds(clause.low_s, clause.high_s), clause.share * 100,
                        std::abs(clause.share) < 0.01 ? 1 : 0);
  }
  if (why.clauses.size() > max_clauses) text += fmt::format("; and {} more", why.clauses.size() - max_clauses);
  return text;
}

std::string explanation_text(const Answer& answer, const Explanation& why) {
  if (!why.reason.empty()) return "cannot tell: " + printable(why.reason, 300);
  const std::string whole =
      fmt::format("{} per inference ({})", signed_time(why.difference_s), profile_bounds(why.low_s, why.high_s));
  if (answer.kind == AnswerKind::not_explained) {
    return fmt::format("the profile's {} does not explain what was measured without it, {}", whole,
                       why.clean_difference_s ? signed_time(*why.clean_difference_s) : "nothing");
  }
  if (why.clauses.empty()) {
    return fmt::format("cannot tell: no group of operators differs beyond its noise, of {}", whole);
  }
  if (answer.kind == AnswerKind::unknown) {
    return fmt::format("not explained: only {:.0f} % of {} stands out from noise: {}",
                       std::max(explained_share(why) * 100, 0.0), whole, clauses_text(why));
  }
  return fmt::format("{}, of {}", clauses_text(why), whole);
}

}  // namespace

std::string signed_time(double seconds) { return (seconds < 0 ? "-" : "+") + format_time(std::abs(seconds)); }

std::vector<OperatorText> operator_texts(const RunRecord& record, const ProfileFindings& findings,
                                         std::size_t most_operators) {
  std::vector<OperatorText> texts;
  for (const SubjectProfile& profile : findings.subjects) {
    if (profile.asked == 0) continue;
    OperatorText& text = texts.emplace_back();
    if (profile.table.profile == nullptr) {
      text.title = profile_label(record, profile.subject) + no_operators(record, profile.subject);
      continue;
    }
    text.title = profile_title(record, profile);
    text.grid = OperatorRows(profile, most_operators).grid();
    text.memory = memory_grid(*profile.table.profile, most_by_memory, longest_name);
    text.lines = profile_lines(profile);
  }
  return texts;
}

std::string why_sentence(const RunRecord& record, const ProfileFindings& findings, const Answer& answer) {
  const auto one = std::ranges::find(findings.explanations, answer.subjects.front(), &ProfileExplanation::subject);
  return fmt::format("why {} against {}: {}", profile_label(record, one->subject), profile_label(record, one->baseline),
                     explanation_text(answer, one->explanation));
}

}  // namespace infermeter
