// JitMapFile: where code generators tell the names of what they generate, as `perf` reads it: /tmp/perf-PID.map, a path
// that oneDNN has no option for. The launcher makes the file, the worker may write to it and to nothing beside it, and
// it is deleted with its owner.
#pragma once

#include <sys/types.h>

#include <string>

#include "infermeter/worker/wall/file_descriptor.hpp"

namespace infermeter {

class JitMapFile {
 public:
  JitMapFile() = default;
  // Nothing (no path) where the file cannot be made. One that is there already, of a process that had this number
  // before, is not ours and stays.
  explicit JitMapFile(pid_t process);
  JitMapFile(JitMapFile&& other) noexcept;
  JitMapFile& operator=(JitMapFile&&) = delete;
  ~JitMapFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  // What was written so far, of the file that was made and no other; at most 64 MiB.
  [[nodiscard]] std::string read() const;

 private:
  std::string path_;
  FileDescriptor file_;
};

}  // namespace infermeter
