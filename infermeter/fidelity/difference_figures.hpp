// The catalogue of the figures of an output's difference: what each is called, how it reads, and where it is shown.
// JSON, stored runs, gates, tables, Python and the report's page walk over it; a new figure is a member here and a row
// there. The largest difference is not in it: it has a place, and stands beside its item and index.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace infermeter {

struct DifferenceTally;

// Over the pairs in which both are finite. nullopt where there is no such pair, where a value is finite in one and not
// in the other (the error is no number then), or where the formula has no value (fidelity/difference_tally.hpp).
struct DifferenceFigures {
  std::optional<double> mae{}, mse{}, rmse{};
  std::optional<double> relative_l1{};   // ||c - r||1 / ||r||1; nullopt if r is 0
  std::optional<double> relative_l2{};   // ||c - r||2 / ||r||2; nullopt if r is 0
  std::optional<double> relative_max{};  // max |c - r| / max |r|; nullopt if r is 0
  std::optional<double> cosine{};        // nullopt if either is 0
  std::optional<double> pearson{};       // nullopt if either is constant
  std::optional<double> data_range{};  // what PSNR and SSIM are relative to: the reference's largest less its smallest
  std::optional<double> psnr_db{};     // +infinity where both are equal
  std::optional<double> ssim{};        // mean over items; only where it is an image (fidelity/ssim.hpp)
  // Share of rows with the same largest score, and of rows whose reference's largest is among the candidate's five
  // largest; only where it is a classifier, and top-5 only with more than five classes. NaN and infinities do not take
  // them away.
  std::optional<double> top1_agreement{}, top5_agreement{};
  // Mean over rows of RowAgreement::divergence; nullopt also where it is infinite.
  std::optional<double> kl_divergence{};
  // Share of values before the first that differs, mean over items: how long two answers, rows of tokens, are the same.
  // Only of integers in one dimension.
  std::optional<double> agreed_prefix{};
};

struct DifferenceFigure {
  enum class Reading { distance, likeness, neither };  // larger is worse, larger is better, and no judgement at all
  enum class Unit { number, decibels, share };
  enum class Tables { none, outputs, outputs_and_samples };
  enum class Page { none, hidden, shown };  // hidden: a column that the reader can switch on

  std::string_view id;       // in JSON, stored runs and Python: "pearson"
  std::string_view meaning;  // one line of ASCII
  std::optional<double> DifferenceFigures::* value = nullptr;
  // `range`: as of DifferenceTally::psnr_db(). Null: it takes more than a tally, and OutputComparer sets it.
  std::optional<double> (*of_tally)(const DifferenceTally& tally, std::optional<double> range) = nullptr;
  Reading reading = Reading::distance;
  Unit unit = Unit::number;
  bool of_samples = true;  // single samples have it, too

  // Of a gate. Figures that are neither distance nor likeness have no name there.
  std::string_view expectation{};       // "psnr", without its unit; empty: `id`
  std::string_view also_expectation{};  // another name; empty: none
  std::string_view why_none{};          // a whole comparison has none because …; empty: there are no finite numbers
  bool of_every_output = false;         // an output that differs and has no such figure leaves none for the whole
  bool is_zero_of_equal_zeros = false;  // a relative one: none is needed where nothing differs

  std::string_view title{};  // of a table's column: "Rel. L2"
  int column = 0;            // columns of tables are in this order
  Tables tables = Tables::none;
  std::string_view page_title{};    // of a column of the page: "relative L2"
  std::string_view page_measure{};  // an axis of the page: "mean |difference|"; empty: `page_title`
  Page page = Page::none;

  [[nodiscard]] std::string_view gate_name() const { return expectation.empty() ? id : expectation; }
  [[nodiscard]] bool is_judged() const { return reading != Reading::neither; }
  [[nodiscard]] std::optional<double> of(const DifferenceFigures& figures) const { return figures.*value; }
};

// In the order of JSON.
[[nodiscard]] std::span<const DifferenceFigure> difference_figures();

// Sets all that a tally shows.
void set_figures(DifferenceFigures& figures, const DifferenceTally& errors);

}  // namespace infermeter
