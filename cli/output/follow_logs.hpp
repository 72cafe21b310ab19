// Follows what the tasks of a job say, on standard error.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/surroundings.hpp"
#include "infermeter/fleet/job_folder.hpp"

namespace infermeter {

class LogFollower {
 public:
  // `from_now`: what they have said before is left out.
  LogFollower(const ClusterJob& job, bool quiet, bool from_now);
  // The lines that are new: "task 2: [ 3/12] …".
  void show(Surroundings& world);

 private:
  const ClusterJob& job_;
  bool quiet_;
  std::vector<std::streamoff> read_;  // bytes of each log
};

}  // namespace infermeter
