#include "infermeter/verdict/tuning/tuning_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/quantile.hpp"
#include "infermeter/verdict/load/load_validity.hpp"
#include "infermeter/verdict/pilot.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

constexpr std::size_t last_dozen = 12;  // that race after the field was halved
constexpr int least_race_blocks = 3;

BoundKept kept_of(Outcome outcome) {
  return outcome == Outcome::pass ? BoundKept::yes : outcome == Outcome::fail ? BoundKept::no : BoundKept::unknown;
}

// Which bound: with what figure is said by reports.
std::string beyond(const BoundVerdict& bound) { return bound.constraint; }

// Of the setting that the others are compared with: its outputs are its own, and it is as accurate as itself.
BoundVerdict bound_of_reference(const Expectation& asked) {
  BoundVerdict bound{.constraint = asked.source.text, .kept = BoundKept::yes, .value = {}, .interval = {}, .why = ""};
  if (asked.kind != Expectation::Kind::accuracy_drop) return bound;
  bound.value = 0;
  if (!satisfies(0, asked)) bound.kept = BoundKept::no;
  return bound;
}

// What the setting could not do; that the generator was late, or the requests few, is not its fault.
const LoadFinding* too_much_load(const LoadValidity& load) {
  constexpr std::array of_subject = {LoadRule::rate, LoadRule::errors, LoadRule::stationary, LoadRule::gave_up,
                                     LoadRule::outputs};
  for (const LoadRule rule : of_subject) {
    if (const LoadFinding* finding = load.finding(rule)) return finding;
  }
  return nullptr;
}

}  // namespace

TuningReplay::TuningReplay(const RunRecord& record, const Verdict& verdict, RaceValues& known)
    : record_(record), verdict_(verdict), tuning_(*record.plan.tuning), trials_(record, known) {
  if (auto bounds = bounds_of(tuning_); bounds.ok()) bounds_ = std::move(*bounds);  // checked before it was run
  first_block_ = tuning_.halving_blocks;
  first_confirming_ = first_block_ + tuning_.race_blocks;
  for (int subject = 0; subject < static_cast<int>(record.plan.subjects.size()); ++subject) {
    TunedSetting setting;
    setting.subject = subject;
    for (const Expectation& bound : bounds_) {
      setting.bounds.push_back({.constraint = bound.source.text, .value = {}, .interval = {}, .why = {}});
    }
    course_.settings.push_back(std::move(setting));
  }
}

TuningVerdict TuningReplay::play() {
  const bool all_played = pilots() && halve() && race() && confirm();
  if (all_played || (course_.out_of_time && !course_.next)) course_.stage = TuningStage::ended;
  if (course_.best) {
    if (course_.blocks == 0) look_at_bounds_of_confirmed();
    course_.against_default = confirmed_against(0);
    if (course_.second && *course_.second != 0) course_.against_second = confirmed_against(*course_.second);
  }
  return std::move(course_);
}

void TuningReplay::leave_out(int subject, SettingFate fate, std::string reason, int after) {
  at(subject).fate = fate;
  at(subject).reason = std::move(reason);
  at(subject).out_after = after;
}

std::vector<int> TuningReplay::still_in() const {
  std::vector<int> found;
  for (const TunedSetting& setting : course_.settings) {
    if (!setting.out_after) found.push_back(setting.subject);
  }
  return found;
}

bool TuningReplay::is_there(TuningStage stage, int block, std::vector<int> subjects) {
  if (trials_.has_all(subjects, block)) return true;
  course_.stage = stage;
  course_.next = NextBlock{.process = block, .subjects = std::move(subjects)};
  return false;
}

// --- before the race ------------------------------------------------------------------------------------------------

bool TuningReplay::pilots() {
  for (std::size_t subject = 0; subject < record_.plan.subjects.size(); ++subject) {
    if (next_pilot(record_, subject)) return false;
  }
  course_.out_of_time = trials_.spent_s(0) > tuning_.budget_s;
  if (course_.out_of_time) return false;
  for (const TunedSetting& setting : course_.settings) {
    const int subject = setting.subject;
    judge_known_bounds(subject);
    leave_out_failed(subject);
    if (pilot_processes(record_.plan) > 0) leave_out_other_outputs(subject, 0);
    leave_out_by_pilot(subject);
  }
  return true;
}

