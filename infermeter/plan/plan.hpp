// Plan: all trials to be run, in their order, with their limits. A pure value made from flags or a TOML file;
// nothing here touches a file, a clock or a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/text/nearest.hpp"

namespace infermeter {

// The precision in which the float32 parts of a model are to be executed.
enum class Precision { float32, float16, bfloat16 };
[[nodiscard]] std::string_view to_string(Precision precision);
[[nodiscard]] Result<Precision> precision_from_string(std::string_view name);

// Is this what a kind of device is called, whether or not there is one here? Such a name is no slip of the pen.
[[nodiscard]] bool is_kind_of_device(std::string_view name);

using Pairs = std::vector<std::pair<std::string, std::string>>;

// One thing to be measured.
struct Subject {
  std::string label{};          // unique in its plan; shown everywhere
  std::string model{};          // as asked for: a name from the zoo, a path, or code (plan/subject.hpp: is_factory)
  std::string backend{};        // "onnxruntime"
  std::string device = "auto";  // auto, cpu, cuda, mps, tpu, …
  Precision dtype = Precision::float32;
  std::int64_t batch_size = 1;  // items per inference: the size of each input's batch axis
  int threads = 0;              // intra-operator threads; 0: as many as the plan's CPU set has
  Pairs dimensions{};           // values of named dynamic dimensions: height=512
  Pairs batch_axes{};           // which dimension of an input is the batch: x=1, h=none, =none of all (batch_axis.hpp)
  Pairs options{};              // the back end's own options: graph_optimization=basic
  Pairs load{};                 // how requests arrive (plan/load/load_shape.hpp); empty: one inference after the other
  Pairs environment{};          // variables of its worker, beside those that every worker gets: LD_LIBRARY_PATH=/opt/x
  std::string backend_library{};  // the runtime's shared library; empty: found by the search order of docs/abi.md
  // Subjects of one group are compared with the group's first one (times, memory, outputs).
  int group = 0;
};

// When a trial stops iterating: after `iterations`, or after `duration_s` of timed inferences (at least one), or
// whichever comes first.
struct Stopping {
  std::int64_t warmup = 10;                      // untimed inferences after the first
  std::optional<std::int64_t> iterations = 100;  // a plan sets exactly one of the two
  std::optional<double> duration_s{};
  // The first inference is timed and counted like the others: for work that begins from nothing each time. Then there
  // is no warm-up.
  bool count_first = false;
};

// What is left to pilot processes, which run before the trials and never count among them (docs/methodology.md). Until
// they have told, and where they cannot, Stopping's own figures hold.
struct Automatic {
  bool warmup = false, iterations = false;
  // As many rounds (one process of each subject) as it takes, at most Plan::processes: until every answer is decided or
  // known within Plan::precision, or another round would take longer than Plan::budget_s. Not with a question, which
  // ends trials by itself.
  bool processes = false;
};

// A question to be answered: is each subject slower or faster than the first, by more than a margin?
struct Question {
  std::string metric = "latency_p50";  // one that has a value per process; the primary one
  double margin = 0.01;                // differences below this share do not matter
  double alpha = 0.05;
  bool until_resolved = false;       // look after every pair, however long it takes; otherwise after 8, 16, 24, …
  bool all_pairs = false;            // measure all pairs and look once, at the end
  bool drop_disturbed = false;       // leave out pairs in which a worker was throttled, robbed or crowded out
  std::optional<double> budget_s{};  // no new pair after so long; counted from the first pair
  // What the exit code says besides: 1 if a candidate is slower, 5 if that cannot be determined.
  bool fail_slower = false, fail_inconclusive = false;
};

// A race for the best subject (docs/methodology.md, Tuning). The first subject is the default setting: what the
// best one gains against it is reported.
struct Tuning {
  std::string objective = "latency_p50";   // a metric that has a value per process, or "model_size"
  std::vector<std::string> constraints{};  // as in gates: "latency_p99 <= 50ms"
  double indifference = 0.02;              // smaller differences do not matter
  double alpha = 0.05;                     // of the whole race
  double budget_s = 900;                   // pilots, race and confirmation
  int halving_blocks = 0;                  // that halve the field before the race; 0: all subjects race
  int race_blocks = 60;                    // at most
  int confirmation_pairs = 10;             // blocks of the default, the best and the second, after the race
  std::uint64_t settings = 0;              // of the whole space; more than there are subjects: those were drawn from it
  Pairs left_out{};                        // settings that are not among the subjects, and why
};

// How stacks are sampled while a profile trial runs its timed iterations. automatic: from outside, by frame pointers,
// and by signals where the kernel does not let us; dwarf: with 8 kB of stack each, unwound afterwards.
enum class StackSampling { automatic, dwarf, off };
[[nodiscard]] std::string_view to_string(StackSampling sampling);
[[nodiscard]] Result<StackSampling> stack_sampling_from_string(std::string_view name);

// What looks at the Python code of a back end that is written in Python, in profile trials. cProfile and pyinstrument
// slow Python down threefold.
enum class PythonProfiler { off, py_spy, cprofile, pyinstrument };
[[nodiscard]] std::string_view to_string(PythonProfiler profiler);
[[nodiscard]] Result<PythonProfiler> python_profiler_from_string(std::string_view name);

// Trials that tell which operator takes how long. They are processes of their own, after the timed ones and in the same
// order of blocks, and no figure of speed is made from them.
struct Profiling {
  int processes = 0;  // per subject; 0: no profile
  std::int64_t iterations = 20;
  StackSampling stacks = StackSampling::automatic;
  PythonProfiler python = PythonProfiler::off;
};
inline constexpr int kProfileProcesses = 8;  // where a profile is asked for and no number is

struct Limits {
  double load_timeout_s = 300;           // from the worker's start to the end of the first inference
  double run_timeout_s = 600;            // from there to the trial's end
  std::uint64_t memory_limit_bytes = 0;  // resident set of the worker; 0: 80 % of what is available at the start
};

// How samples that look like outliers are treated. Never dropped unless the user asks for it (docs/methodology.md).
struct OutlierRule {
  enum class Kind { none, sigma, iqr, mad };
  Kind kind = Kind::none;
  double factor = 0;  // multiples of the standard deviation, of the interquartile range, of the scaled MAD
};
// "none", "sigma:3", "iqr:1.5", "mad:3.5"
[[nodiscard]] Result<OutlierRule> outlier_rule_from_string(std::string_view text);
[[nodiscard]] std::string to_string(const OutlierRule& rule);

enum class Sandbox { automatic, strict, off };
[[nodiscard]] std::string_view to_string(Sandbox sandbox);
[[nodiscard]] Result<Sandbox> sandbox_from_string(std::string_view name);
[[nodiscard]] bool is_weaker(Sandbox one, Sandbox other);

// Where input bytes come from: "synthetic", or a path (.npy, .npz, a folder of images, an ONNX test_data_set folder).
struct DataRequest {
  std::string source = "synthetic";
  // Per input (empty name: all): "uniform:-1:1", "normal:0:1", "integers:0:255", "zeros", "ones".
  Pairs distributions{};
  std::int64_t limit = 0;  // at most so many items; 0: all
  std::uint64_t seed = 1;  // of synthetic inputs: runs have the same bytes unless another is given
  std::string labels{};    // a file that says what is right (data/data_set.hpp); empty: the source's own labels
};

// One worker process to come: which subject, and which of its processes (0 … processes-1).
struct PlannedTrial {
  std::size_t subject = 0;
  int process = 0;
};

struct Plan {
  std::vector<Subject> subjects{};
  int processes = 3;  // worker processes per subject: the replications; with a question, the most pairs
  Stopping stopping{};
  Automatic automatic{};
  double precision = 0.02;           // differences and intervals within this share are small enough
  std::optional<double> budget_s{};  // of all timed trials; with automatic processes only
  // So many blocks are measured again where other work disturbed them (verdict/rounds/blocks.hpp); 0: none.
  int repeat_disturbed = 0;
  std::optional<Question> question{};  // trials end when it is answered
  // Blocks: those that halve the field, those of the race, those that confirm; `processes` is their sum.
  std::optional<Tuning> tuning{};
  // One more process per subject, which looks at its memory after each of so many iterations; 0: none.
  std::int64_t leak_iterations = 0;
  Profiling profiling{};
  Limits limits{};
  // Of the order of trials and of the size of each worker's environment. nullopt: drawn when the run begins, which
  // records it.
  std::optional<std::uint64_t> seed{};
  DataRequest data{};
  OutlierRule outliers{};
  Sandbox sandbox = Sandbox::automatic;
  bool compare_outputs = true;
  std::vector<int> cpus{};  // processors that workers may use; empty: all that we may use
  std::string output_dir = "results";
  // Where runs are stored (docs/store.md): a database or a file; empty: OUTPUT_DIR/infermeter.db. No part of what is
  // measured: neither stored nor reported.
  std::string store{};
  std::string backend_path{};  // an extra folder of plug-ins
  // May files that are code by nature (.pt, pickles) be loaded, and code that a file names? Said on the command line or
  // by a program, never by a plan file or a store: they may come from the same hand as the model.
  bool allow_code = false;
  // Filled by `order_trials`: blocks of all subjects, in an order by the seed.
  std::vector<PlannedTrial> order{};
};

// Fills plan.order, the seed being 0 where none is drawn yet. With a question, and in a race, each block is a
// permutation of its own, independent of all others: for any two subjects a fair coin, which is what makes the test of
// their pairs exact. Else as many blocks as there are subjects form a Latin square in random order, in which each
// subject has each place of a block once and, where their number is even, follows each other subject once (Williams
// 1949). A plan with more processes begins with the same trials.
void order_trials(Plan& plan);

// How many pilot processes each subject gets: none if nothing is automatic, one to see where warm-up ends, five where a
// question wants to know how much processes differ.
[[nodiscard]] int pilot_processes(const Plan& plan);

// The subject that `subject` is compared with: the first one of its group, which may be itself.
[[nodiscard]] std::size_t first_of_group(const Plan& plan, std::size_t subject);

// Everything that can be known to be wrong without looking at a machine: zero iterations, batch 0, negative times,
// labels that occur twice, no subjects.
[[nodiscard]] Result<Done> check_plan(const Plan& plan);
[[nodiscard]] Result<Done> check_levels(const Question& question);  // margin and alpha

}  // namespace infermeter
