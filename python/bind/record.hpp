// A run's record for Python: what it holds stays where it is as long as anything of it is in use.
#pragma once

#include <memory>
#include <vector>

#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "python/bind/samples.hpp"

namespace infermeter::python {

class MeasuredRun {
 public:
  explicit MeasuredRun(RunRecord record);
  MeasuredRun(const MeasuredRun&) = delete;
  MeasuredRun& operator=(const MeasuredRun&) = delete;

  [[nodiscard]] const RunRecord& record() const { return record_; }
  [[nodiscard]] const Verdict& verdict() const;  // made when first asked for, with the GIL held
  [[nodiscard]] std::vector<Trial>& trials() { return trials_; }
  [[nodiscard]] std::vector<Trial>& side_trials() { return side_trials_; }

 private:
  RunRecord record_;
  std::vector<Trial> trials_, side_trials_;
  mutable std::unique_ptr<Verdict> verdict_;
};

}  // namespace infermeter::python
