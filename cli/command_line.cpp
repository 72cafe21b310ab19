// The command line: finds the verb, lets it parse, does it, and turns whatever goes wrong into one sentence and an exit
// code.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "cli/completion/complete.hpp"
#include "cli/output/help.hpp"
#include "cli/surroundings.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/version.hpp"

namespace infermeter {
namespace {

constexpr auto kVerbs = std::to_array<Verb>({
    {"run", "Measure subjects: models on back ends.", declare_run, true},
    {"compare", "Decide whether one subject is faster than another.", declare_compare, true},
    {"load", "Measure response times while many requests come at once.", declare_load, true},
    {"tune", "Find the best settings of a model on this machine.", declare_tune, true},
    {"profile", "Show the time of each operator, and why one subject is slower.", declare_profile, true},
    {"import", "Read profiles or times written by other tools, and report on them.", declare_import, true},
    {"gate", "Check a run against expectations; for continuous integration.", declare_gate, true},
    {"report", "Print a stored run, in any format.", declare_report, true},
    {"runs", "List the stored runs.", declare_runs},
    {"baseline", "Name runs, so that later ones can be compared with them.", declare_baseline},
    {"store", "Copy runs from one store to another.", declare_store},
    {"history", "Show results over time, and where they changed.", declare_history, true},
    {"publish", "Write the stored runs as a static site.", declare_publish},
    {"validate", "Compare the outputs of two subjects, or with recorded outputs.", declare_validate, true},
    {"variants", "Make variants of a model (float16, int8, …), measure them, and recommend.", declare_variants, true},
    {"study", "Measure several plans for one question, with a checklist and report files.", declare_study, true},
    {"models", "List the zoo, write one of its models to a file, inspect a model file.", declare_models},
    {"backends", "List the available back ends, their libraries and options.", declare_backends},
    {"doctor", "Check whether this machine is fit for measuring, and what is missing.", declare_doctor},
    {"completion", "Print a script that makes the shell complete command lines.", declare_completion},
    {"version", "Print the version.", declare_version},
});

constexpr int kUsage = 2;

int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::model: return 3;
    case ErrorKind::worker: return 4;
    case ErrorKind::usage:
    case ErrorKind::io:
    case ErrorKind::internal: break;
  }
  return kUsage;
}

// A list of problems (diagnostics/problems.hpp) has a line for each; another line break is a name's own.
int complain(Surroundings& world, std::string_view message, int code) {
  std::string_view before = "infermeter: ";
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find("\n- ", begin), message.size());
    world.err << before << printable(message.substr(begin, end - begin), 4000) << '\n';
    before = "  ";
    begin = end + 1;
  }
  return code;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

const CLI::App& innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.back());
}

// "run", or "models show".
std::string verbs_of(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app.get_name() : app.get_name() + " " + verbs_of(*parsed.back());
}

// CLI11's own sentences do not say which name was probably meant.
std::string parse_complaint(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = innermost(app);
  const std::string help = fmt::format("see `infermeter {} --help`", verbs_of(app));
  const std::vector<std::string> extras = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || extras.empty()) {
    std::string message = error.what();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
      return fmt::format("{}: a value is missing, or there is one too many; {}", message.substr(0, message.find(':')),
                         help);
    }
    std::replace(message.begin(), message.end(), '\n', ' ');
    constexpr std::string_view conversion = "Could not convert: ", equals = " = ";
    if (const auto at = message.find(equals); message.starts_with(conversion) && at != std::string::npos) {
      return fmt::format("{}: '{}' is not a valid value; {}", message.substr(conversion.size(), at - conversion.size()),
                         message.substr(at + equals.size()), help);
    }
    return fmt::format("{}; {}", message, help);
  }
  const std::string& extra = extras.front();
  if (!extra.starts_with('-')) return fmt::format("'{}' is one argument too many; {}", extra, help);
  const std::string flag = extra.substr(0, extra.find('='));
  if (flag == "--on")
    return fmt::format("{} works on this machine alone; run, compare, load, study, variants and tune have --on",
                       verbs_of(app));
  return fmt::format("unknown flag '{}'{}; {}", flag, did_you_mean(flag, flags_of(verb)), help);
}

void declare_root(CLI::App& app) {
  for (const Verb& verb : kVerbs) app.add_subcommand(std::string(verb.name), std::string(verb.summary));
  set_help(app, {.usage = "infermeter VERB …",
                 .about = "Measures inference: speed, size and accuracy of a model on a runtime, and whether one is "
                          "better than another.",
                 .examples = {{"infermeter run resnet50@onnxruntime resnet50@openvino",
                               "Compare two runtimes on a model of the zoo."},
                              {"infermeter run --model model.onnx --backend openvino --batch-sizes 1 4 8",
                               "Measure your own model at three batch sizes."},
                              {"infermeter doctor", "See what would disturb a measurement on this machine."}},
                 .notes = {"`infermeter VERB --help` explains each.", kExitCodes}});
  app.add_flag_callback("--version", [] {}, "Print the version and exit.")->group("Help");
}

