// GeneratingInference: the step of the timed loop for a back end that reports the parts of answers. Between two
// inferences it asks when those of the last one came.
#pragma once

#include <cstdint>
#include <optional>

#include "infermeter/trial/generation/answer_parts.hpp"
#include "infermeter/trial/generation/generation_tally.hpp"
#include "infermeter/trial/sample_block.hpp"
#include "infermeter/trial/subject.hpp"

namespace infermeter {

template <class Reader>
class GeneratingInference {
 public:
  GeneratingInference(Request& inference, const Reader& reader, const SampleBlock& block)
      : inference_(inference), reader_(reader), block_(block) {}

  [[nodiscard]] bool prepare(std::uint64_t iteration) {
    note();
    return inference_.prepare(iteration);
  }
  [[nodiscard]] bool run() { return inference_.run(); }

  // After the loop. nullopt: there was no answer that the back end reported about.
  [[nodiscard]] std::optional<GenerationRecord> record(double tick_s) {
    note();
    return tally_.record(tick_s, static_cast<double>(spent_) * tick_s);
  }

 private:
  void note() {
    const auto done = block_.timed_done();
    if (done.size() == noted_) return;
    noted_ = done.size();
    const TickPair& last = done.back();
    if (!reader_.read(inference_, parts_)) return;
    tally_.add(last.begin, last.end, parts_);
    spent_ += last.end - last.begin;
  }

  Request& inference_;
  const Reader& reader_;
  const SampleBlock& block_;
  GenerationTally tally_;
  AnswerParts parts_;
  std::size_t noted_ = 0;
  std::uint64_t spent_ = 0;
};

}  // namespace infermeter
