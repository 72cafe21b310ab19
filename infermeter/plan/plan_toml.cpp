// Plan files (docs/plan.md): toml++ reads them; what they say goes through the table of settings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>

#include "infermeter/plan/file_variables.hpp"
#include "infermeter/plan/plan_file.hpp"
#include "infermeter/plan/prompt_file.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/plan/server_url.hpp"
#include "infermeter/plan/setting.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/plan/toml_text.hpp"
#include "infermeter/text/nearest.hpp"

namespace infermeter {
namespace {

constexpr std::string_view kSubjectTable = "subject";

struct SubjectKey {
  std::string_view key;
  Setting::Type type;
};
constexpr std::array<SubjectKey, 9> kSubjectKeys{{{"label", Setting::Type::text},
                                                  {"model", Setting::Type::text},
                                                  {"backend", Setting::Type::text},
                                                  {"batch_size", Setting::Type::integer},
                                                  {"dtype", Setting::Type::text},
                                                  {"device", Setting::Type::text},
                                                  {"threads", Setting::Type::integer},
                                                  {"backend_library", Setting::Type::text},
                                                  {"group", Setting::Type::integer}}};

std::string_view wanted(Setting::Type type) {
  switch (type) {
    case Setting::Type::text: return "a string";
    case Setting::Type::integer: return "a whole number";
    case Setting::Type::number_or_text: return "a number or a string with a unit";
    case Setting::Type::integer_or_text: return "a whole number or a string";
    case Setting::Type::boolean: return "true or false";
  }
  return "";
}

// Reads one file; carries its name into every message.
class Reader {
 public:
  Reader(std::string_view file, TomlKind kind) : file_(file), kind_(kind) {}

  Result<Done> read(PlanDraft& draft, const toml::table& root) const {
    if (const toml::node* duration = root.get("duration"); duration != nullptr && root.contains("iterations")) {
      return error_at(file_, duration->source().begin, "'iterations' and 'duration' exclude each other");
    }
    // Subjects that this file names replace those of an earlier source, however either wrote them.
    const bool names_subjects = root.contains(kSubjectTable) || root.contains("subjects") || root.contains("models");
    if (names_subjects) {
      draft.subjects.clear();
      draft.models.clear();
    }
    const Sandbox sandbox = draft.plan.sandbox;
    for (const auto& [key, node] : root) {
      if (key.str() != kSubjectTable) INFERMETER_TRY_DONE(read_setting(draft, key, node));
    }
    INFERMETER_TRY_DONE(check_store(draft, root));
    INFERMETER_TRY_DONE(check_sandbox(draft, sandbox, root));
    if (kind_ == TomlKind::ambient) INFERMETER_TRY_DONE(check_ambient(draft, root));
    if (root.contains("backend_library")) draft.library_of_file = draft.defaults.backend_library;
    if (root.contains("backend_path")) draft.folder_of_file = draft.plan.backend_path;
    if (root.contains("options")) draft.server_options_of_file = server_options_among(draft.defaults.options);
    note_prompts(draft, draft.defaults.options);
    const toml::node* subjects = root.get(kSubjectTable);
    if (subjects != nullptr && kind_ == TomlKind::ambient) return not_ambient(kSubjectTable, *subjects);
    if (subjects != nullptr) INFERMETER_TRY_DONE(read_subjects(draft, *subjects));
    if (!names_subjects) return Done{};
    for (const SubjectDraft& subject : draft.subjects) note_prompts(draft, subject.options);
    draft.code_of_file = first_code(draft);
    draft.server_of_file = first_server(draft);
    return check_variables(draft, root);
  }

 private:
  [[nodiscard]] Error not_a_files_variable(std::string_view name, const toml::source_position& place) const {
    return error_at(
        file_, place,
        fmt::format("a file may set no environment variable {}: code can come by some; if you want it, give "
                    "--env {}=… (docs/plan.md lists what a file may set)",
                    name, name));
  }

  // Of subjects in their short form.
  Result<Done> check_variables(const PlanDraft& draft, const toml::table& root) const {
    for (const SubjectDraft& subject : draft.subjects)
      for (const auto& [name, value] : subject.environment)
        if (!may_come_from_file(name)) return not_a_files_variable(name, root.source().begin);
    return Done{};
  }

