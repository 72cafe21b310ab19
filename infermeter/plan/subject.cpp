#include "infermeter/plan/subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "infermeter/plan/draft.hpp"
#include "infermeter/plan/quantity.hpp"

namespace infermeter {
namespace {

constexpr std::int64_t kMostItems = 1'000'000;
constexpr std::int64_t kMostThreads = 4096;
constexpr std::int64_t kMostGroups = 1'000'000;

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

// The last '@' behind which a back end's name ends the text or a ',' follows it: paths and values may hold others.
std::optional<std::size_t> separator(std::string_view text) {
  for (std::size_t at = text.rfind('@'); at != std::string_view::npos; at = text.rfind('@', at - 1)) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (is_word(text.substr(at + 1, end - at - 1))) return at;
    if (at == 0) break;
  }
  return std::nullopt;
}

// Cuts "label=" off the front.
std::string take_label(std::string_view& model) {
  const std::size_t equals = model.find('=');
  if (equals == std::string_view::npos || !is_word(model.substr(0, equals))) return {};
  std::string label(model.substr(0, equals));
  model.remove_prefix(equals + 1);
  return label;
}

std::string_view long_key(std::string_view key) {
  if (key == "batch") return "batch_size";
  if (key == "library") return "backend_library";
  return key == "dtype" || key == "device" || key == "threads" ? key : std::string_view{};
}

Result<Done> set_short_keys(SubjectDraft& draft, std::string_view text) {
  std::vector<std::string> seen;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(',', 1), text.size());
    const std::string_view part = text.substr(1, comma - 1);
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      return usage_error(fmt::format("expected key=value after the back end, got '{}'", part.substr(0, 60)));
    }
    std::string key(part.substr(0, equals));
    if (std::ranges::find(seen, key) != seen.end()) return usage_error(fmt::format("{} is given twice", key));
    seen.push_back(key);
    INFERMETER_TRY_DONE(set_subject_key(draft, std::move(key), std::string(part.substr(equals + 1))));
    text.remove_prefix(comma);
  }
  return Done{};
}

Result<SubjectDraft> parse(std::string_view text) {
  const std::optional<std::size_t> at = separator(text);
  if (!at) {
    return usage_error(fmt::format("it has no back end: write MODEL@BACKEND, for example {}@onnxruntime",
                                   is_word(text) ? text.substr(0, 60) : std::string_view("resnet50")));
  }
  std::string_view model = text.substr(0, *at);
  const std::size_t comma = std::min(text.find(',', *at), text.size());
  SubjectDraft draft;
  draft.label = take_label(model);
  draft.model = model;
  draft.backend = text.substr(*at + 1, comma - *at - 1);
  if (draft.model.empty()) return usage_error("it has no model: write MODEL@BACKEND, for example resnet50@onnxruntime");
  INFERMETER_TRY_DONE(set_short_keys(draft, text.substr(comma)));
  return draft;
}

}  // namespace

Result<Done> set_subject_key(SubjectDraft& draft, std::string key, std::string value) {
  if (const std::string_view ours = long_key(key); !ours.empty()) {
    const auto set = set_subject_value(draft, ours, value);
    if (!set) return usage_error(fmt::format("{}: {}", key, set.error().message));
    return Done{};
  }
  constexpr std::string_view kDimension = "dim.", kBatchAxis = "batch_axis.", kVariable = "env.", kLoad = "load.";
  if (key.starts_with(kDimension)) {
    set_pair(draft.dimensions, key.substr(kDimension.size()), std::move(value));
  } else if (key == "batch_axis") {
    set_pair(draft.batch_axes, "", std::move(value));
  } else if (key.starts_with(kBatchAxis)) {
    set_pair(draft.batch_axes, key.substr(kBatchAxis.size()), std::move(value));
  } else if (key.starts_with(kLoad)) {
    set_pair(draft.load, key.substr(kLoad.size()), std::move(value));
  } else if (key.starts_with(kVariable)) {
    set_pair(draft.environment, key.substr(kVariable.size()), std::move(value));
  } else {
    set_pair(draft.options, std::move(key), std::move(value));
  }
  return Done{};
}

Pairs* SubjectDraft::pairs(std::string_view key) {
  if (key == "options") return &options;
  if (key == "dimensions") return &dimensions;
  if (key == "load") return &load;
  if (key == "env") return &environment;
  return key == kBatchAxisKey ? &batch_axes : nullptr;
}

