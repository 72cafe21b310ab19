// WorkerProcess: one running worker, as its launcher holds it. Killed and reaped with its owner at the latest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/wall/private_folder.hpp"
#include "infermeter/worker/wall/process_tree.hpp"
#include "infermeter/worker/wall/spawn.hpp"
#include "infermeter/worker/wall/supervisor.hpp"
#include "infermeter/worker/wire/frames.hpp"
#include "infermeter/worker/wire/output_tail.hpp"
#include "infermeter/worker/worker_program.hpp"

namespace infermeter {

using WorkerEnd = SupervisorReport;

class WorkerProcess {
 public:
  struct Request {
    WorkerProgram program;
    std::vector<int> cpus;
    std::uint64_t seed = 0;
    std::vector<std::pair<std::string, std::string>> variables{};  // beat what every worker gets
    int block = -1;
  };
  [[nodiscard]] static Result<WorkerProcess> start(const Request& request);
  WorkerProcess(WorkerProcess&&) noexcept = default;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }  // its current one
  [[nodiscard]] pid_t pid() const { return child_.pid; }
  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] int output() const { return output_.get(); }  // -1 when it has been closed
  [[nodiscard]] int pidfd() const { return child_.pidfd.get(); }
  [[nodiscard]] FrameReader& frames() { return frames_; }
  [[nodiscard]] OutputTail& tail() { return tail_; }
  // Of all its processes (ProcessTree).
  [[nodiscard]] std::optional<std::uint64_t> resident_bytes(std::uint64_t own_bytes, std::uint64_t limit) {
    return tree_.resident_bytes(own_bytes, limit);
  }
  [[nodiscard]] ProcessTree& tree() { return tree_; }

  void read_output();
  void kill() const;  // it and whatever it has started, in whatever session
  // Only when it has ended, or been killed: waits for that.
  WorkerEnd reap();

 private:
  WorkerProcess(PrivateFolder folder, FileDescriptor socket, FileDescriptor output, Child child)
      : folder_(std::move(folder)),
        socket_(std::move(socket)),
        output_(std::move(output)),
        child_(std::move(child)),
        tree_(child_.pid, child_.supervisor, folder_.path()) {}

  PrivateFolder folder_;
  FileDescriptor socket_, output_;
  Child child_;
  ProcessTree tree_;
  FrameReader frames_;
  OutputTail tail_;
};

}  // namespace infermeter
