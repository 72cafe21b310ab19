#include "infermeter/report/tuning/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "infermeter/plan/subject.hpp"
#include "infermeter/report/gate/text.hpp"
#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/shell_quote.hpp"
#include "infermeter/verdict/tuning/constraints.hpp"

namespace infermeter {
namespace {

constexpr const char* no_cell = "–";
constexpr std::ptrdiff_t listed_settings = 3;  // settings in a sentence

std::string objective_name(const RunRecord& record) {
  const std::string& objective = record.plan.tuning->objective;
  return objective == "model_size" ? "model size" : metric_name(objective);
}

std::string labels_text(const RunRecord& record, const std::vector<int>& subjects, const char* between) {
  std::vector<std::string> labels;
  for (const int subject : subjects) labels.push_back(setting_label(record, subject));
  return fmt::format("{}", fmt::join(labels, between));
}

std::string level_of(const Answer& answer) {
  if (!answer.value) return "";
  const FigureText format = figure_text(answer.unit);
  std::string text = format(*answer.value);
  if (answer.interval && !is_uninformative(*answer.value, *answer.interval)) {
    text += fmt::format(" ({:.0f} % interval {})", answer.interval->confidence * 100,
                        bounds_in_unit_of(text, *answer.interval, format));
  }
  return text;
}

std::string what_ended_it(const RunRecord& record, const TuningVerdict& tuning) {
  const Tuning& asked = *record.plan.tuning;
  if (tuning.blocks >= asked.race_blocks) return fmt::format("; {} blocks did not settle it", tuning.blocks);
  return fmt::format("; the budget of {} ended the race (--budget)", format_duration(asked.budget_s));
}

std::string best_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  if (answer.kind == AnswerKind::fail) {
    return "no setting is left: every one fails, has other outputs than the first, or misses a constraint";
  }
  if (answer.kind == AnswerKind::not_measured) {
    if (!verdict.tuning->out_of_time) return "nothing was raced yet";
    return fmt::format("nothing was raced: the budget of {} was spent on the pilots (--budget, or fewer values)",
                       format_duration(record.plan.tuning->budget_s));
  }
  const std::string best = setting_label(record, *verdict.tuning->best);
  const std::string level = level_of(answer);
  const std::string figure = objective_name(record) + (level.empty() ? "" : " " + level);
  const std::string of = counted(std::ssize(record.plan.subjects), "setting", "settings");
  if (answer.kind == AnswerKind::best) return fmt::format("best of {}: {}, {}", of, best, figure);
  std::vector<int> others = answer.subjects;
  std::erase(others, *verdict.tuning->best);
  std::string left = labels_text(
      record, {others.begin(), others.begin() + std::min<std::ptrdiff_t>(listed_settings, std::ssize(others))}, ", ");
  if (std::ssize(others) > listed_settings) left += fmt::format(" and {} more", std::ssize(others) - listed_settings);
  const std::string why = verdict.tuning->out_of_time ? what_ended_it(record, *verdict.tuning) : "";
  return fmt::format("undecided which of {} is best: {} leads, {}{}{}", of, best, figure,
                     others.empty() ? "" : "; undecided against it: " + left, why);
}

std::string against_text(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  const TuningVerdict& tuning = *verdict.tuning;
  const bool by_default = tuning.against_default && answer.baseline == 0;
  const PairedComparison& c = by_default ? *tuning.against_default : *tuning.against_second;
  const std::string best = setting_label(record, c.candidate);
  const std::string other =
      fmt::format("{}{}", by_default ? "the first setting, " : "the second best, ", setting_label(record, c.baseline));
  const std::string pairs =
      fmt::format("{} measured after the choice", counted(std::ssize(c.differences), "pair", "pairs"));
  if (!c.estimate) return fmt::format("{} against {}: there is no whole pair", best, other);
  if (!c.interval) {
    return fmt::format("{} against {}: {} in {}, too few for an interval", best, other,
                       effect_text(c.metric, *c.estimate), pairs);
  }
  const std::string interval =
      fmt::format("{:g} % interval {}", 100 * c.interval->confidence, effects_text(c.metric, *c.interval));
  if (c.direction == Direction::unresolved || c.direction == Direction::equivalent) {
    return fmt::format("{} against {}: {} ({}), from {}", best, other, effect_text(c.metric, *c.estimate), interval,
                       pairs);
  }
  return fmt::format("{} {} {} than {} ({}), from {}", best, words_of(c.metric).verb,
                     effect_text(c.metric, *c.estimate), other, interval, pairs);
}

// ": 42.1 ms [41.8, 42.6]"; nothing where it has no value.
std::string bound_figure(const RunRecord& record, const Answer& answer) {
  const auto bounds = bounds_of(*record.plan.tuning);
  if (!bounds.ok() || !answer.place || !answer.value) return {};
  return ": " + with_interval(*answer.value, answer.interval, figures_in(bounds->at(*answer.place).dimension));
}

std::string bound_text(const RunRecord& record, const Answer& answer) {
  const std::string best = setting_label(record, answer.subjects.front());
  const std::string constraint = printable(answer.about, 120);
  const std::string figure = bound_figure(record, answer);
  if (answer.kind == AnswerKind::pass) return fmt::format("{} keeps to {}{}", best, constraint, figure);
  if (answer.kind == AnswerKind::fail) return fmt::format("{} does not keep to {}{}", best, constraint, figure);
  const std::string why = answer.reason.empty() ? "its interval includes the bound" : printable(answer.reason, 200);
  return fmt::format("undecided whether {} keeps to {}: {}", best, constraint, why);
}

std::string searched_text(const RunRecord& record) {
  return fmt::format(
      "{} of {} settings were tried, drawn to lie far apart and halved by single processes before the race: this is a "
      "search; settings that were not drawn or were left behind there may be better",
      record.plan.subjects.size(), record.plan.tuning->settings);
}

std::string reasons_text(const Verdict& verdict) {
  std::vector<std::string> parts;
  const auto add = [&](SettingFate fate, const char* words) {
    const auto count = std::ranges::count(verdict.tuning->settings, fate, &TunedSetting::fate);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, words));
  };
  add(SettingFate::worse, "worse");
  add(SettingFate::halved, "left behind when the field was halved");
  add(SettingFate::bound, "beyond a constraint");
  add(SettingFate::outputs, "with other outputs than the first setting's");
  add(SettingFate::load, "that the load is too much for");
  add(SettingFate::failed, "failed");
  if (parts.size() == 1) return parts.front().substr(parts.front().find(' ') + 1);
  return fmt::format("{}", fmt::join(parts, ", "));
}

