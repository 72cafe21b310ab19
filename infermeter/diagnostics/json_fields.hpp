// Reading and writing the fields of structures as JSON. One list of fields per structure (visit_fields) serves both
// directions, so that what is written is what is read.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

using Json = nlohmann::json;  // keys in alphabetical order: the same value has the same text

class FieldWriter;
class FieldReader;

// Of `template <class V, MaybeConst<T> S> void visit_fields(V& v, S& s)`: one list for what writes and what reads.
template <class T, class Of>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Of>;

template <class T>
concept Whole = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept Structure = requires(FieldWriter& writer, FieldReader& reader, const T& in, T& out) {
  visit_fields(writer, in);
  visit_fields(reader, out);
};
// Small structures that are an array without names: `fields_in_order(T&)` is a tuple of references to the fields.
template <class T>
concept Listed = requires(const T& in, T& out) {
  fields_in_order(in);
  fields_in_order(out);
};
// What goes by name: `name_to_value(std::string_view, T&)` says whether it knows the name.
template <class T>
concept Named = requires(T value) {
  { to_string(value) } -> std::convertible_to<std::string_view>;
  { name_to_value(std::string_view(), value) } -> std::same_as<bool>;
};

// A name_to_value of what reads the name: a Result, or an optional.
template <class Found, class T>
bool take_value(const Found& found, T& value) {
  return found ? (value = *found, true) : false;
}

// How numbers are written that may be NaN or infinite: by name, as text. Read so, null is no number, but an optional
// one that is not known.
struct Exactly {};
inline constexpr Exactly exactly{};

// ---- Writing ----

// JSON has no NaN and no infinity: such a number becomes null, which reads back as "not measured" where a field may be
// so, and leaves the default where it may not.
inline Json json_of(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
inline Json json_of(double value, Exactly) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
inline Json json_of(bool value) { return value; }
inline Json json_of(const std::string& value) { return value; }
inline Json json_of(const std::pair<std::string, std::string>& value) {
  return Json::array({value.first, value.second});
}
template <Whole T>
Json json_of(T value) {
  return value;
}
template <class First, Whole Second>
Json json_of(const std::pair<First, Second>& value) {
  return Json::array({value.first, value.second});
}
template <Named T>
Json json_of(const T& value) {
  return std::string(to_string(value));
}
template <Structure T>
Json json_of(const T& value);
template <Listed T>
Json json_of(const T& value) {
  return std::apply([](const auto&... fields) { return Json::array({json_of(fields)...}); }, fields_in_order(value));
}
template <class T, class... How>
Json json_of(const std::optional<T>& value, How... how) {
  return value ? json_of(*value, how...) : Json(nullptr);
}
template <class T, class... How>
Json json_of(const std::vector<T>& values, How... how) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(json_of(value, how...));
  return array;
}

