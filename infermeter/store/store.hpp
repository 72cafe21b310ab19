// Store: runs, trials, raw samples and what was found, in one SQLite file (docs/store.md).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

struct RunListing {
  std::string id;
  double created_at = 0;
  bool finished = false;
  int trials_done = 0, trials_planned = 0;
  std::vector<std::string> labels;
};

class Store {
 public:
  enum class Mode { read, write };
  // `file`: results/infermeter.db. Mode::write makes folder and file; WAL, synchronous=FULL, waits up to 30 s for
  // others. Errors say which of: cannot be written (read-only), is no database or is damaged (names `sqlite3 FILE
  // .recover`), was written by a newer infermeter.
  [[nodiscard]] static Result<Store> open(const std::filesystem::path& file, Mode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Each of these is one transaction, on disk when it returns ok.
  [[nodiscard]] Result<Done> begin_run(const RunRecord& record);  // without trials
  // A trial of the same position is replaced if it was interrupted; otherwise it is an error.
  [[nodiscard]] Result<Done> add_trial(std::string_view run, const Samples& trial);
  [[nodiscard]] Result<Done> set_outputs(std::string_view run, const SubjectOutputs& outputs);
  // Keeps the record's diagnostics and `finished`; the output blocks of a finished run are dropped.
  [[nodiscard]] Result<Done> finish_run(const RunRecord& record);

  // Outputs of a subject's first trial, kept until the run is finished so that a resumed run can compare with them.
  [[nodiscard]] Result<Done> keep_output_block(std::string_view run, int subject, std::span<const std::byte> block);
  [[nodiscard]] Result<std::optional<std::vector<std::byte>>> output_block(std::string_view run, int subject);

  // `run`: an id, a unique beginning of one, or "latest".
  [[nodiscard]] Result<RunRecord> load_run(std::string_view run);
  [[nodiscard]] Result<std::vector<RunListing>> list_runs();

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace infermeter
