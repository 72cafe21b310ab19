#include "infermeter/plan/study_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "infermeter/plan/expectation_tables.hpp"
#include "infermeter/plan/toml_text.hpp"
#include "infermeter/text/nearest.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_parts = 100;
constexpr std::size_t longest_name = 100;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

// A study may come from anywhere: its names are files of one folder and nothing else.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, is_plain);
}

// Empty: there is one.
std::string why_no_part(const StudyFile& study, const std::string& name) {
  std::vector<std::string> names;
  for (const StudyPart& part : study.parts) names.push_back(part.name);
  if (std::ranges::find(names, name) != names.end()) return "";
  const auto near = nearest_name(name, names);
  return fmt::format("there is no part '{}'{}; there {} {}", name,
                     near ? fmt::format(" (did you mean '{}'?)", *near) : "", names.size() == 1 ? "is" : "are",
                     fmt::join(names, ", "));
}

class StudyReader {
 public:
  StudyReader(std::string_view text, std::string_view name, std::string_view preset, const PlanDraft& base)
      : name_(name), preset_(preset), base_(base), expectations_(text, name) {}

  Result<StudyFile> read(const toml::table& root) {
    if (const toml::node* plan = root.get("plan")) INFERMETER_TRY_DONE(apply_plan(base_, "plan", *plan));
    INFERMETER_TRY_DONE(read_presets(root));
    for (const auto& [key, node] : root) INFERMETER_TRY_DONE(read_key(key, node));
    if (study_.parts.empty()) {
      return usage_error(fmt::format("{}: it measures nothing: write [[part]] tables, each with a [part.plan]", name_));
    }
    INFERMETER_TRY_DONE(keep_parts_of_preset());
    INFERMETER_TRY_DONE(check_names());
    return std::move(study_);
  }

 private:
  Result<Done> read_key(const toml::key& key, const toml::node& node) {
    if (key.str() == "plan" || key.str() == "preset") return Done{};  // read before
    if (key.str() == "title") return read_text(key, node, study_.title);
    if (key.str() == "about") return read_text(key, node, study_.about);
    if (key.str() == "page") return read_name(key.str(), node, study_.page);
    if (key.str() == "profiles") return read_name(key.str(), node, study_.profiles);
    if (key.str() == "summary") return read_summary(node);
    if (key.str() == "part") {
      return each_table("part", node, [this](const toml::table& table) { return read_part(table); });
    }
    if (key.str() == "file") {
      return each_table("file", node, [this](const toml::table& table) { return read_output(table); });
    }
    return unknown_key(name_, key, {"title", "about", "plan", "part", "preset", "file", "summary", "page", "profiles"});
  }

  template <class Read>
  Result<Done> each_table(std::string_view key, const toml::node& node, Read read) {
    if (!node.is_array_of_tables()) {
      return error_at(name_, node.source().begin,
                      fmt::format("'{0}' needs tables: write [[{0}]] before each one's keys", key));
    }
    if (node.as_array()->size() > most_parts) {
      return error_at(name_, node.source().begin, fmt::format("there are more than {} [[{}]]", most_parts, key));
    }
    for (const toml::node& element : *node.as_array()) INFERMETER_TRY_DONE(read(*element.as_table()));
    return Done{};
  }

  Result<Done> apply_plan(PlanDraft& draft, std::string_view key, const toml::node& node) const {
    if (!node.is_table()) return wrong_type(name_, key, "a table", node);
    return apply_toml_table(draft, *node.as_table(), name_, TomlKind::plan);
  }

