#include "infermeter/profile/read/profile_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "infermeter/text/gzip.hpp"

namespace infermeter {
namespace {

const ProfileFile* file_named(std::span<const ProfileFile> files, std::string_view name) {
  for (const ProfileFile& file : files)
    if (file.name == name) return &file;
  return nullptr;
}

// Under the name that it was begun with, where its writer did not live to give it the one that is known.
const ProfileFile* onnxruntime_file(std::span<const ProfileFile> files) {
  if (const ProfileFile* file = file_named(files, "onnxruntime.json")) return file;
  for (const ProfileFile& file : files)
    if (file.name.starts_with("onnxruntime") && file.name.ends_with(".json")) return &file;
  return nullptr;
}

std::optional<std::int64_t> start_of(const ProfileFile* file) {
  if (file == nullptr) return std::nullopt;
  std::int64_t start = 0;
  const char* const begin = file->bytes.data();
  const auto [end, error] = std::from_chars(begin, begin + file->bytes.size(), start);
  if (error != std::errc{}) return std::nullopt;
  return start;
}

ProfileSource graph_source(std::span<const ProfileFile> files, const ModelGraph* compiled) {
  const bool is_there = file_named(files, "optimized.onnx") != nullptr;
  if (compiled != nullptr) return {"graph", true, "the runtime's own graph"};
  return {"graph", false,
          is_there ? "the runtime's own graph, optimized.onnx, cannot be read" : "the runtime wrote no graph"};
}

std::string own_trace(std::span<const ProfileFile> files) {
  const ProfileFile* const file = file_named(files, "own_trace.json.gz");
  return file != nullptr && is_gzip(file->bytes) && file->bytes.size() <= kMostTraceBytes ? file->bytes : "";
}

bool has_source(const OperatorProfile& profile, std::string_view name) {
  for (const ProfileSource& source : profile.sources)
    if (source.name == name) return true;
  return false;
}

// A million events, at which ONNX Runtime ends, take more.
constexpr std::size_t least_bytes_of_full = 100'000'000;

}  // namespace

bool has_too_much(std::span<const ProfileFile> files) {
  return std::ranges::any_of(
      files, [](const ProfileFile& file) { return file.too_large || file.bytes.size() >= least_bytes_of_full; });
}

Result<OperatorProfile> read_operator_profile(std::span<const ProfileFile> files, const ModelGraph* compiled,
                                              const Samples& trial) {
  using Parse = std::function<Result<OperatorProfile>(std::string_view)>;
  const Parse onnxruntime = [&](std::string_view json) {
    return parse_onnxruntime_profile(json, compiled, trial, start_of(file_named(files, "onnxruntime.start")));
  };
  const Parse operators = [&](std::string_view json) { return parse_operators(json, trial); };
  const Parse torch = [&](std::string_view json) { return parse_torch_trace(json, trial); };
  const std::pair<const ProfileFile*, const Parse*> known[] = {{onnxruntime_file(files), &onnxruntime},
                                                               {file_named(files, "operators.json"), &operators},
                                                               {file_named(files, "torch.json"), &torch}};
  std::string reasons;
  for (const auto& [file, parse] : known) {
    if (file == nullptr) continue;
    if (file->too_large) {
      reasons += fmt::format("{}its profile, {}, is larger than the {} MB that are read", reasons.empty() ? "" : "; ",
                             file->name, kMostFolderBytes >> 20U);
      continue;
    }
    Result<OperatorProfile> profile = (*parse)(file->bytes);
    if (!profile.ok()) {
      reasons += (reasons.empty() ? "" : "; ") + profile.error().message;
      continue;
    }
    profile->position = trial.position;
    if (!has_source(*profile, "graph")) profile->sources.push_back(graph_source(files, compiled));
    profile->own_trace = own_trace(files);
    return profile;
  }
  return io_error(reasons.empty() ? "the back end left no profile of operators that is known" : reasons);
}

}  // namespace infermeter
