// infermeter import: profiles that other tools wrote, as a run.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/flags/plan_flags.hpp"
#include "cli/measure_plan.hpp"
#include "cli/output/help.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/importing/times.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/text/shell_quote.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kImportedOperatorsShown = 25;

struct ImportOptions {
  std::vector<std::string> files, compiled;
  std::string model;
  std::int64_t batch_size = 1;
  SomeFlags flags;
  ReportOutput output;
  bool quiet = false;
};

HelpText import_help() {
  return {
      .usage = "infermeter import FILE… [flags]",
      .about =
          "Reads profiles or times written by other tools and makes a run of them. Of profiles the report is that of "
          "`infermeter profile`: the time of each operator, the nodes of the model that they belong to, and why one is "
          "slower than the other. Times are judged as those of `infermeter run`, as far as the file allows. It reads "
          "hyperfine's --export-json, Google Benchmark's JSON, criterion's sample.json, pytest-benchmark's JSON "
          "(--benchmark-save-data), perf_analyzer's --profile-export-file, AIPerf's profile_export.jsonl and trtexec's "
          "--exportTimes; ONNX Runtime's "
          "profile (SessionOptions.enable_profiling), torch.profiler's trace "
          "(export_chrome_trace), OpenVINO's counters (benchmark_app -report_type average_counters), operators.json "
          "(docs/abi.md), and call stacks: what `perf script` prints, and collapsed stacks (py-spy, FlameGraph). The "
          "format is detected from the contents, not from the name. Files may be compressed with gzip.",
      .examples = {{"infermeter import onnxruntime_profile.json",
                    "The slowest operators of a session profiled by ONNX Runtime."},
                   {"infermeter import onnxruntime_profile.json --model model.onnx --compiled optimized.onnx",
                    "The same, with the nodes of the model and their floating-point operations."},
                   {"infermeter import before=a1.json,a2.json,a3.json after=b1.json,b2.json,b3.json --html why.html",
                    "Why one is slower than the other: three processes of each, for intervals."},
                   {"infermeter import hyperfine.json", "Which command is faster, and how sure that is."},
                   {"infermeter import base=base1.json,base2.json,base3.json head=head1.json,head2.json,head3.json",
                    "Results of Google Benchmark: three processes of each side, each benchmark against itself."},
                   {"infermeter import trace.json.gz --format markdown", "A trace of PyTorch, for a pull request."}},
      .notes = {
          "Of times, each run of a command by hyperfine is a process; the files of other tools are a process each, "
          "so that an interval needs two of them (LABEL=FILE,FILE). Benchmarks of the same name are compared across "
          "subjects, the commands of one hyperfine file with the first one.",
          "All times come from the files. Nothing is measured, so there is no p50 without the profiler, no "
          "roofline and no machine. Of profiles the faster half of the iterations of each file counts, as in "
          "`infermeter profile`.",
          "The run is stored like any other: `infermeter report latest --profile-files FOLDER` writes it for "
          "Perfetto and for flame graphs.",
          kExitCodes}};
}

Result<int> import_action(Surroundings& world, const ImportOptions& options) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  ReportOutput output = options.output;
  INFERMETER_TRY(const Format format, output.settle(draft));
  Problems problems;
  output.check(problems, draft.plan.output_dir);
  problems.take(check_folder_to_be("--output-dir", draft.plan.output_dir));
  INFERMETER_TRY_DONE(problems.result("nothing was read"));
  if (options.batch_size < 1) return usage_error("--batch-size: at least 1 item is in an inference");
  ImportRequest request{.subjects = {},
                        .model = options.model,
                        .batch_size = options.batch_size,
                        .cache = default_cache(),
                        .output_dir = draft.plan.output_dir,
                        .store = draft.plan.store,
                        .command = shell_quoted(world.arguments)};
  INFERMETER_TRY(request.subjects, import_subjects(options.files, options.compiled));
  INFERMETER_TRY(RunRecord imported, import_files(request));
  const MeasuredPlan kept{.record = std::move(imported), .csv = {}};
  const RunRecord& record = kept.record;
  const Verdict verdict = judge(record);
  Problems unwritten;
  unwritten.take(output.write(world, record, verdict, format));
  unwritten.take(output.write_page(world, record, verdict, options.quiet));
  say_where(world, kept, options.quiet ? Verbosity::quiet : Verbosity::usual);
  return unless_unwritten(unwritten, verdict.exit_code);
}

}  // namespace

Action declare_import(CLI::App& app) {
  auto options = std::make_shared<ImportOptions>();
  options->output.operators = kImportedOperatorsShown;
  set_help(app, import_help());
  app.add_option(
         "FILE", options->files,
         "Profiles or times, each a subject; LABEL=FILE,FILE,…: several processes of one. The first subject is the "
         "baseline.")
      ->type_name("")
      ->required()
      ->group("Files");
  app.add_option("--model", options->model,
                 "The ONNX file that was run, or a name from the zoo; gives the nodes and their work.")
      ->type_name("MODEL")
      ->group("Files");
  app.add_option("--batch-size", options->batch_size, "Items per inference, where the model leaves it open.")
      ->type_name("N")
      ->capture_default_str()
      ->group("Files");
  app.add_option("--compiled", options->compiled,
                 "The graph optimised by ONNX Runtime (optimized_model_filepath): types, inputs and outputs of its "
                 "operators. LABEL=FILE with several subjects.")
      ->type_name("FILE")
      ->group("Files");
  options->flags.declare(app, {"output_dir", "store", "format"});
  options->output.declare(app);
  app.add_flag("-q,--quiet", options->quiet, "Print only the report.")->group("Results");
  return [options](Surroundings& world) { return import_action(world, *options); };
}

}  // namespace infermeter