  Result<Done> read_setting(PlanDraft& draft, const toml::key& key, const toml::node& node) const {
    const Setting* setting = find_setting(key.str());
    if (setting == nullptr) return unknown(key, setting_keys());
    if (setting->from == Setting::From::command_line) return not_in_files(*setting, node);
    if (kind_ == TomlKind::ambient && setting->from != Setting::From::anywhere) return not_ambient(key.str(), node);
    std::vector<std::string> texts;
    if (setting->shape == Setting::Shape::pairs && node.is_table()) {
      return read_pairs(setting->pairs(draft), key.str(), *node.as_table(), setting->type);
    }
    if (setting->shape == Setting::Shape::list && node.is_array()) {
      for (const toml::node& element : *node.as_array()) {
        INFERMETER_TRY(std::string text, scalar(key.str(), element, setting->type));
        texts.push_back(std::move(text));
      }
    } else if (setting->shape == Setting::Shape::pairs && !may_be_unnamed(*setting)) {
      return error_at(file_, node.source().begin,
                      fmt::format("'{}' needs a table, got {}", key.str(), name_of(node.type())));
    } else {
      INFERMETER_TRY(std::string text, scalar(key.str(), node, setting->type));
      texts.push_back(std::move(text));
    }
    const auto applied = apply_setting(*setting, draft, texts);
    if (!applied)
      return error_at(file_, node.source().begin, fmt::format("{}: {}", key.str(), applied.error().message));
    return Done{};
  }

  Result<Done> read_subjects(PlanDraft& draft, const toml::node& node) const {
    if (!node.is_array_of_tables()) {
      return error_at(file_, node.source().begin, "'subject' needs tables: write [[subject]] before each one's keys");
    }
    for (const toml::node& element : *node.as_array()) {
      INFERMETER_TRY(SubjectDraft subject, read_subject(*element.as_table()));
      draft.subjects.push_back(std::move(subject));
    }
    return Done{};
  }

  Result<SubjectDraft> read_subject(const toml::table& table) const {
    SubjectDraft subject;
    for (const auto& [key, node] : table) {
      if (Pairs* pairs = subject.pairs(key.str()); pairs != nullptr) {
        if (key.str() == kBatchAxisKey && node.is_string()) {
          set_pair(*pairs, "", **node.as_string());
          continue;
        }
        if (!node.is_table()) {
          return error_at(file_, node.source().begin,
                          fmt::format("'{}' needs a table, got {}", key.str(), name_of(node.type())));
        }
        INFERMETER_TRY_DONE(read_pairs(*pairs, key.str(), *node.as_table(), Setting::Type::integer_or_text));
      } else {
        INFERMETER_TRY_DONE(read_subject_value(subject, key, node));
      }
    }
    for (const std::string_view needed : {"model", "backend"}) {
      if (!table.contains(needed)) {
        return error_at(file_, table.source().begin, fmt::format("this [[subject]] has no '{}'", needed));
      }
    }
    return subject;
  }

  Result<Done> read_subject_value(SubjectDraft& subject, const toml::key& key, const toml::node& node) const {
    const auto found = std::ranges::find(kSubjectKeys, key.str(), &SubjectKey::key);
    if (found == kSubjectKeys.end()) return unknown(key, subject_keys());
    INFERMETER_TRY(const std::string text, scalar(key.str(), node, found->type));
    const auto set = set_subject_value(subject, key.str(), text);
    if (!set) return error_at(file_, node.source().begin, fmt::format("{}: {}", key.str(), set.error().message));
    return Done{};
  }

  Result<Done> read_pairs(Pairs& pairs, std::string_view key, const toml::table& table, Setting::Type type) const {
    for (const auto& [name, node] : table) {
      const std::string path = fmt::format("{}.{}", key, name.str());
      if (key == "env" && !may_come_from_file(name.str())) return not_a_files_variable(name.str(), node.source().begin);
      // An option may be anything that has a text; whether it is right, the back end knows.
      INFERMETER_TRY(std::string text, node.is_boolean() || node.is_floating_point()
                                           ? scalar(path, node, any_scalar(node, type))
                                           : scalar(path, node, type));
      set_pair(pairs, std::string(name.str()), std::move(text));
    }
    return Done{};
  }

  static Setting::Type any_scalar(const toml::node& node, Setting::Type type) {
    if (type != Setting::Type::integer_or_text) return type;
    return node.is_boolean() ? Setting::Type::boolean : Setting::Type::number_or_text;
  }

  // The value's text, if its type will do.
  Result<std::string> scalar(std::string_view key, const toml::node& node, Setting::Type type) const {
    using enum Setting::Type;
    if (const auto* words = node.as_string(); words != nullptr && type != integer && type != boolean) return **words;
    if (const auto* whole = node.as_integer(); whole != nullptr && type != text && type != boolean) {
      return fmt::format("{}", **whole);
    }
    if (const auto* number = node.as_floating_point(); number != nullptr && type == number_or_text) {
      return fmt::format("{}", **number);
    }
    if (const auto* truth = node.as_boolean(); truth != nullptr && type == boolean) {
      return std::string(**truth ? "true" : "false");
    }
    return error_at(file_, node.source().begin,
                    fmt::format("'{}' needs {}, got {}", key, wanted(type), name_of(node.type())));
  }

  Error not_ambient(std::string_view key, const toml::node& node) const {
    return error_at(
        file_, node.source().begin,
        fmt::format("'{}' is allowed in a plan file only (--plan), not in a file that is read unasked", key));
  }

