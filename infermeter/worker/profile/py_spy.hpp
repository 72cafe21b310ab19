// PySpy: the program py-spy, beside a worker that hosts Python, from before its timed iterations until after them. It
// reads the worker's memory from outside, so that the worker is not slowed down.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/trial/sample_block.hpp"
#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/wall/private_folder.hpp"
#include "infermeter/worker/wall/spawn.hpp"
#include "infermeter/worker/wire/output_tail.hpp"

namespace infermeter {

// Beside the Python that hosts back ends, else on PATH; empty: it is not installed.
[[nodiscard]] std::filesystem::path find_py_spy(const Launcher& launcher);

// Samples a second.
inline constexpr int kPySpyRate = 100;

class PySpy {
 public:
  // All but `program` outlive it.
  PySpy(std::filesystem::path program, const SampleBlock& block) : program_(std::move(program)), block_(block) {}
  PySpy(const PySpy&) = delete;
  PySpy& operator=(const PySpy&) = delete;
  ~PySpy();

  // Whenever the watchdog wakes: does what the worker waits for. Never waits itself.
  void look(pid_t worker);
  // When the worker has ended, however: what was sampled, as collapsed stacks.
  [[nodiscard]] Result<std::string> take();

 private:
  enum class Stage { waiting, starting, sampling, ending, ended };

  [[nodiscard]] Result<Done> start(pid_t worker);
  void read_output();
  [[nodiscard]] bool has_ended(int wait_ms);
  void enter(Stage stage);
  void finish();
  void give_up(std::string why);
  [[nodiscard]] std::string last_words() const;

  std::filesystem::path program_;
  const SampleBlock& block_;
  std::optional<PrivateFolder> folder_;
  FileDescriptor output_;
  OutputTail said_;
  Child child_;
  Stage stage_ = Stage::waiting;
  double entered_s_ = 0;
  std::string why_not_;
};

}  // namespace infermeter
