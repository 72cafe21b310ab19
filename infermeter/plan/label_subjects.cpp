#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "infermeter/plan/subject.hpp"

namespace infermeter {
namespace {

// A value that can tell subjects apart, as it stands in a label. `narrow`: it says something only among subjects of the
// same model and back end.
struct Trait {
  std::string key, value;
  bool narrow = false;
};

std::vector<Trait> traits_of(const Subject& subject) {
  std::vector<Trait> traits{{"batch", std::to_string(subject.batch_size)},
                            {"dtype", std::string(to_string(subject.dtype))},
                            {"device", subject.device},
                            {"threads", std::to_string(subject.threads)}};
  for (const auto& [name, value] : subject.dimensions) traits.push_back({"dim." + name, value});
  if (!subject.backend_library.empty()) traits.push_back({"library", subject.backend_library, true});
  for (const auto& [name, value] : subject.options) traits.push_back({name, value, true});
  return traits;
}

std::string file_name(const std::string& model) {
  const std::size_t slash = model.rfind('/');
  return slash == std::string::npos || slash + 1 == model.size() ? model : model.substr(slash + 1);
}

// What each model is called: its file name, unless two models have the same.
std::map<std::string, std::string> model_names(const std::vector<Subject>& subjects) {
  std::map<std::string, std::set<std::string>> models_by_file_name;
  for (const Subject& s : subjects) models_by_file_name[file_name(s.model)].insert(s.model);
  std::map<std::string, std::string> names;
  for (const auto& [name, models] : models_by_file_name) {
    for (const std::string& model : models) names[model] = models.size() == 1 ? name : model;
  }
  return names;
}

// Counts, per trait, how often each value occurs: it tells subjects apart unless all of them have the same.
class TraitTable {
 public:
  explicit TraitTable(const std::vector<Subject>& subjects) {
    for (const Subject& subject : subjects) {
      ++scopes_[scope(subject, true)];
      ++scopes_[scope(subject, false)];
      for (const Trait& trait : traits_of(subject)) ++counts_[{scope(subject, trait.narrow), trait.key, trait.value}];
    }
  }

  [[nodiscard]] bool differs(const Subject& subject, const Trait& trait) const {
    const std::string where = scope(subject, trait.narrow);
    return counts_.at({where, trait.key, trait.value}) != scopes_.at(where);
  }

 private:
  static std::string scope(const Subject& s, bool narrow) { return narrow ? s.model + '@' + s.backend : std::string(); }

  std::map<std::string, int> scopes_;
  std::map<std::tuple<std::string, std::string, std::string>, int> counts_;
};

std::string unused(const std::string& label, const std::set<std::string>& used) {
  for (int copy = 1;; ++copy) {
    std::string candidate = copy == 1 ? label : fmt::format("{}#{}", label, copy);
    if (!used.contains(candidate)) return candidate;
  }
}

}  // namespace

void label_subjects(std::vector<Subject>& subjects) {
  const auto names = model_names(subjects);
  const TraitTable table(subjects);
  const auto chosen = [](const Subject& s) { return !s.label.empty() && s.label != short_form(s); };
  std::set<std::string> used;
  for (const Subject& subject : subjects) {
    if (chosen(subject)) used.insert(subject.label);
  }
  for (Subject& subject : subjects) {
    if (chosen(subject)) continue;
    std::string label = names.at(subject.model) + "@" + subject.backend;
    for (const Trait& trait : traits_of(subject)) {
      if (table.differs(subject, trait)) label += "," + trait.key + "=" + trait.value;
    }
    subject.label = unused(label, used);
    used.insert(subject.label);
  }
}

}  // namespace infermeter
