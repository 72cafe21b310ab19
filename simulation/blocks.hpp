// The blocks of the study. Each is a pure function of the noise, the seed and the number of runs.
#pragma once

#include <vector>

#include "simulation/figure.hpp"
#include "simulation/noise.hpp"
#include "simulation/simulate.hpp"

namespace infermeter::study {

using Families = std::vector<Family>;

[[nodiscard]] Block false_alarms(const Families& families, const Effort& effort);
[[nodiscard]] Block power(const Families& families, const Effort& effort);
[[nodiscard]] Block coverage(const Families& families, const Effort& effort);
[[nodiscard]] std::vector<Table> tail_percentiles(const Effort& effort);  // of the block of coverage
[[nodiscard]] Block open_ended(const Families& families, const Effort& effort);
[[nodiscard]] Block gate(const Families& families, const Effort& effort);
[[nodiscard]] Block history(const Effort& effort);
[[nodiscard]] Block warm_up(const Effort& effort);
[[nodiscard]] Block automatic(const Families& families, const Effort& effort);
[[nodiscard]] Block tuning(const Families& families, const Effort& effort);
// Whether the others are the same again, and with another number of threads.
[[nodiscard]] Block reproducible(const Families& families, const Effort& effort);

}  // namespace infermeter::study