void TuningReplay::leave_out_failed(int subject) {
  if (pilot_processes(record_.plan) == 0) return;
  if (find_in_pilots(record_, static_cast<std::size_t>(subject)).iteration_s) return;
  std::string reason = "its pilot gave no times";
  for (const Samples& pilot : record_.side_trials) {
    if (pilot.purpose != Purpose::pilot || pilot.subject != subject || pilot.end == TrialEnd::ok) continue;
    reason = pilot.message.empty() ? std::string(to_string(pilot.end)) : pilot.message;
  }
  leave_out(subject, SettingFate::failed, std::move(reason), 0);
}

void TuningReplay::leave_out_other_outputs(int subject, int after) {
  if (at(subject).out_after || !judges_outputs(bounds_)) return;
  const auto found = std::ranges::find(record_.outputs, subject, &SubjectOutputs::subject);
  if (found == record_.outputs.end() || found->comparison.agree || found->comparison.undecided) return;
  leave_out(subject, SettingFate::outputs, "", after);
}

// Sizes, outputs and accuracy: what the first process told.
void TuningReplay::judge_known_bounds(int subject) {
  const GateEvidence evidence{.run = record_, .verdict = verdict_};
  const auto index = static_cast<std::size_t>(subject);
  const bool is_reference = first_of_group(record_.plan, index) == index;
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    if (is_measured(bounds_[i])) continue;
    if (is_reference && bounds_[i].compares()) {
      at(subject).bounds[i] = bound_of_reference(bounds_[i]);
      continue;
    }
    const Finding finding = finding_of(bounds_[i], subject, evidence);
    BoundVerdict& bound = at(subject).bounds[i];
    bound.kept = kept_of(outcome_within_bound(bounds_[i], finding));
    bound.value = finding.value;
    bound.interval = finding.interval;
    bound.why = finding.why;
  }
}

void TuningReplay::leave_out_by_pilot(int subject) {
  const SummaryOptions options = summary_options(record_);
  for (std::size_t i = 0; i < bounds_.size() && !at(subject).out_after; ++i) {
    BoundVerdict& bound = at(subject).bounds[i];
    for (const Samples& pilot : record_.side_trials) {
      const bool is_own = pilot.purpose == Purpose::pilot && pilot.subject == subject && pilot.end == TrialEnd::ok;
      if (!is_own || !is_measured(bounds_[i]) || !is_missed_by_pilot(bounds_[i], pilot, options)) continue;
      bound.kept = BoundKept::no;
      bound.value = summarise(std::span(&pilot, 1), options).metric(bounds_[i].name)->estimate.value;
    }
    if (bound.kept == BoundKept::no) leave_out(subject, SettingFate::bound, beyond(bound), 0);
  }
}

// Rounds of 1, 2, 4, … blocks, after each of which the better half goes on (successive halving: Jamieson & Talwalkar,
// AISTATS 2016). What is left out here was not shown to be worse.
bool TuningReplay::halve() {
  std::vector<int> field = still_in();
  int block = 0;
  for (int round = 1; block + round <= tuning_.halving_blocks && field.size() > last_dozen; round *= 2) {
    for (int i = 0; i < round; ++i, ++block) {
      if (!is_there(TuningStage::halving, block, field)) return false;
      for (const int subject : std::vector(field)) {
        const Samples* trial = trials_.find(subject, block);
        // Without pilots, the first process shows the outputs.
        if (trial->end == TrialEnd::ok) leave_out_other_outputs(subject, 0);
        if (trial->end != TrialEnd::ok) leave_out(subject, SettingFate::failed, trial->message, 0);
        if (at(subject).out_after) std::erase(field, subject);
      }
    }
    end_halving_round(field, block);
  }
  return true;
}

void TuningReplay::end_halving_round(std::vector<int>& field, int blocks) {
  const auto rank_of = [&](int subject) {
    std::vector<double> values;
    for (int block = 0; block < blocks; ++block) {
      if (const auto value = trials_.value(subject, block)) values.push_back(*value);
    }
    return values.empty() ? HUGE_VAL : sample_median(std::move(values));
  };
  std::vector<std::pair<double, int>> ranked;
  for (const int subject : field) ranked.emplace_back(rank_of(subject), subject);
  std::ranges::sort(ranked);
  const std::size_t kept = std::max(last_dozen, (ranked.size() + 1) / 2);
  for (std::size_t i = kept; i < ranked.size(); ++i) {
    leave_out(ranked[i].second, SettingFate::halved, "", 0);
    std::erase(field, ranked[i].second);
  }
}

// --- the race -------------------------------------------------------------------------------------------------------

