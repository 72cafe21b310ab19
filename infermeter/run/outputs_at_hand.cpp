#include "infermeter/run/outputs_at_hand.hpp"

#include <memory>

#include "infermeter/data/value_block.hpp"

namespace infermeter {

Result<std::vector<ItemValues>> OutputsAtHand::of(std::size_t subject) const {
  if (subject == subject_) return read_block(block_, std::shared_ptr<const void>());
  INFERMETER_TRY(auto block, store_.output_block(record_.id, static_cast<int>(subject)));
  if (!block) return std::vector<ItemValues>{};
  auto bytes = std::make_shared<std::vector<std::byte>>(std::move(*block));
  return read_block(*bytes, bytes);
}

const Samples* outputs_trial(const RunRecord& record, std::size_t subject) {
  for (const auto* trials : {&record.side_trials, &record.trials}) {
    for (const Samples& trial : *trials) {
      const bool is_its = trial.subject == static_cast<int>(subject) && has_outputs(trial.purpose);
      if (is_its && trial.end == TrialEnd::ok) return &trial;
    }
  }
  return nullptr;
}

}  // namespace infermeter