// `how`: nothing, or `exactly`.
class FieldWriter {
 public:
  template <class T, class... How>
  void required(std::string_view key, const T& value, How... how) {
    field(key, value, how...);
  }
  template <class T, class... How>
  void field(std::string_view key, const T& value, How... how) {
    object_[std::string(key)] = json_of(value, how...);
  }
  // Nothing is written of what is not there, not even null.
  template <class T>
  void where_there(std::string_view key, const std::optional<T>& value) {
    if (value) field(key, value);
  }
  // Nor of an empty list.
  template <class T, class... How>
  void where_any(std::string_view key, const std::vector<T>& values, How... how) {
    if (!values.empty()) field(key, values, how...);
  }
  [[nodiscard]] Json take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

template <Structure T>
Json json_of(const T& value) {
  FieldWriter writer;
  visit_fields(writer, value);
  return writer.take();
}

// ---- Reading ----

// What is wrong: where ("memory.device_now", "[3]"), and what: "should be a text but is 3", "is missing".
struct FieldProblem {
  std::string where, what;
};
using FieldCheck = std::optional<FieldProblem>;  // nullopt: all is well

inline FieldCheck wrong_type(const Json& json, std::string_view wanted) {
  const std::string got = json.is_number() ? json.dump() : std::string("of type ") + json.type_name();
  return FieldProblem{"", "should be " + std::string(wanted) + " but is " + got};
}

inline FieldCheck read_json(const Json& json, double& value) {
  if (json.is_null()) return std::nullopt;  // see json_of(double)
  if (!json.is_number()) return wrong_type(json, "a number");
  value = json.get<double>();
  return std::nullopt;
}
inline FieldCheck read_json(const Json& json, double& value, Exactly) {
  if (json.is_number()) return value = json.get<double>(), std::nullopt;
  const std::string_view name = json.is_string() ? std::string_view(json.get_ref<const std::string&>()) : "";
  if (name != "nan" && name != "inf" && name != "-inf") return wrong_type(json, "a number, 'nan', 'inf' or '-inf'");
  const double infinity = std::numeric_limits<double>::infinity();
  value = name == "nan" ? std::numeric_limits<double>::quiet_NaN() : name == "inf" ? infinity : -infinity;
  return std::nullopt;
}
inline FieldCheck read_json(const Json& json, bool& value) {
  if (!json.is_boolean()) return wrong_type(json, "true or false");
  value = json.get<bool>();
  return std::nullopt;
}
inline FieldCheck read_json(const Json& json, std::string& value) {
  if (!json.is_string()) return wrong_type(json, "a text");
  value = json.get<std::string>();
  return std::nullopt;
}
inline FieldCheck read_json(const Json& json, std::pair<std::string, std::string>& value) {
  const bool fits = json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string();
  if (!fits) return wrong_type(json, "a list of two texts");
  value = {json[0].get<std::string>(), json[1].get<std::string>()};
  return std::nullopt;
}
template <Whole T>
FieldCheck read_json(const Json& json, T& value) {
  if (json.is_number_unsigned() && std::in_range<T>(json.get<std::uint64_t>())) {
    value = static_cast<T>(json.get<std::uint64_t>());
    return std::nullopt;
  }
  if (json.is_number_integer() && !json.is_number_unsigned() && std::in_range<T>(json.get<std::int64_t>())) {
    value = static_cast<T>(json.get<std::int64_t>());
    return std::nullopt;
  }
  return wrong_type(json, "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                              std::to_string(std::numeric_limits<T>::max()));
}
template <class First, Whole Second>
FieldCheck read_json(const Json& json, std::pair<First, Second>& value) {
  if (!json.is_array() || json.size() != 2) return wrong_type(json, "a list of two");
  FieldCheck problem = read_json(json[0], value.first);
  return problem ? problem : read_json(json[1], value.second);
}
template <Listed T>
FieldCheck read_json(const Json& json, T& value) {
  const auto read_all = [&](auto&... fields) {
    if (!json.is_array() || json.size() != sizeof...(fields))
      return wrong_type(json, "a list of " + std::to_string(sizeof...(fields)));
    FieldCheck problem;
    std::size_t at = 0;
    ((problem = problem ? problem : read_json(json[at++], fields)), ...);
    return problem;
  };
  return std::apply(read_all, fields_in_order(value));
}
template <Named T>
FieldCheck read_json(const Json& json, T& value) {
  if (!json.is_string()) return wrong_type(json, "a name");
  const auto& name = json.get_ref<const std::string&>();
  if (name_to_value(name, value)) return std::nullopt;
  return FieldProblem{"", "is '" + name.substr(0, 60) + "', a name that this version does not know"};
}
template <Structure T>
FieldCheck read_json(const Json& json, T& value);
template <class T, class... How>
FieldCheck read_json(const Json& json, std::optional<T>& value, How... how) {
  value.reset();
  if (json.is_null()) return std::nullopt;
  return read_json(json, value.emplace(), how...);
}
template <class T, class... How>
FieldCheck read_json(const Json& json, std::vector<T>& values, How... how) {
  if (!json.is_array()) return wrong_type(json, "a list");
  values.clear();  // and nothing is reserved: of a damaged text no element may be one
  for (const Json& element : json) {
    FieldCheck problem = read_json(element, values.emplace_back(), how...);
    if (!problem) continue;
    problem->where.insert(0, '[' + std::to_string(values.size() - 1) + ']' + (problem->where.empty() ? "" : "."));
    return problem;
  }
  return std::nullopt;
}

// Keys it is not asked for are ignored; a key that is missing leaves the default. The first thing wrong is kept.
class FieldReader {
 public:
  explicit FieldReader(const Json& object) : object_(object) {}

  template <class T, class... How>
  void required(std::string_view key, T& value, How... how) {
    if (!object_.contains(key)) return fail({std::string(key), "is missing"});
    field(key, value, how...);
  }
  template <class T, class... How>
  void field(std::string_view key, T& value, How... how) {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    FieldCheck problem = read_json(*found, value, how...);
    if (!problem) return;
    const bool joins = !problem->where.empty() && problem->where.front() != '[';
    fail({std::string(key) + (joins ? "." : "") + problem->where, std::move(problem->what)});
  }
  template <class T>
  void where_there(std::string_view key, std::optional<T>& value) {
    field(key, value);
  }
  template <class T, class... How>
  void where_any(std::string_view key, std::vector<T>& values, How... how) {
    field(key, values, how...);
  }
  [[nodiscard]] FieldCheck take_problem() { return std::move(problem_); }

 private:
  void fail(FieldProblem problem) {
    if (!problem_) problem_ = std::move(problem);
  }

  const Json& object_;
  FieldCheck problem_;
};

template <Structure T>
FieldCheck read_json(const Json& json, T& value) {
  if (!json.is_object()) return wrong_type(json, "an object");
  FieldReader reader(json);
  visit_fields(reader, value);
  return reader.take_problem();
}

// ---- Whole texts ----

// Canonical: no spaces, keys in alphabetical order. Bytes that are no UTF-8 become U+FFFD, as JSON cannot hold them.
template <class T>
[[nodiscard]] std::string structure_to_json(const T& value) {
  return json_of(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// `what` names it in the sentence: "the record of a trial".
template <class T>
[[nodiscard]] Result<T> structure_from_json(std::string_view text, std::string_view what) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  const std::string begin(what);
  if (json.is_discarded()) return io_error(begin + " is not valid JSON; it may have been cut or altered");
  T value{};
  const FieldCheck problem = read_json(json, value);
  if (!problem) return value;
  if (problem->where.empty()) return io_error(begin + ' ' + problem->what);
  return io_error(begin + " cannot be read: '" + problem->where + "' " + problem->what);
}

}  // namespace infermeter