std::vector<int> TuningReplay::racing() const {
  std::vector<int> found;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (race_->takes_part(i)) found.push_back(members_[i]);
  }
  return found;
}

bool TuningReplay::race() {
  members_ = still_in();
  if (members_.empty()) return course_.decided = true;
  const bool is_measured_bound = std::ranges::any_of(bounds_, is_measured);
  if (members_.size() == 1 || (trials_.is_of_size() && !is_measured_bound)) {
    rank_by_size();
    return course_.decided = true;
  }
  race_.emplace(members_.size(), RaceDesign{.alpha = tuning_.alpha, .indifference = std::log1p(tuning_.indifference)});
  for (std::size_t i = 0; i < members_.size(); ++i) race_->set_eligible(i, may_win(members_[i]));
  for (int block = first_block_;; ++block) {
    course_.blocks = block - first_block_;
    course_.decided = course_.blocks > 0 && race_->is_over();
    course_.out_of_time = !course_.decided && is_out_of_time(block);
    if (course_.decided || course_.out_of_time) break;
    if (!is_there(TuningStage::race, block, racing())) {
      rank();
      return false;
    }
    take_block(block);
  }
  look_at_bounds(first_block_ + course_.blocks, true);
  course_.decided = course_.decided && race_->is_over();  // who led may have been withdrawn
  rank();
  return true;
}

// By clocks alone. What the confirmation will take is kept back, but for the first blocks, of which nothing can be
// determined without.
bool TuningReplay::is_out_of_time(int block) {
  if (course_.blocks >= tuning_.race_blocks) return true;
  if (course_.blocks < least_race_blocks) return trials_.spent_s(block) > tuning_.budget_s;
  double block_s = 0;
  for (const int subject : racing()) block_s += trials_.mean_wall_s(subject, block);
  const double confirmation_s = tuning_.confirmation_pairs * confirming_block_s(block);
  return trials_.spent_s(block) + block_s + confirmation_s > tuning_.budget_s;
}

// Of the default, the best and the second, which may be any that still races: the longest of them.
double TuningReplay::confirming_block_s(int block) const {
  const int best = best_of_race().value_or(0);
  double sum_s = trials_.mean_wall_s(0, block), longest_s = 0;
  if (best != 0) sum_s += trials_.mean_wall_s(best, block);
  for (const int subject : racing()) {
    if (subject != 0 && subject != best) longest_s = std::max(longest_s, trials_.mean_wall_s(subject, block));
  }
  return sum_s + longest_s;
}

void TuningReplay::take_block(int block) {
  std::vector<std::optional<double>> values(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!race_->takes_part(i)) continue;
    values[i] = trials_.value(members_[i], block);
    ++at(members_[i]).blocks;
  }
  race_->add(values);
  course_.blocks = block + 1 - first_block_;
  take_failures(block);
  leave_out_without_values();
  look_at_bounds(block + 1, false);
}

void TuningReplay::take_failures(int block) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const int subject = members_[i];
    const Samples* trial = trials_.find(subject, block);
    if (trial == nullptr || race_->standing(i) == Standing::withdrawn) continue;
    if (trial->end != TrialEnd::ok) {
      withdraw(i, SettingFate::failed, trial->message.empty() ? std::string(to_string(trial->end)) : trial->message);
    } else if (pilot_processes(record_.plan) == 0 && course_.blocks == 1) {
      leave_out_other_outputs(subject, 1);
      if (at(subject).out_after) race_->withdraw(i);
    }
  }
}

// Such as a goodput of 0, of which no ratio can be made: whoever has none cannot be compared with anybody.
void TuningReplay::leave_out_without_values() {
  if (course_.blocks < least_race_blocks) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (race_->standing(i) == Standing::withdrawn || at(members_[i]).blocks < least_race_blocks) continue;
    bool has_value = false;
    for (int block = first_block_; block < first_block_ + course_.blocks; ++block)
      has_value = has_value || trials_.value(members_[i], block).has_value();
    if (!has_value)
      withdraw(i, SettingFate::failed, fmt::format("it has no {} in any of its processes", tuning_.objective));
  }
}

void TuningReplay::withdraw(std::size_t member, SettingFate fate, std::string reason) {
  leave_out(members_[member], fate, std::move(reason), course_.blocks);
  race_->withdraw(member);
}

// Whoever may not win in the end drops nobody before.
bool TuningReplay::may_win(int subject) const {
  const auto index = static_cast<std::size_t>(subject);
  if (!record_.plan.subjects[index].load.empty() && !takes_load_.contains(subject)) return false;
  const auto& bounds = course_.settings[index].bounds;
  return std::ranges::all_of(bounds, [](const BoundVerdict& bound) { return bound.kept == BoundKept::yes; });
}

