// The outputs of a run's subjects that are known by now.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// The outputs that there are by now: in the store, and those of the trial that has just ended.
class OutputsAtHand {
 public:
  // All of them outlive this.
  OutputsAtHand(Store& store, const RunRecord& record, std::size_t subject, std::span<const std::byte> block)
      : store_(store), record_(record), subject_(subject), block_(block) {}
  // Per data item; empty: none.
  [[nodiscard]] Result<std::vector<ItemValues>> of(std::size_t subject) const;

 private:
  Store& store_;
  const RunRecord& record_;
  std::size_t subject_;
  std::span<const std::byte> block_;
};

// The trial that they came from: the subject's first one that ended well, pilots before others; null: none did.
[[nodiscard]] const Samples* outputs_trial(const RunRecord& record, std::size_t subject);

}  // namespace infermeter