  Error not_in_files(const Setting& setting, const toml::node& node) const {
    return error_at(file_, node.source().begin,
                    fmt::format("'{}' may be set on the command line only (--{}): a file that came with a model could "
                                "vouch for it",
                                setting.key, setting.flag));
  }

  static std::string first_code(const PlanDraft& draft) {
    for (const SubjectDraft& subject : draft.subjects) {
      if (is_factory(subject.model)) return subject.model;
      if (subject.backend_library && !subject.backend_library->empty()) return *subject.backend_library;
    }
    const auto found = std::ranges::find_if(draft.models, is_factory);
    return found == draft.models.end() ? std::string() : *found;
  }

  static Pairs server_options_among(Pairs options) {
    std::erase_if(options, [](const auto& option) { return !is_server_option(option.first); });
    return options;
  }

  static void note_prompts(PlanDraft& draft, const Pairs& options) {
    std::ranges::copy_if(options, std::back_inserter(draft.prompts_of_file), names_prompt_file);
  }

  static std::string first_server(const PlanDraft& draft) {
    for (const SubjectDraft& subject : draft.subjects)
      if (const Pairs found = server_options_among(subject.options); !found.empty())
        return fmt::format("{}={}", found.front().first, found.front().second);
    return {};
  }

  // A file that lies in the current folder says what to do in it.
  [[nodiscard]] Result<Done> check_ambient(PlanDraft& draft, const toml::table& root) const {
    for (const auto& [key, node] : root) draft.ambient_keys.emplace_back(key.str());
    if (!root.contains("output_dir")) return Done{};
    const std::filesystem::path folder = draft.plan.output_dir;
    if (folder.is_relative() && std::ranges::find(folder, "..") == folder.end()) return Done{};
    return error_at(file_, root.get("output_dir")->source().begin,
                    fmt::format("output_dir is to be a folder below the current one here, and not '{}': "
                                "--output-dir takes any",
                                draft.plan.output_dir));
  }

  // Results tell much of a machine and of who uses it: a file that came with a model may not send them to a server. A
  // service is one that the user has set up (~/.pg_service.conf).
  [[nodiscard]] Result<Done> check_store(const PlanDraft& draft, const toml::table& root) const {
    constexpr std::string_view service = "service=";
    if (!root.contains("store")) return Done{};
    const std::string& store = draft.plan.store;
    const bool is_name = store.starts_with(service) && store.size() > service.size() &&
                         std::ranges::all_of(store.substr(service.size()), [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                         });
    if (is_name) return Done{};
    return error_at(file_, root.get("store")->source().begin,
                    "store is to be service=NAME here, a service of ~/.pg_service.conf: --store and INFERMETER_STORE "
                    "take any database or file");
  }

  // A file can ask for a stricter sandbox than its user does, never for a weaker one.
  [[nodiscard]] Result<Done> check_sandbox(PlanDraft& draft, Sandbox before, const toml::table& root) const {
    if (!root.contains("sandbox")) return Done{};
    if (draft.plan.sandbox == Sandbox::off) {
      return error_at(file_, root.get("sandbox")->source().begin,
                      "sandbox = 'off' may be set on the command line only (--sandbox off): a file that came with a "
                      "model could ask for it");
    }
    if (is_weaker(draft.plan.sandbox, before)) draft.plan.sandbox = before;
    return Done{};
  }

  Error unknown(const toml::key& key, const std::vector<std::string>& known) const {
    const auto near = nearest_name(key.str(), known);
    return error_at(
        file_, key.source().begin,
        fmt::format("unknown key '{}'{}", key.str(), near ? fmt::format(" (did you mean '{}'?)", *near) : ""));
  }

  static std::vector<std::string> setting_keys() {
    std::vector<std::string> keys{std::string(kSubjectTable)};
    for (const Setting& setting : settings()) keys.emplace_back(setting.key);
    return keys;
  }

  static std::vector<std::string> subject_keys() {
    std::vector<std::string> keys{"options", "dimensions", "env", std::string(kBatchAxisKey)};
    for (const SubjectKey& key : kSubjectKeys) keys.emplace_back(key.key);
    return keys;
  }

  std::string_view file_;
  TomlKind kind_;
};

}  // namespace

Result<Done> apply_toml_table(PlanDraft& draft, const toml::table& table, std::string_view name, TomlKind kind) {
  return Reader(name, kind).read(draft, table);
}

Result<Done> apply_toml(PlanDraft& draft, std::string_view text, std::string_view name, TomlKind kind) {
  INFERMETER_TRY(const toml::table root, parse_toml(text, name, "a plan file"));
  return apply_toml_table(draft, root, name, kind);
}

Result<Plan> plan_from_toml(std::string_view text, std::string_view name, const Plan& base) {
  PlanDraft draft;
  draft.plan = base;
  INFERMETER_TRY_DONE(apply_toml(draft, text, name));
  auto plan = make_plan(draft);
  if (!plan) return usage_error(fmt::format("{}: {}", name, plan.error().message));
  return plan;
}

}  // namespace infermeter
