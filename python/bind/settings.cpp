#include "python/bind/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "infermeter/plan/setting.hpp"
#include "infermeter/text/nearest.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

using Type = Setting::Type;
using Shape = Setting::Shape;

constexpr std::string_view kSubjects = "subjects";
constexpr std::string_view kSubjectTables = "subject";  // as plan files call those that are written out

struct SubjectKey {
  std::string_view key;
  Type type;
};
constexpr std::array<SubjectKey, 9> kSubjectKeys{{{"label", Type::text},
                                                  {"model", Type::text},
                                                  {"backend", Type::text},
                                                  {"batch_size", Type::integer},
                                                  {"dtype", Type::text},
                                                  {"device", Type::text},
                                                  {"threads", Type::integer},
                                                  {"backend_library", Type::text},
                                                  {"group", Type::integer}}};

std::string_view wanted(Type type) {
  switch (type) {
    case Type::text: return "a string";
    case Type::integer: return "a whole number";
    case Type::number_or_text: return "a number or a string with a unit";
    case Type::integer_or_text: return "a whole number or a string";
    case Type::boolean: return "true or false";
  }
  return "";
}

bool is_text(nb::handle value) { return PyUnicode_Check(value.ptr()) || nb::hasattr(value, "__fspath__"); }
bool is_table(nb::handle value) { return nb::hasattr(value, "keys"); }
bool is_list(nb::handle value) {
  return !is_text(value) && !is_table(value) && !PyBytes_Check(value.ptr()) && nb::hasattr(value, "__iter__");
}

std::string name_of(nb::handle value) {
  if (is_text(value)) return "a string";
  if (PyBool_Check(value.ptr())) return "true or false";
  if (PyIndex_Check(value.ptr())) return "a whole number";
  if (PyFloat_Check(value.ptr())) return "a fraction";
  if (is_table(value)) return "a table";
  if (is_list(value)) return "an array";
  return fmt::format("a value of type {}", nb::inst_name(value).c_str());
}

