#include "infermeter/plan/tuning/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "infermeter/plan/quantity.hpp"
#include "infermeter/plan/server_url.hpp"
#include "infermeter/plan/split_mix64.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/text/nearest.hpp"

namespace infermeter {
namespace {

constexpr double kMostCombinations = 20'000;
constexpr std::size_t kLongestShown = 60;

constexpr std::array<std::string_view, 7> kKeysOfAll = {"backend", "batch", "dtype",  "threads",
                                                        "device",  "model", "library"};

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// As in the short form of a subject.
std::string short_key(std::string_view key) {
  if (key == "batch_size" || key == "batch_sizes") return "batch";
  if (key == "backend_library") return "library";
  if (key == "backends") return "backend";
  return std::string(key);
}

bool is_of_all(std::string_view key) {
  const bool has_prefix =
      key.starts_with("dim.") || key.starts_with("batch_axis") || key.starts_with("env.") || key.starts_with("load.");
  return has_prefix || std::ranges::find(kKeysOfAll, key) != kKeysOfAll.end();
}

Error over_error(std::string_view text, const std::string& why) {
  return usage_error(fmt::format("--over {}: {}", text.substr(0, kLongestShown), why));
}

const std::string* values_of(const TunableBackend& backend, std::string_view key) {
  const auto found = std::ranges::find(backend.options, key, &Pairs::value_type::first);
  return found == backend.options.end() ? nullptr : &found->second;
}

bool takes(const std::string& listed, const std::string& value) {
  const std::vector<std::string> closed = closed_list(listed);
  const bool is_truth = listed == "true|false" && (value == "1" || value == "0");
  return closed.empty() || is_truth || std::ranges::find(closed, value) != closed.end();
}

const TunableBackend* backend_of(std::span<const TunableBackend> backends, const std::string& name) {
  const auto found = std::ranges::find(backends, name, &TunableBackend::name);
  return found == backends.end() ? nullptr : &*found;
}

// "2..5": both ends, and what lies between. nullopt: it is no range. Longer than kMostSettings: too long.
std::optional<Result<std::vector<std::string>>> range_of(const std::string& value) {
  const std::size_t dots = value.find("..");
  if (dots == std::string::npos) return std::nullopt;
  constexpr std::int64_t kHighest = 1'000'000'000;
  const auto first = integer_from_string(std::string_view(value).substr(0, dots), 0, kHighest);
  const auto last = integer_from_string(std::string_view(value).substr(dots + 2), 0, kHighest);
  if (!first.ok() || !last.ok()) return std::nullopt;  // a path
  if (*last < *first) return usage_error(fmt::format("the range {} ends below its beginning", value));
  if (*last - *first >= static_cast<std::int64_t>(kMostSettings)) {
    return usage_error(fmt::format("the range {} has more than {} numbers: name fewer", value, kMostSettings));
  }
  std::vector<std::string> numbers;
  for (std::int64_t number = *first; number <= *last; ++number) numbers.push_back(std::to_string(number));
  return numbers;
}

Result<std::vector<std::string>> values_from_string(std::string_view text, std::string_view listed) {
  std::vector<std::string> values;
  for (std::string& value : split_at(listed, ',')) {
    if (value.empty()) return over_error(text, "a value is empty");
    auto range = range_of(value);
    if (!range) {
      values.push_back(std::move(value));
      continue;
    }
    if (!range->ok()) return over_error(text, range->error().message);
    std::ranges::move(**range, std::back_inserter(values));
  }
  for (auto value = values.begin(); value != values.end(); ++value) {
    if (std::find(values.begin(), value, *value) == value) continue;
    return over_error(text, fmt::format("the value {} is given twice", value->substr(0, kLongestShown)));
  }
  return values;
}

bool is_int8(std::string_view key, std::string_view value) { return key == "dtype" && value == "int8"; }

// Does anybody know the key, and each of its values?
Result<Done> check_key(const TunedKey& one, std::span<const TunableBackend> backends) {
  if (is_of_all(one.key)) return Done{};
  std::vector<std::string> known(kKeysOfAll.begin(), kKeysOfAll.end());
  std::vector<const std::string*> listed;
  for (const TunableBackend& backend : backends) {
    for (const auto& [key, values] : backend.options) known.push_back(key);
    if (const std::string* values = values_of(backend, one.key)) listed.push_back(values);
  }
  if (listed.empty()) {
    std::vector<std::string> names;
    for (const TunableBackend& backend : backends) names.push_back(backend.name);
    return over_error(one.key, fmt::format("neither a subject nor {} has such a setting{}; `infermeter backends NAME` "
                                           "lists the options of one",
                                           fmt::join(names, ", "), did_you_mean(one.key, known)));
  }
  for (const std::string& value : one.values) {
    const auto takes_it = [&](const std::string* values) { return takes(*values, value); };
    if (std::ranges::any_of(listed, takes_it)) continue;
    return over_error(one.key, fmt::format("'{}' is not a valid value{}; it has {}", value.substr(0, kLongestShown),
                                           did_you_mean(value, closed_list(*listed.front())), *listed.front()));
  }
  return Done{};
}

// What its inputs look like, as far as its setting says.
std::string shape_of(const SubjectDraft& draft) {
  Subject shape;
  shape.batch_size = draft.batch_size.value_or(1);
  shape.dimensions = draft.dimensions;
  shape.batch_axes = draft.batch_axes;
  return short_form(shape);
}

void set_groups(std::vector<SubjectDraft>& settings) {
  std::vector<std::string> shapes;
  for (SubjectDraft& setting : settings) {
    auto found = std::ranges::find(shapes, shape_of(setting));
    if (found == shapes.end()) found = shapes.insert(found, shape_of(setting));
    setting.group = static_cast<int>(found - shapes.begin());
  }
}

using Point = std::vector<std::size_t>;  // of each key the index of its value

std::size_t distance(const Point& a, const Point& b) {
  std::size_t differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differing += a[i] != b[i] ? 1 : 0;
  return differing;
}

// The first, then each time the one that is farthest from all that were taken; of several the one that the seed draws
// (maximin: Johnson, Moore & Ylvisaker, J. Statist. Plan. Inference 26 (1990) 131–148, one after the other).
std::vector<std::size_t> far_apart(const std::vector<Point>& points, std::size_t wanted, std::uint64_t seed) {
  std::vector<std::size_t> taken = {0};
  std::vector<std::size_t> nearest(points.size(), std::numeric_limits<std::size_t>::max());
  while (taken.size() < wanted) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      nearest[i] = std::min(nearest[i], distance(points[i], points[taken.back()]));
      const auto rank = [&](std::size_t j) {
        return std::pair(nearest[j], SplitMix64(seed ^ SplitMix64(j).next()).next());
      };
      if (nearest[i] > 0 && (best == 0 || rank(i) > rank(best))) best = i;
    }
    if (best == 0) break;
    taken.push_back(best);
  }
  std::ranges::sort(taken);
  return taken;
}