// In the order in which they matter.
std::vector<const TunedSetting*> ranked(const TuningVerdict& tuning) {
  std::vector<const TunedSetting*> settings;
  for (const TunedSetting& setting : tuning.settings) settings.push_back(&setting);
  const auto before = [](const TunedSetting* a, const TunedSetting* b) {
    if (a->fate != b->fate) return a->fate < b->fate;
    return a->behind.value_or(HUGE_VAL) < b->behind.value_or(HUGE_VAL);
  };
  std::ranges::stable_sort(settings, before);
  return settings;
}

Tone tone_of(SettingFate fate) {
  switch (fate) {
    case SettingFate::best: return Tone::good;
    case SettingFate::equal:
    case SettingFate::open:
    case SettingFate::not_raced: return Tone::plain;
    case SettingFate::bound:
    case SettingFate::outputs:
    case SettingFate::load:
    case SettingFate::failed: return Tone::warning;
    default: return Tone::faint;
  }
}

Cell behind_cell(const RunRecord& record, const TunedSetting& setting) {
  if (setting.fate == SettingFate::best) return {"(best)", Tone::faint};
  if (!setting.behind) return {no_cell, Tone::faint};
  const std::string& metric = record.plan.tuning->objective;
  std::string text = signed_number(metric, *setting.behind) + " %";
  if (setting.behind_interval) {
    const std::string low = signed_number(metric, setting.behind_interval->low);
    const std::string high = signed_number(metric, setting.behind_interval->high);
    const bool turned =
        value_change(metric, setting.behind_interval->low) > value_change(metric, setting.behind_interval->high);
    text += turned ? fmt::format(" [{}, {}]", high, low) : fmt::format(" [{}, {}]", low, high);
  }
  return {std::move(text), Tone::plain};
}

Cell objective_cell(const RunRecord& record, const SubjectVerdict& subject) {
  const std::string& objective = record.plan.tuning->objective;
  const Estimate* estimate = subject.summary.estimate(objective);
  if (estimate == nullptr || !estimate->value) return {no_cell, Tone::faint};
  return {with_interval(*estimate->value, estimate->interval, figure_text(metric_kind(objective)->unit)), Tone::plain};
}

