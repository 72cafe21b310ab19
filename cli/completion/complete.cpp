#include "cli/completion/complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "cli/flags/find_study.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/output/report_output.hpp"
#include "infermeter/models/cache.hpp"
#include "infermeter/models/zoo/zoo.hpp"
#include "infermeter/plan/tuning/space.hpp"
#include "infermeter/run/check.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {
namespace {

using Candidates = std::vector<Candidate>;

// The first sentence of a description.
std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text.substr(0, text.find_last_not_of('.') + 1) : text.substr(0, end);
}

std::string beside(std::string_view before, std::string_view after) { return std::string(before) + std::string(after); }

// "table (default), json, csv, markdown." -> those words. Descriptions that say something else have none.
std::vector<std::string> listed_choices(std::string_view description) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  std::vector<std::string> choices;
  const std::size_t colon = description.find(": ");
  if (colon != std::string_view::npos && colon < description.find('.')) description.remove_prefix(colon + 2);
  std::size_t at = 0;
  while (true) {
    const std::size_t end = std::min(description.find_first_not_of(letters, at), description.size());
    if (end == at) return {};
    choices.emplace_back(description.substr(at, end - at));
    std::string_view rest = description.substr(end);
    if (constexpr std::string_view mark = " (default)"; rest.starts_with(mark)) rest.remove_prefix(mark.size());
    constexpr std::array<std::string_view, 3> between = {", ", " or ", "; "};
    const auto found = std::ranges::find_if(between, [&](std::string_view each) { return rest.starts_with(each); });
    if (rest.empty() || rest.front() == '.' || (found != between.end() && *found == "; "))
      return choices.size() > 1 ? choices : std::vector<std::string>();
    if (found == between.end()) return {};
    at = static_cast<std::size_t>(rest.data() - description.data()) + found->size();
  }
}

// --- what there is -------------------------------------------------------------------------------------------------

class Known {
 public:
  Known(const Surroundings& world, const std::vector<std::string>& words) : world_(world), words_(words) {}

  // Models of the zoo, each with what follows the name.
  [[nodiscard]] static Candidates models(std::string_view before = "", std::string_view after = "") {
    Candidates all;
    for (const ZooModel& model : zoo())
      all.push_back({beside(before, beside(model.name, after)), std::string(model.description)});
    return all;
  }

  [[nodiscard]] Candidates backends(std::string_view before = "") const {
    Candidates all;
    if (const auto launcher = find_launcher(value_of("--backend-path")))
      for (const std::string& name : backend_names(*launcher)) all.push_back({beside(before, name), ""});
    return all;
  }

  // Of one back end, with those that every subject has.
  [[nodiscard]] Candidates options(const std::string& backend, std::string_view before) const {
    Candidates all;
    for (const auto& [key, about] :
         {std::pair("batch=", "items at once"), std::pair("device=", "cpu, cuda, …"),
          std::pair("dtype=", "float32, float16, bfloat16"), std::pair("threads=", "of the runtime")})
      all.push_back({beside(before, key), about});
    for (const BackendOption& option : info_of(backend).options)
      all.push_back({beside(before, option.key + "="), first_sentence(printable(option.help))});
    return all;
  }

  [[nodiscard]] Candidates values(const std::string& backend, const std::string& key, std::string_view before) const {
    const BackendInfo info = info_of(backend);
    Candidates all;
    const auto add = [&](const std::vector<std::string>& words) {
      for (const std::string& word : words) all.push_back({beside(before, word), ""});
    };
    if (key == "device") add(info.devices);
    if (key == "dtype") add(info.dtypes);
    for (const BackendOption& option : info.options)
      if (option.key == key) add(closed_list(option.values));
    return all;
  }