void TuningReplay::judge_bound(int subject, const Expectation& asked, std::span<const Samples> own, bool ended,
                               BoundVerdict& bound) const {
  const Finding finding = finding_in(asked, own, summary_options(record_), ended);
  const BoundKept kept = kept_of(outcome_within_bound(asked, finding));
  bound.value = finding.value;
  bound.interval = finding.interval;
  bound.why = finding.why;
  if (const auto load = judge_load(record_.plan.subjects[static_cast<std::size_t>(subject)].load, own)) {
    if (std::string why = load->why_no_figure(asked.name); !why.empty()) {
      bound.why = std::move(why);
      return;
    }
  }
  if (kept != BoundKept::unknown) bound.kept = kept;
}

// One process may have been disturbed: most of them decide.
void TuningReplay::look_at_load(std::size_t member, std::span<const Samples> own) {
  const Pairs& load = record_.plan.subjects[static_cast<std::size_t>(members_[member])].load;
  std::size_t overloaded = 0;
  std::string reason;
  for (const Samples& trial : own) {
    const auto validity = judge_load(load, std::span(&trial, 1));
    const LoadFinding* finding = validity ? too_much_load(*validity) : nullptr;
    if (finding == nullptr) continue;
    if (overloaded++ == 0) reason = finding->message;
  }
  if (2 * overloaded > own.size()) return withdraw(member, SettingFate::load, std::move(reason));
  if (!own.empty()) takes_load_.insert(members_[member]);
}

// Of each setting after 5, 8, 12 and 20 processes of its own, and when no more will come.
void TuningReplay::look_at_bounds(int block, bool ended) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const int subject = members_[i];
    if (at(subject).out_after) continue;
    const bool measured_now = !ended && trials_.find(subject, block - 1) != nullptr;
    if (!ended && !(measured_now && is_round_look(at(subject).blocks))) continue;
    const auto own = trials_.trials(subject, first_block_, block);
    look_at_load(i, own);
    for (std::size_t b = 0; b < bounds_.size(); ++b) {
      BoundVerdict& bound = at(subject).bounds[b];
      // What a look has decided stays decided: others may have been dropped for it.
      if (at(subject).out_after || !is_measured(bounds_[b]) || own.size() < 2 || bound.kept != BoundKept::unknown)
        continue;
      judge_bound(subject, bounds_[b], own, ended, bound);
      if (bound.kept != BoundKept::no) continue;
      withdraw(i, SettingFate::bound, beyond(bound));
    }
    race_->set_eligible(i, may_win(subject));
  }
}

// --- who is where ---------------------------------------------------------------------------------------------------

std::optional<int> TuningReplay::best_of_race() const {
  const auto best = race_->best();
  return best ? std::optional(members_[*best]) : std::nullopt;
}

void TuningReplay::rank() {
  course_.best = best_of_race();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    TunedSetting& setting = at(members_[i]);
    switch (race_->standing(i)) {
      case Standing::racing: setting.fate = SettingFate::open; break;
      case Standing::equal: setting.fate = SettingFate::equal; break;
      case Standing::worse:
        setting.fate = SettingFate::worse;
        setting.out_after = setting.blocks;
        break;
      case Standing::withdrawn: break;  // has its reason
    }
    if (course_.blocks == 0 && setting.fate == SettingFate::open) setting.fate = SettingFate::not_raced;
  }
  if (!course_.best) return;
  set_distances(*course_.best);
  course_.second = second_to(*course_.best);
  at(*course_.best).fate = SettingFate::best;
}

// Of a single setting, and where sizes decide, which are known.
void TuningReplay::rank_by_size() {
  const auto size_of = [&](int subject) { return trials_.size_value(subject).value_or(HUGE_VAL); };
  const int best = members_.size() == 1 ? members_.front() : *std::ranges::min_element(members_, {}, size_of);
  course_.best = best;
  for (const int subject : members_) {
    TunedSetting& setting = at(subject);
    setting.fate = SettingFate::best;
    if (subject == best) continue;
    const double behind = size_of(subject) - size_of(best);
    setting.behind = behind;
    setting.fate = behind <= std::log1p(tuning_.indifference) ? SettingFate::equal : SettingFate::worse;
    if (setting.fate == SettingFate::worse) setting.out_after = 0;
  }
  course_.second = second_to(best);
}

