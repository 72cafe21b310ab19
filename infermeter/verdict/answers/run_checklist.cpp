#include "infermeter/verdict/answers/run_checklist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "infermeter/verdict/answers/recommend.hpp"

namespace infermeter {
namespace {

using Id = DiagnosticId;

// What makes times unlike the machine's usual ones. What it always is (virtual, few cores) is reported elsewhere.
constexpr std::array of_the_machine = {Id::foreign_load, Id::steal,         Id::throttled,
                                       Id::major_faults, Id::affinity_lost, Id::more_threads_than_cores,
                                       Id::swap_in_use,  Id::high_load,     Id::frequency_changed,
                                       Id::low_memory,   Id::debug_build,   Id::governor_not_performance,
                                       Id::not_isolated};

constexpr std::array of_likeness = {Id::precision_differs,    Id::threads_differ,     Id::runtime_version_differs,
                                    Id::provider_differs,     Id::device_differs,     Id::batch_differs,
                                    Id::model_differs,        Id::input_differs,      Id::precision_not_as_asked,
                                    Id::threads_not_as_asked, Id::environment_differs};

// Ids of warnings and errors among `wanted` that were given, each once, as one text: "foreign_load, steal".
std::string given(const Verdict& verdict, std::span<const DiagnosticId> wanted) {
  std::string names;
  for (const DiagnosticId id : wanted) {
    if (info(id).severity == Severity::info) continue;
    const auto count = std::ranges::count(verdict.diagnostics, id, &Diagnostic::id);
    if (count == 0) continue;
    std::string words(to_string(id));
    std::ranges::replace(words, '_', ' ');
    names += fmt::format("{}{}", names.empty() ? "" : ", ", words);
    if (count > 1) names += fmt::format(" ({} times)", count);
  }
  return names;
}

Check trials_check(const RunRecord& record, const ChecklistOptions& options) {
  Check check{.name = "every trial ended well", .outcome = {}, .detail = "no trial was run"};
  const auto ok = std::ranges::count(record.trials, TrialEnd::ok, &Samples::end);
  const auto all = static_cast<std::ptrdiff_t>(record.trials.size());
  if (all == 0) return check;
  check.detail = fmt::format("{} of {}", ok, all);
  if (!record.finished) check.detail += "; the run is not finished";
  const Outcome otherwise = options.variants ? Outcome::inconclusive : Outcome::fail;
  check.outcome = ok < all ? otherwise : record.finished ? Outcome::pass : Outcome::inconclusive;
  return check;
}

Check outputs_check(const Verdict& verdict, const ChecklistOptions& options) {
  Check check{.name = "outputs agree with the baseline's", .outcome = {}, .detail = "not compared"};
  int agree = 0, undecided = 0, all = 0;
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (subject.outputs == nullptr) continue;
    ++all;
    agree += subject.outputs->comparison.agree ? 1 : 0;
    undecided += subject.outputs->comparison.undecided ? 1 : 0;
  }
  if (all == 0) return check;
  check.detail = fmt::format("{} of {} compared", agree, all);
  if (undecided > 0) check.detail += fmt::format("; of {} it cannot be determined", undecided);
  if (options.variants) return check;
  check.outcome = agree == all ? Outcome::pass : agree + undecided == all ? Outcome::inconclusive : Outcome::fail;
  return check;
}

Check likeness_check(const Verdict& verdict, const ChecklistOptions& options) {
  Check check{.name = "like is compared with like", .outcome = {}, .detail = "nothing is compared", .is_caveat = true};
  const auto is_compared = [](const SubjectVerdict& subject) {
    return subject.baseline && subject.summary.trials_ok + subject.summary.trials_partial > 0;
  };
  if (std::ranges::none_of(verdict.subjects, is_compared)) return check;
  const std::string names = given(verdict, of_likeness);
  check.detail = names.empty() ? "same precision, threads, device and inputs" : names;
  if (!options.variants) check.outcome = names.empty() ? Outcome::pass : Outcome::fail;
  return check;
}

Check question_check(const Verdict& verdict) {
  Check check{.name = "the question is decided", .outcome = {}, .detail = "no question was asked"};
  if (verdict.tuning) {
    const TuningVerdict& tuning = *verdict.tuning;
    check.outcome = tuning.decided && tuning.best ? Outcome::pass : Outcome::inconclusive;
    check.detail =
        fmt::format("{} after {} blocks", tuning.decided ? "the race has ended" : "the race is open", tuning.blocks);
    return check;
  }
  if (!verdict.comparison) return check;
  const auto& primary = verdict.comparison->primary;
  const auto open = std::ranges::count(primary, Direction::unresolved, &PairedComparison::direction);
  check.outcome = open == 0 ? Outcome::pass : Outcome::inconclusive;
  check.detail = fmt::format("{} of {}, after {} pairs", static_cast<std::ptrdiff_t>(primary.size()) - open,
                             primary.size(), verdict.comparison->pairs);
  return check;
}

Check leak_check(const Verdict& verdict) {
  Check check{.name = "memory does not grow", .outcome = {}, .detail = "not looked for"};
  int leaks = 0, unclear = 0, all = 0;
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (!subject.leak) continue;
    ++all;
    leaks += subject.leak->verdict == LeakVerdict::leak ? 1 : 0;
    unclear += subject.leak->verdict == LeakVerdict::cannot_tell ? 1 : 0;
  }
  if (all == 0) return check;
  check.outcome = leaks > 0 ? Outcome::fail : unclear > 0 ? Outcome::inconclusive : Outcome::pass;
  check.detail = fmt::format("{} of {} leak, {} cannot be determined", leaks, all, unclear);
  return check;
}