  [[nodiscard]] Candidates runs() const {
    Candidates all{{"latest", "the run that was begun last"}, {"previous", "the one before it"}};
    auto store = opened_store();
    if (!store) return all;
    for (Candidate& baseline : baselines_in(*store))
      all.push_back({std::move(baseline.word), "baseline: " + baseline.about});
    if (const auto listed = store->list_runs())
      for (const RunListing& run : *listed) all.push_back({run.id, fmt::format("{}", fmt::join(run.labels, " "))});
    return all;
  }

  [[nodiscard]] Candidates baselines() const {
    auto store = opened_store();
    return store ? baselines_in(*store) : Candidates();
  }

 private:
  [[nodiscard]] Result<Store> opened_store() const { return Store::open(place(), Store::Mode::read, world_.interrupt); }

  // Each with its run.
  [[nodiscard]] static Candidates baselines_in(Store& store) {
    Candidates all;
    if (const auto named = store.baselines())
      for (const Baseline& baseline : *named)
        if (baseline.damage.empty()) all.push_back({baseline.name, baseline.run});
    return all;
  }

  // What stands behind a flag, or behind its '='.
  [[nodiscard]] std::string value_of(const std::string& flag) const {
    for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
      if (words_[i] == flag) return words_[i + 1];
      if (words_[i].starts_with(flag + "=")) return words_[i].substr(flag.size() + 1);
    }
    return {};
  }

  // A plan of which only where its runs are stored is said.
  [[nodiscard]] Plan place() const {
    const auto draft = ambient_draft(world_);
    Plan plan = draft ? draft->plan : Plan();
    if (std::string asked = value_of("--output-dir"); !asked.empty()) plan.output_dir = std::move(asked);
    if (std::string asked = value_of("--store"); !asked.empty()) plan.store = std::move(asked);
    return plan;
  }

  [[nodiscard]] BackendInfo info_of(const std::string& backend) const {
    const auto launcher = find_launcher(value_of("--backend-path"));
    if (!launcher) return {};
    const std::vector<std::string> names = backend_names(*launcher);
    if (std::ranges::find(names, backend) == names.end()) return {};
    return probe_backend(*launcher, backend, "", {.interrupt = world_.interrupt, .cache = default_cache()});
  }

  const Surroundings& world_;
  const std::vector<std::string>& words_;
};

// "fast=resnet50@openvino,threads=2": what is being written is a model, a back end, the key or the value of an option.
Candidates subjects(const Known& known, const std::string& word) {
  const std::size_t at = word.rfind('@');
  if (at == std::string::npos) {
    const std::size_t label = word.find('=');
    return Known::models(label == std::string::npos ? "" : word.substr(0, label + 1), "@");
  }
  const std::size_t comma = word.rfind(',');
  if (comma == std::string::npos || comma < at) return known.backends(word.substr(0, at + 1));
  const std::string backend = word.substr(at + 1, word.find(',', at) - at - 1);
  const std::size_t equals = word.find('=', comma);
  if (equals == std::string::npos) return known.options(backend, word.substr(0, comma + 1));
  return known.values(backend, word.substr(comma + 1, equals - comma - 1), word.substr(0, equals + 1));
}

Candidates plain(const std::vector<std::string>& words) {
  Candidates all;
  for (const std::string& word : words) all.push_back({word, ""});
  return all;
}

// What a flag, or a positional argument, takes.
Candidates values(const Known& known, const CLI::App& app, const CLI::Option& option, const std::string& word) {
  const std::string name = option.get_positional() ? option.get_name() : option.get_type_name();
  const bool names_flag = !option.get_positional();
  const std::string flag = names_flag ? option.get_name(false, true) : "";
  if (name == "SUBJECT") {
    Candidates all = subjects(known, word);
    if (app.get_name() == "compare")
      for (Candidate& run : known.runs()) all.push_back(std::move(run));
    return all;
  }
  if (name == "RUN" || name == "[RUN]") return known.runs();
  if (flag.starts_with("--backend") && flag != "--backend-path" && flag.find("library") == std::string::npos)
    return known.backends();
  if (flag.starts_with("--model") || name == "MODEL") return Known::models();
  if (!names_flag && name == "NAME") {
    if (app.get_name() == "backends") return known.backends();
    return app.get_name() == "build" ? Known::models() : known.baselines();
  }
  if (name == "STUDY") {
    Candidates all;
    for (const StudySource& study : shipped_studies()) all.push_back({study.name, ""});
    return all;
  }
  return names_flag ? plain(listed_choices(option.get_description())) : Candidates();
}

