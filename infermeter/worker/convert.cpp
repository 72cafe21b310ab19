#include "infermeter/worker/convert.hpp"

#include <fmt/format.h>

#include <system_error>

#include "infermeter/plan/subject.hpp"
#include "infermeter/text/hash.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

std::uint64_t hash_of(const std::vector<fs::path>& files) {
  Fnv1a hash;
  for (const fs::path& file : files) hash.add(whole_file(file));
  return hash.value();
}

}  // namespace

Result<std::optional<fs::path>> converted_model(const Launcher& launcher, const Conversion& wanted,
                                                const fs::path& cache, const MakingLimits& limits) {
  const fs::path maker = find_maker(launcher, wanted.backend);
  if (maker.empty()) return std::optional<fs::path>();
  const bool is_folder = is_folder_config(wanted.model_file.string());
  const std::string stem = (is_folder ? wanted.model_file.parent_path() : wanted.model_file.stem()).filename().string();
  const fs::path folder = fs::absolute(cache) / "zoo" /
                          fmt::format("{}-{}b{}-{:016x}", stem, is_folder ? wanted.backend + "-" : "",
                                      wanted.batch_size, hash_of(code_of_maker(launcher, maker)));
  const fs::path file = folder / (is_folder ? std::string(kFolderConfig) : fmt::format("{}.{}", stem, wanted.backend));
  std::error_code error;
  if (fs::is_regular_file(file, error)) return std::optional(file);
  const Result<Done> made = make_model(launcher,
                                       {.maker = maker,
                                        .name = wanted.zoo_name,
                                        .model = wanted.model_file,
                                        .options = {{"batch", std::to_string(wanted.batch_size)}},
                                        .file = file},
                                       limits);
  if (made.ok()) return std::optional(file);
  return Error{made.error().kind, fmt::format("{} could not be made into a file for {}: {}", wanted.zoo_name,
                                              wanted.backend, made.error().message)};
}

}  // namespace infermeter