void TuningReplay::set_distances(int best) {
  const auto place = static_cast<std::size_t>(std::ranges::find(members_, best) - members_.begin());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::vector<double> apart = race_->differences(i, place);
    if (i == place || apart.empty()) continue;
    at(members_[i]).behind = moments_of(apart).mean;
    at(members_[i]).behind_interval = t_interval(apart, 0.95);
  }
}

// The nearest of those that may be as good; where there is none, of those that are worse.
std::optional<int> TuningReplay::second_to(int best) const {
  std::optional<int> second;
  const auto is_nearer = [&](const TunedSetting& one) {
    if (!second) return true;
    const TunedSetting& other = course_.settings[static_cast<std::size_t>(*second)];
    const bool one_is_out = one.fate == SettingFate::worse, other_is_out = other.fate == SettingFate::worse;
    if (one_is_out != other_is_out) return other_is_out;
    return one.behind.value_or(HUGE_VAL) < other.behind.value_or(HUGE_VAL);
  };
  for (const TunedSetting& setting : course_.settings) {
    const bool may_be = setting.fate == SettingFate::equal || setting.fate == SettingFate::open ||
                        setting.fate == SettingFate::best || setting.fate == SettingFate::worse;
    if (may_be && setting.subject != best && is_nearer(setting)) second = setting.subject;
  }
  return second;
}

// --- confirmation ---------------------------------------------------------------------------------------------------

// The default, the best and the second, each once; the default even where it is out, unless it does not run.
std::vector<int> TuningReplay::confirmed() const {
  if (!course_.best || trials_.is_of_size()) return {};
  std::vector<int> subjects;
  if (course_.settings.front().fate != SettingFate::failed) subjects.push_back(0);
  for (const auto& subject : {course_.best, course_.second}) {
    if (subject && std::ranges::find(subjects, *subject) == subjects.end()) subjects.push_back(*subject);
  }
  std::ranges::sort(subjects);
  return subjects.size() > 1 ? subjects : std::vector<int>{};
}

bool TuningReplay::confirm() {
  const std::vector<int> subjects = confirmed();
  if (subjects.empty()) return true;
  for (int pair = 0; pair < tuning_.confirmation_pairs; ++pair) {
    if (trials_.spent_s(first_confirming_ + pair) > tuning_.budget_s) break;
    if (!is_there(TuningStage::confirmation, first_confirming_ + pair, subjects)) return false;
  }
  return true;
}

// Of the only setting that was left, which did not race.
void TuningReplay::look_at_bounds_of_confirmed() {
  const auto own = trials_.trials(*course_.best, first_confirming_, first_confirming_ + tuning_.confirmation_pairs);
  for (std::size_t b = 0; b < bounds_.size(); ++b) {
    BoundVerdict& bound = at(*course_.best).bounds[b];
    if (is_measured(bounds_[b]) && own.size() >= 2) judge_bound(*course_.best, bounds_[b], own, true, bound);
  }
}

// As a comparison of all of these pairs, which are looked at once.
std::optional<PairedComparison> TuningReplay::confirmed_against(int baseline) const {
  if (baseline == *course_.best) return std::nullopt;
  RunRecord pairs;
  pairs.plan.outliers = record_.plan.outliers;
  for (const int subject : {baseline, *course_.best}) {
    const int index = static_cast<int>(pairs.plan.subjects.size());
    pairs.plan.subjects.push_back(record_.plan.subjects[static_cast<std::size_t>(subject)]);
    pairs.plan.subjects.back().group = 0;
    for (int pair = 0; pair < tuning_.confirmation_pairs; ++pair) {
      const Samples* trial = trials_.find(subject, first_confirming_ + pair);
      if (trial == nullptr) continue;
      pairs.trials.push_back(*trial);
      pairs.trials.back().subject = index;
      pairs.trials.back().process = pair;
    }
  }
  pairs.plan.processes = std::max(1, static_cast<int>(pairs.trials.size()) / 2);
  Question& question = pairs.plan.question.emplace();
  question.metric = tuning_.objective;
  question.margin = tuning_.indifference;
  question.alpha = tuning_.alpha;
  question.all_pairs = true;
  const auto compared = judge_comparison(pairs, true);
  if (!compared || compared->primary.front().differences.empty()) return std::nullopt;
  PairedComparison found = compared->primary.front();
  found.baseline = baseline;
  found.candidate = *course_.best;
  return found;
}

}  // namespace infermeter
