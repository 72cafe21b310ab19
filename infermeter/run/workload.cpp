#include "infermeter/run/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/models/resolve.hpp"
#include "infermeter/worker/prepare.hpp"

namespace infermeter {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string workloads_in(const BackendInfo& backend) {
  const std::string mark = fmt::format("{}:", workload_format);
  std::string names;
  for (const std::string& format : backend.model_formats)
    if (format.starts_with(mark)) names += (names.empty() ? "" : ", ") + format.substr(mark.size());
  return names;
}

}  // namespace

bool may_be_workload(std::string_view model) { return !model.empty() && std::ranges::all_of(model, is_plain); }

Result<ModelFacts> resolve_workload(const Subject& subject, const BackendInfo& backend, const Error& otherwise) {
  const std::string format = fmt::format("{}:{}", workload_format, subject.model);
  const std::string known = workloads_in(backend);
  if (known.empty()) return otherwise;
  if (std::ranges::find(backend.model_formats, format) == backend.model_formats.end()) {
    return usage_error(fmt::format("{} has no workload '{}'; it has {}", subject.backend, subject.model, known));
  }
  ModelFacts facts;
  facts.name = facts.path = subject.model;
  facts.format = workload_format;
  facts.sha256 = sha256_of_text(format);
  return facts;
}

// Nobody sees its weights: there is no SHA-256 that could differ from another's.
ModelFacts model_on_server(const Subject& subject) {
  ModelFacts facts;
  facts.name = facts.path = subject.model;
  facts.format = server_format;
  return facts;
}

std::filesystem::path workload_cache(const Subject& subject, const ModelFacts& model,
                                     const std::filesystem::path& cache) {
  return model.format == workload_format ? backend_cache(cache, subject.backend) : std::filesystem::path();
}

}  // namespace infermeter
