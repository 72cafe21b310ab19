#include "cli/output/follow_logs.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "infermeter/text/quoted.hpp"

namespace infermeter {

LogFollower::LogFollower(const ClusterJob& job, bool quiet, bool from_now)
    : job_(job), quiet_(quiet), read_(static_cast<std::size_t>(job.tasks)) {
  for (int task = 1; from_now && task <= job.tasks; ++task) {
    std::error_code code;
    const auto size = std::filesystem::file_size(job.log_of(task), code);
    if (!code) read_[static_cast<std::size_t>(task - 1)] = static_cast<std::streamoff>(size);
  }
}

void LogFollower::show(Surroundings& world) {
  if (quiet_) return;
  for (int task = 1; task <= job_.tasks; ++task) {
    std::streamoff& read = read_[static_cast<std::size_t>(task - 1)];
    std::ifstream stream(job_.log_of(task), std::ios::binary);
    stream.seekg(read);
    std::string line;
    while (std::getline(stream, line) && !stream.eof()) {  // a line without an end comes later
      read += static_cast<std::streamoff>(line.size()) + 1;
      world.err << fmt::format("task {}: {}\n", task, printable(line, 400));
    }
  }
  world.err << std::flush;
}

}  // namespace infermeter