int run_verb(Surroundings& world, const Verb& verb) {
  CLI::App app{std::string(verb.summary), std::string(verb.name)};
  const Action act = verb.declare(app);
  std::string width;
  if (verb.has_tables) {
    app.add_option("--width", width, "Width of tables in columns. Default: the terminal's width, $COLUMNS, or 80.")
        ->type_name("N")
        ->group("Results");
  }
  std::vector<std::string> reversed(world.arguments.rbegin(), world.arguments.rend() - 2);
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    world.out << innermost(app).help();
    return 0;
  } catch (const CLI::ParseError& error) {
    return complain(world, parse_complaint(app, error), kUsage);
  }
  if (!width.empty()) {
    const auto columns = integer_from_string(width, kNarrowest, kWidest);
    if (!columns) return complain(world, "--width: " + columns.error().message, kUsage);
    world.width = static_cast<std::size_t>(*columns);
    world.asked_width = world.width;
  }
  const Result<int> code = act(world);
  if (code) return *code;
  const int signal = world.signal == nullptr ? 0 : world.signal->load();
  return complain(world, code.error().message, signal != 0 ? 128 + signal : exit_code_of(code.error().kind));
}

int run_root(Surroundings& world) {
  CLI::App app{"", "infermeter"};
  declare_root(app);
  const std::string first = world.arguments.size() > 1 ? world.arguments[1] : "";
  if (first == "--version") {
    world.out << "infermeter " INFERMETER_VERSION "\n";
    return 0;
  }
  if (first.empty() || first == "-h" || first == "--help" || first == "help") {
    world.out << app.help();
    return 0;
  }
  std::vector<std::string> known;
  for (const Verb& verb : kVerbs) known.emplace_back(verb.name);
  if (first.starts_with('-')) known = {"--help", "--version"};
  return complain(world,
                  fmt::format("unknown {} '{}'{}; `infermeter --help` lists them",
                              first.starts_with('-') ? "flag" : "verb", first, did_you_mean(first, known)),
                  kUsage);
}

// infermeter complete [--about] -- WORD…: for the scripts of `infermeter completion`, not for people. A line for each
// word that may come next, with --about a tab and what it is.
int run_complete(Surroundings& world) {
  std::vector<std::string> words(world.arguments.begin() + 2, world.arguments.end());
  const bool about = !words.empty() && words.front() == "--about";
  if (about) words.erase(words.begin());
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  for (const Candidate& each : candidates(world, kVerbs, std::move(words))) {
    world.out << printable(each.word);
    if (about && !each.about.empty()) world.out << '\t' << printable(each.about);
    world.out << '\n';
  }
  return 0;
}

// infermeter manual-page [VERB]: for the installation.
int run_manual_page(Surroundings& world) {
  CLI::App root{"", "infermeter"};
  declare_root(root);
  const std::string name = world.arguments.size() > 2 ? world.arguments[2] : "";
  const auto verb = std::ranges::find(kVerbs, name, &Verb::name);
  if (verb == kVerbs.end()) {
    world.out << manual_page(root, {"infermeter", "a meter for inference"});
    return 0;
  }
  CLI::App app{std::string(verb->summary), std::string(verb->name)};
  const Action act = verb->declare(app);
  world.out << manual_page(app, {"infermeter-" + name, std::string(verb->summary)});
  return 0;
}

// What was promised on standard output must be there: a full disk is an error, not a success without a report.
int flushed(Surroundings& world, int code) {
  world.out.flush();
  if (world.out.good() || (world.reader_is_gone && world.reader_is_gone())) return code;
  return complain(world, "the results could not be written to standard output (is the disk full?)", kUsage);
}

}  // namespace

int run_command_line(Surroundings& world) {
  // `help run` is `run --help`.
  if (world.arguments.size() > 2 && world.arguments[1] == "help") {
    world.arguments.erase(world.arguments.begin() + 1);
    world.arguments.emplace_back("--help");
  }
  const std::string first = world.arguments.size() > 1 ? world.arguments[1] : "";
  const auto verb = std::ranges::find(kVerbs, first, &Verb::name);
  try {
    if (first == "complete") return flushed(world, run_complete(world));
    if (first == "manual-page") return flushed(world, run_manual_page(world));
    return flushed(world, verb == kVerbs.end() ? run_root(world) : run_verb(world, *verb));
  } catch (const std::bad_alloc&) {
    throw;                                 // main reports it, without memory
  } catch (const std::exception& error) {  // of CLI11's or the standard library
    return complain(world, fmt::format("stopped by an unexpected error: {}", error.what()), kUsage);
  }
}

}  // namespace infermeter