// Multiplies keys out.
class Combiner {
 public:
  Combiner(const SubjectDraft& base, const std::vector<TunedKey>& keys, std::span<const TunableBackend> backends)
      : base_(base), keys_(keys), backends_(backends) {}

  Result<TuningSpace> operator()(std::uint64_t seed) {
    Point at(keys_.size(), 0);
    do {
      INFERMETER_TRY_DONE(add(at));
    } while (step(at));
    space_.all = space_.settings.size();
    if (space_.settings.size() > kMostSettings) {
      std::vector<SubjectDraft> drawn;
      for (const std::size_t i : far_apart(points_, kMostSettings, seed)) drawn.push_back(space_.settings[i]);
      space_.settings = std::move(drawn);
    }
    set_groups(space_.settings);
    return std::move(space_);
  }

 private:
  // The last key changes fastest.
  bool step(Point& at) const {
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < keys_[i].values.size()) return true;
      at[i] = 0;
    }
    return false;
  }

  Result<Done> add(const Point& at) {
    SubjectDraft setting = base_;
    Point point = at;
    std::string refusal;
    std::optional<Int8Form> int8;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i].key == "backend") setting.backend = keys_[i].values[at[i]];
      if (keys_[i].key == "model") setting.model = keys_[i].values[at[i]];
    }
    const TunableBackend* backend = backend_of(backends_, setting.backend);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto& [key, values] = keys_[i];
      const std::string& value = values[at[i]];
      if (key == "backend" || key == "model") continue;
      if (is_int8(key, value)) {
        int8 = int8_of(backend, setting.model);
        continue;
      }
      const std::string* listed = backend == nullptr ? nullptr : values_of(*backend, key);
      if (!is_of_all(key) && listed == nullptr) {
        point[i] = values.size();  // says nothing of this back end
        continue;
      }
      if (listed != nullptr && !takes(*listed, value)) {
        refusal = fmt::format("back end {} has no {}={}; it has {}", setting.backend, key, value, *listed);
      }
      if (const auto set = set_subject_key(setting, key, value); !set.ok()) {
        return usage_error("--over: " + set.error().message);
      }
    }
    std::string form = short_form(subject_of(setting, {}));
    if (int8) {
      form += ",dtype=int8";
      if (refusal.empty()) refusal = int8->refusal;
      setting.model = int8->model;
      for (const auto& [key, value] : int8->options) set_pair(setting.options, key, value);
    }
    if (!seen_.insert(form).second) return Done{};
    if (!refusal.empty()) {
      space_.left_out.emplace_back(form, refusal);
      return Done{};
    }
    points_.push_back(std::move(point));
    space_.settings.push_back(std::move(setting));
    return Done{};
  }

  static Int8Form int8_of(const TunableBackend* backend, const std::string& model) {
    if (backend != nullptr && backend->int8.contains(model)) return backend->int8.at(model);
    return {.model = {}, .options = {}, .refusal = "its model has no int8 form"};
  }

  const SubjectDraft& base_;
  const std::vector<TunedKey>& keys_;
  std::span<const TunableBackend> backends_;
  std::vector<Point> points_;  // of the settings
  std::set<std::string> seen_;
  TuningSpace space_;
};

}  // namespace