  // All are listed; the one that is asked for is kept, to be put over every part.
  Result<Done> read_presets(const toml::table& root) {
    const toml::node* node = root.get("preset");
    if (node != nullptr && !node->is_table()) return wrong_type(name_, "preset", "tables: [preset.NAME]", *node);
    const toml::table none;
    const toml::table& presets = node == nullptr ? none : *node->as_table();
    std::vector<std::string> names;
    for (const auto& [key, one] : presets) {
      if (!one.is_table()) return wrong_type(name_, fmt::format("preset.{}", key.str()), "a table", one);
      INFERMETER_TRY_DONE(read_preset(key, *one.as_table()));
      names.emplace_back(key.str());
    }
    if (preset_.empty() || preset_table_ != nullptr) return Done{};
    const auto near = nearest_name(preset_, names);
    return usage_error(fmt::format("{} has no preset '{}'{}; it has {}", name_, preset_,
                                   near ? fmt::format(" (did you mean '{}'?)", *near) : "",
                                   names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  }

  Result<Done> read_preset(const toml::key& name, const toml::table& table) {
    StudyPreset preset{.name = std::string(name.str())};
    if (!is_plain_name(preset.name)) return not_plain(name.source().begin, "preset", preset.name);
    for (const auto& [key, node] : table) {
      if (key.str() == "about") {
        INFERMETER_TRY_DONE(read_text(key, node, preset.about));
      } else if (key.str() == "plan") {
        PlanDraft scratch = base_;  // so that what is wrong is reported whichever preset is asked for
        INFERMETER_TRY_DONE(apply_plan(scratch, "plan", node));
      } else if (key.str() != "parts") {
        return unknown_key(name_, key, {"about", "plan", "parts"});
      }
    }
    if (preset.name == preset_) preset_table_ = &table;
    study_.presets.push_back(std::move(preset));
    return Done{};
  }

  Result<Done> read_part(const toml::table& table) {
    StudyPart part{.draft = base_};
    const toml::node* name = table.get("name");
    if (name == nullptr) return error_at(name_, table.source().begin, "this [[part]] has no 'name'");
    INFERMETER_TRY_DONE(read_name("name", *name, part.name));
    if (std::ranges::find(study_.parts, part.name, &StudyPart::name) != study_.parts.end()) {
      return error_at(name_, name->source().begin, fmt::format("there are two parts '{}'", part.name));
    }
    for (const auto& [key, node] : table) INFERMETER_TRY_DONE(read_part_key(part, key, node));
    if (part.title.empty()) part.title = part.name;
    if (preset_table_ != nullptr && preset_table_->contains("plan")) {
      INFERMETER_TRY_DONE(apply_plan(part.draft, "plan", *preset_table_->get("plan")));
    }
    study_.parts.push_back(std::move(part));
    return Done{};
  }

  Result<Done> read_part_key(StudyPart& part, const toml::key& key, const toml::node& node) {
    if (key.str() == "name") return Done{};
    if (key.str() == "title") return read_text(key, node, part.title);
    if (key.str() == "plan") return apply_plan(part.draft, "plan", node);
    if (key.str() == "predict") return read_prediction(part, node);
    if (key.str() == "on_request") {
      if (!node.is_boolean()) return wrong_type(name_, "on_request", "true or false", node);
      part.on_request = **node.as_boolean();
      return Done{};
    }
    if (ExpectationReader::is_key(key.str())) return expectations_.read(key, node, part.expectations);
    return unknown_key(name_, key, {"name", "title", "plan", "predict", "on_request", "expect", "expectation"});
  }

  // "fft_count", or { counter = "fft_count", metric = "mean" }
  Result<Done> read_prediction(StudyPart& part, const toml::node& node) const {
    PredictionDraft prediction;
    if (node.is_string()) {
      prediction.counter = **node.as_string();
    } else if (!node.is_table()) {
      return wrong_type(name_, "predict", "a counter's name or a table", node);
    } else {
      for (const auto& [key, value] : *node.as_table()) {
        if (key.str() != "counter" && key.str() != "metric") return unknown_key(name_, key, {"counter", "metric"});
        INFERMETER_TRY_DONE(read_text(key, value, key.str() == "counter" ? prediction.counter : prediction.metric));
      }
    }
    if (prediction.counter.empty()) return error_at(name_, node.source().begin, "'predict' names no counter");
    part.prediction = std::move(prediction);
    return Done{};
  }

  Result<Done> read_output(const toml::table& table) {
    StudyOutput output;
    for (const auto& [key, node] : table) {
      if (key.str() == "part") {
        INFERMETER_TRY_DONE(read_name("part", node, output.part));
        parts_named_.emplace_back(output.part, node.source().begin);
      } else if (key.str() == "json") {
        INFERMETER_TRY_DONE(read_name("json", node, output.json));
      } else if (key.str() == "text") {
        INFERMETER_TRY_DONE(read_name("text", node, output.text));
      } else if (key.str() == "subject") {
        if (!node.is_string()) return wrong_type(name_, "subject", "a string", node);
        output.subject = expectations_.placed(node);
      } else {
        return unknown_key(name_, key, {"part", "subject", "json", "text"});
      }
    }
    if (output.part.empty()) return error_at(name_, table.source().begin, "this [[file]] has no 'part'");
    if (output.json.empty() && output.text.empty()) {
      return error_at(name_, table.source().begin,
                      "this [[file]] names no file: write json = \"NAME.json\" or text = "
                      "\"NAME.txt\"");
    }
    study_.outputs.push_back(std::move(output));
    return Done{};
  }

  Result<Done> read_summary(const toml::node& node) {
    if (!node.is_table()) return wrong_type(name_, "summary", "a table with text and json", node);
    for (const auto& [key, value] : *node.as_table()) {
      if (key.str() != "text" && key.str() != "json") return unknown_key(name_, key, {"text", "json"});
      INFERMETER_TRY_DONE(read_name(key.str(), value, key.str() == "text" ? study_.summary_text : study_.summary_json));
    }
    return Done{};
  }

  Result<Done> read_text(const toml::key& key, const toml::node& node, std::string& text) const {
    if (!node.is_string()) return wrong_type(name_, key.str(), "a string", node);
    text = **node.as_string();
    return Done{};
  }

  Result<Done> read_name(std::string_view key, const toml::node& node, std::string& text) const {
    if (!node.is_string()) return wrong_type(name_, key, "a string", node);
    text = **node.as_string();
    if (!is_plain_name(text)) return not_plain(node.source().begin, key, text);
    return Done{};
  }

  [[nodiscard]] Error not_plain(const toml::source_position& where, std::string_view key, std::string_view text) const {
    return error_at(name_, where,
                    fmt::format("{} '{}' is not a plain name: letters, digits, '_', '-' and '.' inside, at most {} of "
                                "them, and no folder",
                                key, text.substr(0, 40), longest_name));
  }

  // A preset may leave parts out; files of those are left out as well.
  Result<Done> keep_parts_of_preset() {
    for (const auto& [name, where] : parts_named_) {
      INFERMETER_TRY_DONE(check_part(name, where));
    }
    const toml::node* parts = preset_table_ == nullptr ? nullptr : preset_table_->get("parts");
    if (parts == nullptr) return Done{};
    if (!parts->is_array() || parts->as_array()->empty()) {
      return wrong_type(name_, "parts", "an array of parts' names", *parts);
    }
    std::vector<std::string> wanted;
    for (const toml::node& part : *parts->as_array()) {
      if (!part.is_string()) return wrong_type(name_, "parts", "names of parts", part);
      wanted.push_back(**part.as_string());
      INFERMETER_TRY_DONE(check_part(wanted.back(), part.source().begin));
    }
    // What is measured on request alone can still be asked for.
    for (StudyPart& part : study_.parts) {
      if (std::ranges::find(wanted, part.name) != wanted.end()) {
        part.on_request = false;
      } else if (part.on_request) {
        wanted.push_back(part.name);
      }
    }
    return study_.leave_only(wanted);
  }

  Result<Done> check_part(const std::string& name, const toml::source_position& where) const {
    const std::string why = why_no_part(study_, name);
    return why.empty() ? Result<Done>(Done{}) : error_at(name_, where, why);
  }

  // Of the parts that are measured together, and of each that is measured on request.
  Result<Done> check_names() const {
    StudyFile usual = study_;
    usual.leave_out_on_request();
    INFERMETER_TRY_DONE(usual.check_file_names(name_));
    for (const StudyPart& part : study_.parts) {
      StudyFile alone = study_;
      INFERMETER_TRY_DONE(alone.leave_only({part.name}));
      INFERMETER_TRY_DONE(alone.check_file_names(name_));
    }
    return Done{};
  }

  std::string_view name_, preset_;
  PlanDraft base_;
  ExpectationReader expectations_;
  const toml::table* preset_table_ = nullptr;
  std::vector<std::pair<std::string, toml::source_position>> parts_named_;
  StudyFile study_;
};

}  // namespace

std::vector<std::string> StudyFile::file_names() const {
  std::vector<std::string> names = {summary_text, summary_json, page};
  for (const StudyOutput& output : outputs) {
    for (const std::string& name : {output.json, output.text}) {
      if (!name.empty()) names.push_back(name);
    }
  }
  return names;
}

Result<Done> StudyFile::check_file_names(std::string_view study) const {
  std::vector<std::string> names = file_names();
  names.push_back(profiles);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return Done{};
  const auto writes_it = [&](const StudyOutput& output) { return output.json == *twice || output.text == *twice; };
  const auto first = std::ranges::find_if(outputs, writes_it);
  const auto other = std::find_if(first, outputs.end(),
                                  [&](const auto& output) { return writes_it(output) && output.part != first->part; });
  if (other == outputs.end()) return usage_error(fmt::format("{}: two of its files are called '{}'", study, *twice));
  return usage_error(fmt::format("{}: parts '{}' and '{}' both write '{}'", study, first->part, other->part, *twice));
}

Result<Done> StudyFile::leave_only(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const std::string why = why_no_part(*this, name); !why.empty()) return usage_error(why);
  }
  const auto is_left_out = [&](const std::string& name) { return std::ranges::find(names, name) == names.end(); };
  std::erase_if(parts, [&](const StudyPart& part) { return is_left_out(part.name); });
  std::erase_if(outputs, [&](const StudyOutput& output) { return is_left_out(output.part); });
  return Done{};
}

void StudyFile::leave_out_on_request() {
  std::erase_if(outputs, [&](const StudyOutput& output) {
    const auto part = std::ranges::find(parts, output.part, &StudyPart::name);
    return part != parts.end() && part->on_request;
  });
  std::erase_if(parts, [](const StudyPart& part) { return part.on_request; });
}

Result<StudyFile> study_file_from_toml(std::string_view text, std::string_view name, std::string_view preset,
                                       const PlanDraft& base) {
  INFERMETER_TRY(const toml::table root, parse_toml(text, name, "a study"));
  return StudyReader(text, name, preset, base).read(root);
}

}  // namespace infermeter
