#include "infermeter/verdict/answers/recommend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

using RecommendationKind = Recommendation::Kind;

constexpr double least_size_change = 0.05;  // "1.0x smaller" says nothing
constexpr std::uint64_t most_recommended_rows = 1'000'000'000;

class Recommender {
 public:
  Recommender(const RunRecord& record, const SubjectVerdict& subject, const RecommendOptions& options)
      : record_(record), subject_(subject), options_(options), baseline_(*subject.baseline) {}

  std::vector<Recommendation> all() {
    speed();
    memory();
    size();
    accuracy();
    outputs();
    return std::move(found_);
  }

 private:
  Recommendation& add(RecommendationKind kind, double value, std::optional<Interval> interval = {}) {
    return found_.emplace_back(Recommendation{.kind = kind,
                                              .subject = subject_.subject,
                                              .baseline = baseline_,
                                              .value = value,
                                              .interval = interval,
                                              .more_rows = {}});
  }

  [[nodiscard]] Estimate ratio_of(std::string_view metric) const {
    const auto known = std::ranges::find(subject_.ratios, metric, &Ratio::metric);
    if (known != subject_.ratios.end()) return known->estimate;
    const auto before = trials_of(record_, baseline_), after = trials_of(record_, subject_.subject);
    return ratio(before, after, metric, summary_options(record_), pairing_of(record_)).estimate;
  }

  void speed() {
    if (subject_.load) return;  // a median of response times is no speed
    const Estimate gain = ratio_of("latency_p50");
    if (!gain.value || !gain.interval) return;
    const double least = 1 + options_.least_change;
    if (gain.interval->low > 1 && *gain.value >= least) {
      add(RecommendationKind::faster, *gain.value, gain.interval);
    } else if (gain.interval->high < 1 && *gain.value <= 1 / least) {
      add(RecommendationKind::slower, *gain.value, gain.interval);
    } else if (gain.interval->high < least) {
      add(RecommendationKind::not_faster, *gain.value, gain.interval);
    }
  }

  // Of the device where both have memory of their own there.
  void memory() {
    if (!value_of("device_memory_peak") || !memory_of("device_memory_peak"))
      static_cast<void>(memory_of("memory_peak"));
  }

  // Whether there is a ratio at all; a difference that cannot be determined, or is not worth a word, is none.
  bool memory_of(std::string_view metric) {
    const Estimate saving = ratio_of(metric);
    const auto own = value_of(metric);
    if (!saving.value || !own) return false;
    const double least = 1 + options_.least_change, difference = *own * (*saving.value - 1);
    if (saving.interval && saving.interval->low > 1 && *saving.value >= least) {
      add(RecommendationKind::less_memory, difference, saving.interval);
    } else if (saving.interval && saving.interval->high < 1 && *saving.value <= 1 / least) {
      add(RecommendationKind::more_memory, difference, saving.interval);
    }
    return true;
  }

  [[nodiscard]] std::optional<double> value_of(std::string_view metric) const {
    const Metric* found = subject_.summary.metric(metric);
    return found == nullptr ? std::nullopt : found->estimate.value;
  }

  [[nodiscard]] double size_of(int subject) const {
    const auto index = static_cast<std::size_t>(subject);
    return index < record_.models.size() ? static_cast<double>(record_.models[index].size_bytes) : 0;
  }

  void size() {
    const double before = size_of(baseline_), after = size_of(subject_.subject);
    if (before <= 0 || after <= 0) return;
    const double least = 1 + std::max(options_.least_change, least_size_change), gain = before / after;
    if (gain >= least) add(RecommendationKind::smaller_model, gain);
    if (gain <= 1 / least) add(RecommendationKind::larger_model, gain);
  }

  [[nodiscard]] std::optional<RecommendationKind> reported(const PairedProportions& change) const {
    if (change.interval.low >= -options_.accuracy_allowance) return RecommendationKind::accuracy_maintained;
    if (change.interval.high < 0) return RecommendationKind::accuracy_lost;
    return std::nullopt;
  }

  void accuracy() {
    if (!subject_.accuracy || !subject_.accuracy->change) return;
    const PairedProportions& change = *subject_.accuracy->change;
    const auto kind = reported(change);
    auto& found = add(kind.value_or(RecommendationKind::accuracy_unclear), change.difference, change.interval);
    if (!kind) found.more_rows = more_rows(*subject_.accuracy->measured->paired);
  }

  // As many times the table that was seen as it takes; the next power of two first, then by halves between.
  [[nodiscard]] std::optional<std::uint64_t> more_rows(const PairedRight& table) const {
    const std::uint64_t rows = table.both + table.reference_only + table.candidate_only + table.neither;
    const auto tells = [&](double times) {
      const auto scaled = [&](std::uint64_t count) {
        return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * times));
      };
      return reported(compare_paired(scaled(table.both), scaled(table.reference_only), scaled(table.candidate_only),
                                     scaled(table.neither)))
          .has_value();
    };
    double high = 2;
    while (!tells(high)) {
      high *= 2;
      if (high * static_cast<double>(rows) > static_cast<double>(most_recommended_rows)) return std::nullopt;
    }
    double low = high / 2;
    for (int i = 0; i < 12; ++i) {
      const double middle = (low + high) / 2;
      (tells(middle) ? high : low) = middle;
    }
    return static_cast<std::uint64_t>(std::ceil((high - 1) * static_cast<double>(rows)));
  }

  void outputs() {
    if (subject_.outputs == nullptr) return;
    const OutputComparison& comparison = subject_.outputs->comparison;
    const double largest = largest_difference(comparison).value_or(std::numeric_limits<double>::quiet_NaN());
    add(comparison.agree       ? RecommendationKind::outputs_agree
        : comparison.undecided ? RecommendationKind::outputs_undecided
                               : RecommendationKind::outputs_differ,
        largest);
  }

  const RunRecord& record_;
  const SubjectVerdict& subject_;
  const RecommendOptions& options_;
  int baseline_;
  std::vector<Recommendation> found_;
};

constexpr auto kind_names = std::to_array<std::pair<RecommendationKind, std::string_view>>({
    {RecommendationKind::faster, "faster"},
    {RecommendationKind::slower, "slower"},
    {RecommendationKind::not_faster, "not_faster"},
    {RecommendationKind::less_memory, "less_memory"},
    {RecommendationKind::more_memory, "more_memory"},
    {RecommendationKind::smaller_model, "smaller_model"},
    {RecommendationKind::larger_model, "larger_model"},
    {RecommendationKind::accuracy_maintained, "accuracy_maintained"},
    {RecommendationKind::accuracy_lost, "accuracy_lost"},
    {RecommendationKind::accuracy_unclear, "accuracy_unclear"},
    {RecommendationKind::outputs_agree, "outputs_agree"},
    {RecommendationKind::outputs_differ, "outputs_differ"},
    {RecommendationKind::outputs_undecided, "outputs_undecided"},
});

}  // namespace

std::string_view to_string(Recommendation::Kind kind) {
  const auto found = std::ranges::find(kind_names, kind, &std::pair<RecommendationKind, std::string_view>::first);
  return found == kind_names.end() ? "" : found->second;
}

std::vector<Recommendation> recommend(const RunRecord& record, const SubjectVerdict& subject,
                                      const RecommendOptions& options) {
  // What a subject did before it failed is no figure of it.
  const bool has_failed =
      subject.summary.trials_ok == 0 && subject.summary.trials_failed + subject.summary.trials_partial > 0;
  if (!subject.baseline || has_failed) return {};
  return Recommender(record, subject, options).all();
}

}  // namespace infermeter