std::vector<std::string> closed_list(const std::string& values) {
  const auto is_word = [](const std::string& part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
  };
  std::vector<std::string> parts = split_at(values, '|');
  if (parts.size() < 2 || !std::ranges::all_of(parts, is_word)) return {};
  return parts;
}

bool wants_int8(std::span<const TunedKey> keys) {
  return std::ranges::any_of(keys, [](const TunedKey& one) {
    return std::ranges::any_of(one.values, [&](const std::string& value) { return is_int8(one.key, value); });
  });
}

Result<std::vector<TunedKey>> tuned_keys(std::span<const std::string> texts) {
  std::vector<TunedKey> keys;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return over_error(text, "expected KEY=VALUE,VALUE, such as threads=1,2");
    }
    TunedKey one{.key = short_key(text.substr(0, equals)), .values = {}};
    if (std::ranges::find(keys, one.key, &TunedKey::key) != keys.end()) {
      return over_error(text, fmt::format("{} is given twice", one.key));
    }
    INFERMETER_TRY(one.values, values_from_string(text, std::string_view(text).substr(equals + 1)));
    keys.push_back(std::move(one));
  }
  return keys;
}

Result<TuningSpace> combinations(const SubjectDraft& base, const std::vector<TunedKey>& keys,
                                 std::span<const TunableBackend> backends, std::uint64_t seed) {
  double count = 1;
  for (const TunedKey& one : keys) {
    INFERMETER_TRY_DONE(check_key(one, backends));
    count *= static_cast<double>(one.values.size());
  }
  if (count > kMostCombinations) {
    return usage_error(
        fmt::format("{:.0f} settings are more than the {:.0f} that can be drawn from: name fewer values "
                    "(--over)",
                    count, kMostCombinations));
  }
  return Combiner(base, keys, backends)(seed);
}

// As many of each back end as of the others, as far as it has them: the first ones, in their order.
std::vector<SubjectDraft> of_each_backend(std::vector<SubjectDraft> settings, std::size_t most) {
  if (settings.size() <= most) return settings;
  std::map<std::string, std::size_t> ranks;
  std::vector<std::pair<std::size_t, std::size_t>> by_rank;  // among those of its back end; its place
  for (std::size_t i = 0; i < settings.size(); ++i) by_rank.emplace_back(ranks[settings[i].backend]++, i);
  std::ranges::sort(by_rank);
  by_rank.resize(most);
  std::ranges::sort(by_rank, {}, &std::pair<std::size_t, std::size_t>::second);
  std::vector<SubjectDraft> taken;
  for (const auto& [rank, place] : by_rank) taken.push_back(std::move(settings[place]));
  return taken;
}

TuningSpace single_changes(const SubjectDraft& base, std::span<const TunableBackend> backends, int processors) {
  TuningSpace space;
  for (const TunableBackend& backend : backends) {
    SubjectDraft usual = base;
    usual.backend = backend.name;
    space.settings.push_back(usual);
    // A server's threads are its own.
    const bool has_threads =
        !base.threads && std::ranges::find(base.options, kUrlOption, &Pairs::value_type::first) == base.options.end();
    for (int threads = 1; threads < processors && has_threads; threads *= 2) {
      space.settings.push_back(usual);
      space.settings.back().threads = threads;
    }
    for (const auto& [key, values] : backend.options) {
      for (const std::string& value : closed_list(values)) {
        space.settings.push_back(usual);
        set_pair(space.settings.back().options, key, value);
      }
    }
  }
  space.all = space.settings.size();
  space.settings = of_each_backend(std::move(space.settings), kMostSettings);
  set_groups(space.settings);
  return space;
}

}  // namespace infermeter
