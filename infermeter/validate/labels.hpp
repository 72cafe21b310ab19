// The outputs of a validation against labels or masks, as they come.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/validate/request.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

class ValidationLabels {
 public:
  // `asked`: labels must be there and fit; empty: the data's own are used where they do. `names`: of the outputs.
  ValidationLabels(const std::string& asked, std::optional<double> allowed)
      : asked_(!asked.empty()), are_texts_(asked == next_labels), allowed_(allowed) {}

  // The next items, with both subjects' outputs.
  [[nodiscard]] Result<Done> add(const DataSet& data, std::span<const ItemValues> baseline,
                                 std::span<const ItemValues> candidate);

  // nullopt: there were no labels, or they do not fit and were not asked for.
  [[nodiscard]] Result<std::optional<AccuracyDrop>> result(std::span<const std::string> names) const;
  // Of texts; nullopt: there are none, or a token's share is 0.
  [[nodiscard]] std::optional<PerplexityChange> perplexity() const;
  [[nodiscard]] const std::string& misfit() const { return misfit_; }  // why the data's own labels were not used

 private:
  struct Side {
    AccuracyTally tally;
    std::vector<double> shares;  // of each item with a mask, and each text
    std::vector<double> losses;  // of each text
    std::optional<std::size_t> output;
  };
  [[nodiscard]] Result<Done> add(Side& side, const DataItem& item, const ItemValues& outputs) const;
  [[nodiscard]] static Result<Done> add_text(Side& side, const Tensor& scores, std::span<const int> labels);
  [[nodiscard]] Result<Done> add_all(const DataSet& data, std::span<const ItemValues> baseline,
                                     std::span<const ItemValues> candidate);

  bool asked_ = false, are_texts_ = false;
  std::optional<double> allowed_;
  std::size_t classes_ = 0;  // that the data's own folders are; 0: not known
  bool any_ = false, masks_ = false;
  std::string misfit_;
  Side baseline_, candidate_;
};

}  // namespace infermeter