std::vector<Cell> cells_of(const RunRecord& record, const Verdict& verdict, const TunedSetting& setting) {
  const SubjectVerdict& subject = verdict.subjects.at(static_cast<std::size_t>(setting.subject));
  Group group;
  group.subjects = {&subject};
  const Row row = row_of(record, group, subject);
  const std::string label = setting_label(record, setting.subject) + (setting.on_front ? " *" : "");
  const bool is_best = setting.fate == SettingFate::best;
  std::vector<Cell> cells = {
      {label, Tone::plain},
      {is_best && !verdict.tuning->decided ? "leads" : fate_text(setting), tone_of(setting.fate)},
      objective_cell(record, subject),
      behind_cell(record, setting),
      row.memory,
      row.size};
  const int processes = subject.summary.trials_ok + subject.summary.trials_partial + subject.summary.trials_failed;
  cells.push_back({std::to_string(processes), Tone::plain});
  cells.push_back(row.outputs);
  return cells;
}

}  // namespace

std::string setting_label(const RunRecord& record, int subject) {
  const auto& subjects = record.plan.subjects;
  const Subject& own = subjects.at(static_cast<std::size_t>(subject));
  const bool is_shared = std::ranges::all_of(subjects, [&](const Subject& one) { return one.model == own.model; });
  std::string label = own.label;
  const std::string start = last_name_of(own.model) + "@";
  if (is_shared && label.starts_with(start)) label.erase(0, start.size());
  return printable(label, 120);
}

std::string fate_text(const TunedSetting& setting) {
  const std::string reason = printable(setting.reason, 80);
  switch (setting.fate) {
    case SettingFate::best: return "best";
    case SettingFate::equal: return "equal";
    case SettingFate::open: return "undecided";
    case SettingFate::worse: return "worse";
    case SettingFate::halved: return "left behind";
    case SettingFate::bound: return "beyond " + reason;
    case SettingFate::outputs: return "other outputs";
    case SettingFate::load: return "load too high: " + reason;
    case SettingFate::failed: return reason.empty() ? "failed" : "failed: " + reason;
    case SettingFate::not_raced: break;
  }
  return "not raced yet";
}

std::string tuning_sentence(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  switch (answer.topic) {
    case AnswerTopic::speed: return against_text(record, verdict, answer);
    case AnswerTopic::bound: return bound_text(record, answer);
    case AnswerTopic::design: return searched_text(record);
    default: break;
  }
  if (answer.kind == AnswerKind::equals) {
    return fmt::format("as good, within {:g} %: {}", 100 * record.plan.tuning->indifference,
                       labels_text(record, answer.subjects, ", "));
  }
  if (answer.kind == AnswerKind::out) {
    return fmt::format("{} left behind: {}", counted(answer.n, "setting was", "settings were"), reasons_text(verdict));
  }
  return best_text(record, verdict, answer);
}

std::string tuning_title(const RunRecord& record) {
  std::string title = fmt::format("{}, by {}", counted(std::ssize(record.plan.subjects), "setting", "settings"),
                                  objective_name(record));
  for (const std::string& constraint : record.plan.tuning->constraints) title += ", " + printable(constraint, 120);
  return title;
}

Grid tuning_grid(const RunRecord& record, const Verdict& verdict) {
  std::string objective = objective_name(record);
  objective.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(objective.front())));
  Grid grid{.columns = {{"Setting", Align::left},
                        {"Standing", Align::left},
                        {std::move(objective), Align::left},
                        {"Against the best", Align::left},
                        {"Memory", Align::right},
                        {"Size", Align::right},
                        {"Processes", Align::right},
                        {"Outputs", Align::left}},
            .rows = {}};
  for (const TunedSetting* setting : ranked(*verdict.tuning)) grid.rows.push_back(cells_of(record, verdict, *setting));
  return grid;
}

std::vector<std::string> tuning_notes(const RunRecord& record, const Verdict& verdict) {
  std::vector<std::string> notes;
  if (const auto& best = verdict.tuning->best) {
    const Subject& subject = record.plan.subjects.at(static_cast<std::size_t>(*best));
    notes.push_back(fmt::format("To repeat {}: infermeter run {}", setting_label(record, *best),
                                printable(shell_quoted(short_form(subject)), 1000)));
  }
  notes.emplace_back(
      "* on the Pareto front of the objective, latency, memory, size and accuracy. Against the best: over the blocks "
      "in which both ran, with Student's interval. The best of many looks better than it is; the fresh pairs above "
      "are free of that.");
  for (const auto& [setting, reason] : record.plan.tuning->left_out) {
    notes.push_back(
        fmt::format("left out before anything ran: {}: {}", printable(setting, 120), printable(reason, 400)));
  }
  return notes;
}

}  // namespace infermeter
