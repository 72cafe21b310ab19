#include "infermeter/trial/host_process.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "infermeter/trial/machine/clock.hpp"

namespace infermeter {

std::string host_process_name() {
  static const double first_called_at = wall_clock_s();
  return fmt::format("{}@{:.6f}", getpid(), first_called_at);
}

}  // namespace infermeter