Check accuracy_check(const RunRecord& record, const Verdict& verdict) {
  using Kind = Recommendation::Kind;
  Check check{.name = "accuracy is kept", .outcome = {}, .detail = "there are no labels"};
  int kept = 0, lost = 0, unclear = 0;
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (subject.accuracy) check.detail = "no subject is compared with another";
    if (!subject.accuracy || !subject.accuracy->change) continue;
    const auto found = recommend(record, subject);
    const auto has = [&](Kind kind) { return std::ranges::count(found, kind, &Recommendation::kind) > 0 ? 1 : 0; };
    kept += has(Kind::accuracy_maintained);
    lost += has(Kind::accuracy_lost);
    unclear += has(Kind::accuracy_unclear);
  }
  const int all = kept + lost + unclear;
  if (all == 0) return check;
  check.outcome = lost > 0 ? Outcome::fail : unclear > 0 ? Outcome::inconclusive : Outcome::pass;
  check.detail = fmt::format("kept by {} of {}, lost by {}, {} cannot be determined", kept, all, lost, unclear);
  return check;
}

Check machine_check(const RunRecord& record, const Verdict& verdict) {
  Check check{.name = "the machine was quiet", .outcome = {}, .detail = "no trial was run", .is_caveat = true};
  if (record.trials.empty()) return check;
  const std::string names = given(verdict, of_the_machine);
  check.outcome = names.empty() ? Outcome::pass : Outcome::fail;
  check.detail = names.empty() ? "nothing disturbed the trials" : names;
  return check;
}

Check processes_check(const RunRecord& record, const Verdict& verdict) {
  Check check{.name = "enough processes for intervals", .outcome = {}, .detail = "no trial was run", .is_caveat = true};
  if (record.trials.empty()) return check;
  int enough = 0, all = 0;
  for (const SubjectVerdict& subject : verdict.subjects) {
    const int usable = subject.summary.trials_ok > 0 ? subject.summary.trials_ok : subject.summary.trials_partial;
    if (usable == 0) continue;
    ++all;
    enough += usable >= 2 ? 1 : 0;
  }
  check.detail = "no subject ran";
  if (all == 0) return check;
  check.outcome = enough == all ? Outcome::pass : Outcome::fail;
  check.detail = fmt::format("{} of {} subjects have two or more", enough, all);
  return check;
}

}  // namespace

std::vector<Check> checklist(const RunRecord& record, const Verdict& verdict, const ChecklistOptions& options) {
  return {trials_check(record, options),
          outputs_check(verdict, options),
          likeness_check(verdict, options),
          question_check(verdict),
          leak_check(verdict),
          accuracy_check(record, verdict),
          machine_check(record, verdict),
          processes_check(record, verdict)};
}

}  // namespace infermeter