bool takes_values(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

const CLI::Option* flag_named(const CLI::App& app, const std::string& word) {
  if (!word.starts_with("--")) return nullptr;
  for (const CLI::Option* option : app.get_options())
    if (option->check_lname(word.substr(2))) return option;
  return nullptr;
}

Candidates flags(const CLI::App& app) {
  Candidates all;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      all.push_back({"--" + name, first_sentence(option->get_description())});
  return all;
}

// The flag whose values are being written: the nearest one before, if it takes (so many) values.
const CLI::Option* open_flag(const CLI::App& app, const std::vector<std::string>& words) {
  for (std::size_t i = words.size() - 1; i-- > 0;) {
    if (!words[i].starts_with("--")) continue;
    const CLI::Option* const option = flag_named(app, words[i]);
    if (option == nullptr || !takes_values(*option)) return nullptr;
    const auto given = words.size() - 2 - i;
    return given < static_cast<std::size_t>(option->get_items_expected_max()) ? option : nullptr;
  }
  return nullptr;
}

const CLI::Option* positional_at(const CLI::App& app, std::size_t place) {
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    last = option;
    const auto most = static_cast<std::size_t>(option->get_items_expected_max());
    if (place < most) return option;
    place -= most;
  }
  return last;
}

Candidates of_verb(const Known& known, CLI::App& app, std::vector<std::string> words) {
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  for (CLI::App* const verb : verbs)
    if (words.size() > 1 && verb->get_name() == words.front())
      return of_verb(known, *verb, {words.begin() + 1, words.end()});
  const std::string& word = words.back();
  if (const std::size_t equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* const option = flag_named(app, word.substr(0, equals));
    if (option == nullptr) return {};
    Candidates all = values(known, app, *option, word.substr(equals + 1));
    for (Candidate& each : all) each.word.insert(0, word, 0, equals + 1);
    return all;
  }
  if (word.starts_with("-")) return flags(app);
  if (const CLI::Option* const option = open_flag(app, words)) return values(known, app, *option, word);
  Candidates all;
  for (const CLI::App* const verb : verbs) all.push_back({verb->get_name(), first_sentence(verb->get_description())});
  std::size_t place = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) place += words[i].starts_with("-") ? 0 : 1;
  if (const CLI::Option* const option = positional_at(app, place))
    for (Candidate& each : values(known, app, *option, word)) all.push_back(std::move(each));
  return all;
}

Candidates of_root(std::span<const Verb> verbs) {
  Candidates all;
  for (const Verb& verb : verbs) all.push_back({std::string(verb.name), first_sentence(std::string(verb.summary))});
  all.push_back({"--help", ""});
  all.push_back({"--version", ""});
  return all;
}

}  // namespace

std::vector<Candidate> candidates(const Surroundings& world, std::span<const Verb> verbs,
                                  std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  const std::string word = words.back();
  Candidates all;
  if (words.size() == 1 || words.front() == "help") {
    all = of_root(verbs);
  } else if (const auto verb = std::ranges::find(verbs, words.front(), &Verb::name); verb != verbs.end()) {
    CLI::App app{std::string(verb->summary), std::string(verb->name)};
    const Action act = verb->declare(app);
    const Known known(world, words);
    all = of_verb(known, app, {words.begin() + 1, words.end()});
  }
  std::erase_if(all, [&](const Candidate& each) {
    return !each.word.starts_with(word) || each.word.find_first_of(" \t\n'\"\\$`") != std::string::npos;
  });
  return all;
}

}  // namespace infermeter
