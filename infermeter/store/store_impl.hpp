// What the files of the store share.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/store/database.hpp"
#include "infermeter/store/schema.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {

struct Store::Impl {
  std::unique_ptr<Database> owned;
  std::string name;       // in sentences
  std::string_view flag;  // that chooses another
  bool writable = false;
  bool has_unkept_figures = false;  // in a temporary table, as the store cannot be written

  [[nodiscard]] const Database& database() const { return *owned; }
  [[nodiscard]] Error damaged(std::string_view run, const Error& why) const {
    return io_error(fmt::format("run {} in the store {} is damaged: {}", run, name, why.message));
  }
  // A row that is not as it was written.
  [[nodiscard]] Error changed(std::string_view what) const {
    return io_error(fmt::format("{} was changed after it was written: its checksum is wrong", what));
  }
  template <class... Values>
  [[nodiscard]] Result<Done> put(const SealedTable& table, std::string_view key, std::string_view run,
                                 const Values&... values) const;
  // After each change of a run or of what belongs to it, in the same transaction.
  [[nodiscard]] Result<Done> seal_run(std::string_view run) const;
  [[nodiscard]] Result<Done> remove_interrupted(std::string_view run, const SealedTable& table,
                                                std::int64_t position) const;
  [[nodiscard]] Result<std::string> find(std::string_view wanted) const;
  // The run of a baseline; nullopt: there is none of that name. An error if it is damaged.
  [[nodiscard]] Result<std::optional<std::string>> run_of_baseline(std::string_view named) const;
  [[nodiscard]] Baseline baseline_in(const Statement& row) const;    // name, run, set_at, is it changed
  [[nodiscard]] Result<Done> check_own(std::string_view run) const;  // may this user change it?
  [[nodiscard]] Result<bool> may_go(std::string_view id, Marked marked) const;
  [[nodiscard]] Result<std::string> find_own(std::string_view wanted) const;
  [[nodiscard]] Result<RunRecord> load_head(const std::string& id) const;
  [[nodiscard]] Result<std::vector<Samples>> load_trials(const std::string& id, const SealedTable& table) const;
  [[nodiscard]] Result<Done> load_outputs(RunRecord& record) const;
  [[nodiscard]] Result<Done> load_accuracy(RunRecord& record) const;
  [[nodiscard]] Result<Done> load_profiles(RunRecord& record) const;
  [[nodiscard]] Result<Done> load_traces(RunRecord& record) const;            // of its profiles
  [[nodiscard]] Result<Done> add_marks(std::vector<RunListing>& runs) const;  // tags and notes
  // Within a transaction of the caller's. In place of those that the run has.
  [[nodiscard]] Result<Done> write_figures(std::string_view run, std::span<const Figure> figures) const;
  [[nodiscard]] Result<Done> keep_aside(std::span<const Figure> figures);
};

}  // namespace infermeter
