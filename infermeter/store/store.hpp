// Store: runs, trials, raw samples and what was found, in one SQLite file or in a PostgreSQL database (docs/store.md);
// and what later runs are compared with: baselines, the machines' noise, the figures of a history.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/store/store_place.hpp"
#include "infermeter/verdict/figures.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

struct RunListing {
  std::string id;
  double created_at = 0;
  bool finished = false;
  int trials_done = 0, trials_planned = 0;
  std::vector<std::string> labels;
  std::string part_of{};            // RunRecord::part_of
  std::vector<std::string> tags{};  // by name
  std::string note{};
  std::string damage{};  // a sentence: why none of this can be relied on but the id; empty: all can
};

// Which runs go, of those that nobody holds: what is a baseline's, tagged, or being measured stays.
struct PruneQuery {
  std::optional<int> keep;       // so many of the newest stay
  std::optional<double> before;  // those that began later stay; seconds since 1970, UTC
};

// A name for a run, so that others can be compared with it.
struct Baseline {
  std::string name, run;
  double set_at = 0;   // seconds since 1970, UTC
  std::string damage;  // what is damaged, as a sentence; empty: nothing
};

// Which figures are wanted. What is not given does not restrict.
struct FigureQuery {
  std::string metric;
  std::optional<std::string> series, machine;
  double since = 0;  // of runs that began then or later; seconds since 1970, UTC
};

// A series that there is on one machine.
struct SeriesListing {
  std::string series, machine;
  std::vector<std::string> labels;  // that its subjects had, each once
};

// What became of a run that was copied.
enum class Copied {
  whole,     // it was not there
  extended,  // what was missing of it was added
  there_already,
};

// Held while a run is measured, so that no other infermeter resumes it. Ends with the process, however that ends.
class RunLock {
 private:
  friend class Store;
  explicit RunLock(std::shared_ptr<void> held) : held_(std::move(held)) {}
  std::shared_ptr<void> held_;
};

class Store {
 public:
  // write_if_possible: a store that is there, opened as with `write`; as with `read` where nothing can be written.
  enum class Mode { read, write, write_if_possible };
  // `place`: results/infermeter.db, or a database (StorePlace::from_text). Mode::write makes folder and file, or the
  // schema `infermeter` of the database; waits up to 30 s for others. Errors say which of: cannot be reached, cannot be
  // written (read-only, no rights), is no database or is damaged (names `sqlite3 FILE .recover`), is another program's,
  // was written by a newer infermeter. `interrupt`, which must outlive the store, is the number of signals that came:
  // one ends a wait for others with an error.
  [[nodiscard]] static Result<Store> open(const StorePlace& place, Mode mode,
                                          const std::atomic<int>* interrupt = nullptr);
  // The store of a plan's runs (store_place).
  [[nodiscard]] static Result<Store> open(const Plan& plan, Mode mode, const std::atomic<int>* interrupt = nullptr);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // So many signals have been heard, and what they asked for is being done: only a further one ends a wait.
  void have_heard(int interrupts);

  // Each of these is one transaction: on disk, in the file that the path names or in the database, when it returns ok.
  // All that `changes` does to this store is one transaction; none of it is kept if it fails.
  [[nodiscard]] Result<Done> together(const std::function<Result<Done>()>& changes);
  [[nodiscard]] Result<Done> begin_run(const RunRecord& record);  // without trials
  // A trial of the same position is replaced if it was interrupted; otherwise it is an error.
  [[nodiscard]] Result<Done> add_trial(std::string_view run, const Samples& trial);
  [[nodiscard]] Result<Done> set_outputs(std::string_view run, const SubjectOutputs& outputs);
  [[nodiscard]] Result<Done> set_accuracy(std::string_view run, const SubjectAccuracy& accuracy);
  [[nodiscard]] Result<Done> add_profile(std::string_view run, const OperatorProfile& profile);
  [[nodiscard]] Result<Done> add_stacks(std::string_view run, const TrialStacks& stacks);
  [[nodiscard]] Result<Done> set_peaks(std::string_view run, const MachinePeaks& peaks);
  [[nodiscard]] Result<Done> set_models(std::string_view run, const std::vector<ModelFacts>& models);
  [[nodiscard]] Result<Done> set_environment(std::string_view run, const Environment& environment);
  // A timed trial that is to be measured again; no error if it is not there.
  [[nodiscard]] Result<Done> remove_trial(std::string_view run, int position);
  [[nodiscard]] Result<Done> set_diagnostics(std::string_view run, const std::vector<Diagnostic>& diagnostics);
  // Keeps the record's diagnostics and `finished`. Of a finished run the output blocks are dropped, and the figures are
  // kept, and the machine's noise if it shows that.
  [[nodiscard]] Result<Done> finish_run(const RunRecord& record);

  // The connection to a database was lost: nothing can be kept here any more.
  [[nodiscard]] bool is_lost() const;
  // A run of another store, row by row, with all that belongs to it; of one that is here, what is missing. An error if
  // it is another run of that id, or if a trial of it differs: nothing of it is copied then.
  [[nodiscard]] Result<Copied> copy_run(Store& from, std::string_view id);
  // copy_run would copy nothing. False as well where that cannot be said.
  [[nodiscard]] bool has_all_of(Store& from, std::string_view id);
  // Names of runs that both stores have, but for `refused`, which copy_run did not take. Those that name another run
  // here are left as they are, and returned.
  [[nodiscard]] Result<std::vector<Baseline>> copy_baselines(Store& from, std::span<const std::string> refused = {});
  // What there is of an unfinished run, where its own store is lost: it is begun here, or what is missing is added.
  [[nodiscard]] Result<Done> keep_so_far(const RunRecord& record);