// A path in it need not be UTF-8; the plan's own check says so.
std::string setting_text(nb::handle value) {
  const auto path = nb::steal(PyOS_FSPath(value.ptr()));
  if (PyBytes_Check(path.ptr()))
    return {PyBytes_AsString(path.ptr()), static_cast<std::size_t>(PyBytes_Size(path.ptr()))};
  const auto bytes = nb::steal(PyUnicode_AsEncodedString(path.ptr(), "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

std::string number_text(nb::handle value) { return nb::str(nb::steal(PyNumber_Index(value.ptr()))).c_str(); }

// Any mapping as a dict.
nb::dict dict_of(nb::handle table) {
  return nb::steal<nb::dict>(nb::handle(reinterpret_cast<PyObject*>(&PyDict_Type))(table).release());
}

// The value's text, if its type will do.
Result<std::string> scalar(std::string_view key, nb::handle value, Type type) {
  const bool truth = PyBool_Check(value.ptr());
  if (truth && type == Type::boolean) return std::string(value.ptr() == Py_True ? "true" : "false");
  if (is_text(value) && type != Type::integer && type != Type::boolean) return setting_text(value);
  if (!truth && PyIndex_Check(value.ptr()) && type != Type::text && type != Type::boolean) return number_text(value);
  const bool fraction = PyFloat_Check(value.ptr()) || (nb::hasattr(value, "__float__") && !PyIndex_Check(value.ptr()));
  if (fraction && type == Type::number_or_text) return fmt::format("{}", PyFloat_AsDouble(value.ptr()));
  return usage_error(fmt::format("'{}' needs {}, got {}", key, wanted(type), name_of(value)));
}

Result<Done> read_pairs(Pairs& pairs, std::string_view key, nb::handle table, Type type) {
  for (auto [name, value] : dict_of(table)) {
    const std::string path = fmt::format("{}.{}", key, nb::str(name).c_str());
    // An option may be anything that has a text; whether it is right, the back end knows.
    Type taken = type;
    if (type == Type::integer_or_text && PyBool_Check(value.ptr())) taken = Type::boolean;
    if (type == Type::integer_or_text && PyFloat_Check(value.ptr())) taken = Type::number_or_text;
    INFERMETER_TRY(std::string text, scalar(path, value, taken));
    set_pair(pairs, setting_text(nb::str(name)), std::move(text));
  }
  return Done{};
}

Result<Done> read_subject_value(SubjectDraft& subject, std::string_view key, nb::handle value) {
  const auto* found = std::ranges::find(kSubjectKeys, key, &SubjectKey::key);
  if (found == kSubjectKeys.end()) {
    std::vector<std::string> known{"options", "dimensions", "env", std::string(kBatchAxisKey)};
    for (const SubjectKey& one : kSubjectKeys) known.emplace_back(one.key);
    const auto near = nearest_name(key, known);
    return usage_error(
        fmt::format("unknown key '{}' of a subject{}", key, near ? fmt::format(" (did you mean '{}'?)", *near) : ""));
  }
  INFERMETER_TRY(const std::string text, scalar(key, value, found->type));
  const auto set = set_subject_value(subject, key, text);
  if (!set) return usage_error(fmt::format("{}: {}", key, set.error().message));
  return Done{};
}

Result<SubjectDraft> read_subject_table(nb::handle table) {
  SubjectDraft subject;
  for (auto [name, value] : dict_of(table)) {
    const std::string key = nb::str(name).c_str();
    if (value.is_none()) continue;
    Pairs* const pairs = subject.pairs(key);
    if (pairs == nullptr) {
      INFERMETER_TRY_DONE(read_subject_value(subject, key, value));
    } else if (is_table(value)) {
      INFERMETER_TRY_DONE(read_pairs(*pairs, key, value, Type::integer_or_text));
    } else if (key == kBatchAxisKey && PyUnicode_Check(value.ptr())) {
      set_pair(*pairs, "", nb::str(value).c_str());
    } else {
      return usage_error(fmt::format("'{}' needs a table, got {}", key, name_of(value)));
    }
  }
  for (const auto& [value, needed] : {std::pair(&subject.model, "model"), std::pair(&subject.backend, "backend")}) {
    if (value->empty()) return usage_error(fmt::format("a subject has no '{}'", needed));
  }
  return subject;
}

Result<Done> read_subject(PlanDraft& draft, std::string_view key, nb::handle value) {
  if (is_table(value)) {
    INFERMETER_TRY(draft.subjects.emplace_back(), read_subject_table(value));
    return Done{};
  }
  INFERMETER_TRY(const std::string text, scalar(key, value, Type::text));
  INFERMETER_TRY(draft.subjects.emplace_back(), subject_draft_from_string(text));
  return Done{};
}

Result<Done> read_subjects(PlanDraft& draft, std::string_view key, nb::handle value) {
  if (!is_list(value)) return read_subject(draft, key, value);
  for (nb::handle subject : nb::list(value)) INFERMETER_TRY_DONE(read_subject(draft, key, subject));
  return Done{};
}

Result<std::vector<std::string>> texts_of(const Setting& setting, nb::handle value) {
  std::vector<std::string> texts;
  if (setting.shape == Shape::one || !is_list(value)) {
    INFERMETER_TRY(texts.emplace_back(), scalar(setting.key, value, setting.type));
    return texts;
  }
  for (nb::handle element : nb::list(value)) {
    INFERMETER_TRY(texts.emplace_back(), scalar(setting.key, element, setting.type));
  }
  return texts;
}

Error unknown_key(std::string_view key) {
  std::vector<std::string> known{std::string(kSubjectTables)};
  for (const Setting& setting : settings()) known.emplace_back(setting.key);
  const auto near = nearest_name(key, known);
  return usage_error(
      fmt::format("unknown setting '{}'{}", key, near ? fmt::format(" (did you mean '{}'?)", *near) : ""));
}

Result<Done> read_setting(PlanDraft& draft, std::string_view key, nb::handle value) {
  if (key == kSubjects || key == kSubjectTables) return read_subjects(draft, key, value);
  const Setting* setting = find_setting(key);
  if (setting == nullptr) return unknown_key(key);
  if (setting->shape == Shape::pairs && is_table(value)) {
    return read_pairs(setting->pairs(draft), key, value, setting->type);
  }
  if (setting->shape == Shape::pairs && !may_be_unnamed(*setting)) {
    return usage_error(fmt::format("'{}' needs a table, got {}", key, name_of(value)));
  }
  INFERMETER_TRY(const auto texts, texts_of(*setting, value));
  const auto applied = apply_setting(*setting, draft, texts);
  if (!applied) return usage_error(fmt::format("{}: {}", key, applied.error().message));
  return Done{};
}

bool says(const nb::dict& settings, std::string_view key) {
  const nb::str name(key.data(), key.size());
  return settings.contains(name) && !settings[name].is_none();
}

}  // namespace

Result<Done> apply_settings(PlanDraft& draft, const nb::dict& settings) {
  if (says(settings, "iterations") && says(settings, "duration")) {
    return usage_error("'iterations' and 'duration' exclude each other");
  }
  const bool writes_subjects = says(settings, kSubjects) || says(settings, kSubjectTables);
  if (writes_subjects || says(settings, "models")) {
    draft.subjects.clear();
    draft.code_of_file.clear();
    draft.server_of_file.clear();
  }
  if (writes_subjects) draft.models.clear(), draft.backends.clear();
  for (auto [key, value] : settings) {
    if (value.is_none()) continue;
    INFERMETER_TRY_DONE(read_setting(draft, nb::str(key).c_str(), value));
  }
  return Done{};
}

}  // namespace infermeter::python
