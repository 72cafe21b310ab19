// Samples for Python: the record of one trial, whose times are arrays without copies.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/samples/samples.hpp"

namespace infermeter::python {

// A view of Samples that something else owns. Python holds it by a shared pointer that keeps the owner alive.
struct Trial {
  const Samples* samples = nullptr;
  std::string label{};                                     // of its subject; empty: it has none
  mutable std::optional<std::vector<double>> latencies{};  // made when first asked for

  [[nodiscard]] const std::vector<double>& latencies_s() const {
    if (!latencies) latencies = infermeter::latencies_s(*samples);
    return *latencies;
  }
};

// Of samples that nothing else owns.
[[nodiscard]] std::shared_ptr<Trial> own_trial(Samples samples, std::string label = {});

}  // namespace infermeter::python