  // A run in which nothing could be measured as asked: nothing of it is left.
  [[nodiscard]] Result<Done> remove_run(std::string_view run);

  // All that belongs to these runs (`runs` as for load_run) goes, or, where one may not go, none of it: one that a
  // baseline names, that is being measured, or that somebody else wrote. The ids of what has gone.
  [[nodiscard]] Result<std::vector<std::string>> delete_runs(const std::vector<std::string>& runs);
  // Which runs `prune_runs` would delete, the oldest first; none that is damaged.
  [[nodiscard]] Result<std::vector<RunListing>> prunable(const PruneQuery& query);
  // Their ids. What others tag, make a baseline or go on with meanwhile stays.
  [[nodiscard]] Result<std::vector<std::string>> prune_runs(const PruneQuery& query);
  // Gives a file's free space back. Nothing of a database, which does so by itself; an error if others write just now.
  [[nodiscard]] Result<Done> shrink();
  // Tags are words of 1 to 100 bytes of UTF-8 without blanks and control characters; a run has each once.
  [[nodiscard]] Result<std::string> tag_run(std::string_view run, const std::vector<std::string>& tags);  // its id
  [[nodiscard]] Result<std::string> untag_run(std::string_view run, const std::vector<std::string>& tags);
  // In place of the one that the run has; none if it is empty. At most 10,000 bytes of UTF-8.
  [[nodiscard]] Result<std::string> set_note(std::string_view run, std::string_view note);

  // Outputs of a subject's first trial, kept until the run is finished so that a resumed run can compare with them.
  [[nodiscard]] Result<Done> keep_output_block(std::string_view run, int subject, std::span<const std::byte> block);
  [[nodiscard]] Result<std::optional<std::vector<std::byte>>> output_block(std::string_view run, int subject);

  // `id`: of a run, which need not be in the store yet. An error if another infermeter has it, or another thread.
  [[nodiscard]] Result<RunLock> lock_run(std::string_view id);
  [[nodiscard]] bool is_being_measured(std::string_view id) const;
  [[nodiscard]] Result<std::string> latest_unfinished();  // its id; of those that nobody is measuring

  // `run`: an id, a unique beginning of one, "latest", "previous", or the name of a baseline.
  [[nodiscard]] Result<std::string> id_of_run(std::string_view run);
  [[nodiscard]] Result<RunRecord> load_run(std::string_view run);
  [[nodiscard]] Result<std::vector<RunListing>> list_runs();  // the oldest first; damaged ones say so
  // The last finished run before this one that has the same labels; nullopt: there is none, or it cannot be read.
  [[nodiscard]] Result<std::optional<RunRecord>> earlier_run(const RunRecord& run);

  // `run` as for load_run; a finished one. Replaces the baseline of that name and returns what is kept. Names are UTF-8
  // of 1 to 100 bytes without control characters, and mean no run by themselves ("latest", the beginning of an id).
  [[nodiscard]] Result<Baseline> set_baseline(std::string_view name, std::string_view run, double set_at);
  [[nodiscard]] Result<std::vector<Baseline>> baselines();                // by name; damaged ones say so
  [[nodiscard]] Result<std::string> baseline_run(std::string_view name);  // the run's id
  [[nodiscard]] Result<Done> remove_baseline(std::string_view name);

  // `machine`: machine_fingerprint. `run`: the id of the run that showed it.
  [[nodiscard]] Result<Done> keep_noise(std::string_view machine, std::string_view run, const MachineNoise& noise);
  [[nodiscard]] Result<std::optional<MachineNoise>> latest_noise(std::string_view machine);

  // Runs that an older infermeter finished have no figures: this makes them, and keeps them where the store can be
  // written. To be called before the figures are read.
  struct Completion {
    int completed = 0;
    std::vector<std::string> unreadable;  // ids of runs that are damaged
  };
  [[nodiscard]] Result<Completion> complete_figures();
  // By series, machine and date; those of one second in the order in which they came.
  [[nodiscard]] Result<std::vector<Figure>> figures(const FigureQuery& query);
  // By series and machine; the query's own series and machine restrict as well.
  [[nodiscard]] Result<std::vector<SeriesListing>> list_series(const FigureQuery& query);
  // Those of the query, by fingerprint.
  [[nodiscard]] Result<std::vector<MachineName>> list_machines(const FigureQuery& query);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  [[nodiscard]] Result<Copied> copy_rows(Store& from, std::string_view id);
  // From the records of these runs. An error if one cannot be read.
  [[nodiscard]] Result<std::vector<Figure>> figures_again(const FigureQuery& query, std::span<const std::string> runs);
  enum class Marked { are_refused, stay };  // when runs go, those that a baseline names; tagged ones may only stay
  [[nodiscard]] Result<std::vector<std::string>> delete_together(std::span<const std::string> ids, Marked marked);
  [[nodiscard]] Result<std::vector<std::string>> delete_all(std::span<const std::string> ids, Marked marked);
  std::unique_ptr<Impl> impl_;
};

}  // namespace infermeter