void set_pair(Pairs& pairs, std::string name, std::string value) {
  const auto found = std::ranges::find(pairs, name, &Pairs::value_type::first);
  if (found != pairs.end()) {
    found->second = std::move(value);
  } else {
    pairs.emplace_back(std::move(name), std::move(value));
  }
}

void set_pairs(Subject& subject, const SubjectDraft& draft) {
  for (const auto& [name, value] : draft.dimensions) set_pair(subject.dimensions, name, value);
  for (const auto& [name, value] : draft.batch_axes) set_pair(subject.batch_axes, name, value);
  for (const auto& [name, value] : draft.options) set_pair(subject.options, name, value);
  for (const auto& [name, value] : draft.load) set_pair(subject.load, name, value);
  for (const auto& [name, value] : draft.environment) set_pair(subject.environment, name, value);
}

Result<bool> set_subject_value(SubjectDraft& draft, std::string_view key, std::string_view value) {
  if (key == "label") {
    draft.label = value;
  } else if (key == "model") {
    draft.model = value;
  } else if (key == "backend") {
    draft.backend = value;
  } else if (key == "device") {
    draft.device = value;
  } else if (key == "backend_library") {
    draft.backend_library = value;
  } else if (key == "dtype") {
    INFERMETER_TRY(draft.dtype, precision_from_string(value));
  } else if (key == "batch_size") {
    INFERMETER_TRY(draft.batch_size, integer_from_string(value, 1, kMostItems));
  } else if (key == "threads") {
    INFERMETER_TRY(const std::int64_t threads, integer_from_string(value, 0, kMostThreads));
    draft.threads = static_cast<int>(threads);
  } else if (key == "group") {
    INFERMETER_TRY(const std::int64_t group, integer_from_string(value, 0, kMostGroups));
    draft.group = static_cast<int>(group);
  } else {
    return false;
  }
  return true;
}

Result<SubjectDraft> subject_draft_from_string(std::string_view text) {
  auto draft = parse(text);
  if (!draft) return usage_error(fmt::format("subject '{}': {}", text.substr(0, 200), draft.error().message));
  return draft;
}

Subject subject_of(const SubjectDraft& draft, const Subject& defaults) {
  Subject subject = defaults;
  subject.model = draft.model;
  subject.backend = draft.backend;
  subject.batch_size = draft.batch_size.value_or(defaults.batch_size);
  subject.device = draft.device.value_or(defaults.device);
  subject.dtype = draft.dtype.value_or(defaults.dtype);
  subject.threads = draft.threads.value_or(defaults.threads);
  subject.backend_library = draft.backend_library.value_or(defaults.backend_library);
  subject.group = draft.group.value_or(defaults.group);
  set_pairs(subject, draft);
  return subject;
}

Result<Subject> subject_from_string(std::string_view text, const Subject& defaults) {
  INFERMETER_TRY(const SubjectDraft draft, subject_draft_from_string(text));
  Subject subject = subject_of(draft, defaults);
  subject.label = draft.label.empty() ? short_form(subject) : draft.label;
  return subject;
}

std::string batch_axis_key(const std::string& input) { return input.empty() ? "batch_axis" : "batch_axis." + input; }

std::string short_form(const Subject& subject) {
  const Subject usual;
  std::string text = subject.model + "@" + subject.backend;
  if (subject.batch_size != usual.batch_size) text += fmt::format(",batch={}", subject.batch_size);
  if (subject.dtype != usual.dtype) text += fmt::format(",dtype={}", to_string(subject.dtype));
  if (subject.device != usual.device) text += ",device=" + subject.device;
  if (subject.threads != usual.threads) text += fmt::format(",threads={}", subject.threads);
  if (!subject.backend_library.empty()) text += ",library=" + subject.backend_library;
  for (const auto& [name, value] : subject.dimensions) text += ",dim." + name + "=" + value;
  for (const auto& [name, value] : subject.batch_axes) text += "," + batch_axis_key(name) + "=" + value;
  for (const auto& [name, value] : subject.options) text += "," + name + "=" + value;
  for (const auto& [name, value] : subject.load) text += ",load." + name + "=" + value;
  for (const auto& [name, value] : subject.environment) text += ",env." + name + "=" + value;
  return text;
}

}  // namespace infermeter
