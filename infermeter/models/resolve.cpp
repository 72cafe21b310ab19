#include "infermeter/models/resolve.hpp"
#include "infermeter/models/gguf/gguf_summary.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "infermeter/models/mapped_file.hpp"
#include "infermeter/models/onnx/external_data.hpp"
#include "infermeter/models/zoo/llama.hpp"
#include "infermeter/models/zoo/zoo.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 4096;  // PATH_MAX

// Unpickling runs whatever the file says; TorchScript archives and exported programs carry pickles and code too.
constexpr std::array<std::string_view, 8> code_endings = {"pt",  "pth",    "pt2",    "ckpt",
                                                          "pkl", "pickle", "joblib", "torchscript"};

std::string ending_of(const fs::path& file) {
  std::string ending = file.extension().string();
  if (!ending.empty()) ending.erase(0, 1);
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}

Result<ModelFileIdentity> identity_of(const std::string& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) {
    return io_error(fmt::format("{} is not there any more: {}", in_quotes(file), std::strerror(errno)));
  }
  constexpr std::int64_t second = 1'000'000'000;
  return ModelFileIdentity{.path = file,
                           .device = status.st_dev,
                           .inode = status.st_ino,
                           .size_bytes = static_cast<std::uint64_t>(status.st_size),
                           .modified_ns = status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec,
                           .changed_ns = status.st_ctim.tv_sec * second + status.st_ctim.tv_nsec};
}

Error changed_while_read(const ModelFacts& facts) {
  return io_error(
      fmt::format("{} changed while it was read: give it again when it is complete", in_quotes(facts.path)));
}

Result<ModelFacts> resolve_zoo(const ZooModel& entry, const fs::path& cache) {
  INFERMETER_TRY(const auto file, cached_zoo_model(entry.name, cache));
  ModelFacts facts{.name = std::string(entry.name),
                   .path = file.string(),
                   .format = std::string(entry.format),
                   .sha256 = std::string(entry.sha256),
                   .size_bytes = entry.size_bytes,
                   .parameters = entry.parameters,
                   .nonzero_parameters = entry.nonzero_parameters,
                   .weight_files = {},
                   .from_zoo = true};
  if (facts.format == kFolderFormat)
    for (const std::string_view name : llama_files().subspan(1))
      facts.weight_files.push_back(file.parent_path() / name);
  INFERMETER_TRY(facts.files, identities_of(facts));
  return facts;
}

Result<Done> add_onnx(ModelFacts& facts) {
  INFERMETER_TRY(const auto summary, read_onnx_summary(facts.path));
  facts.parameters = summary.parameters;
  facts.nonzero_parameters = summary.nonzero_parameters;
  auto files = check_external_data(summary.external, fs::path(facts.path).parent_path());
  if (!files.ok()) {
    return model_error(fmt::format("{} is refused: {}", in_quotes(facts.path), files.error().message));
  }
  for (const auto& file : *files) {
    facts.weight_files.push_back(file.path);
    facts.size_bytes += file.size_bytes;
  }
  return Done{};
}

// OpenVINO's intermediate representation: NAME.xml, and its weights in NAME.bin beside it.
Result<Done> add_openvino(ModelFacts& facts, std::string_view bytes) {
  constexpr std::size_t head = 4096;
  if (bytes.substr(0, head).find("<net") == std::string_view::npos) {
    return model_error(
        fmt::format("{} is not an OpenVINO model: it has no <net> at its beginning", in_quotes(facts.path)));
  }
  const fs::path weights = fs::path(facts.path).replace_extension(".bin");
  std::error_code error;
  if (!fs::is_regular_file(weights, error)) {
    return model_error(fmt::format("the OpenVINO model {} lacks its weights: there is no file {} beside it",
                                   in_quotes(facts.path), in_quotes(weights.filename().string())));
  }
  const auto file = check_weight_file(weights.filename().string(), weights.parent_path());
  if (!file.ok()) return model_error(fmt::format("{} is refused: {}", in_quotes(facts.path), file.error().message));
  facts.weight_files.push_back(file->path);
  facts.size_bytes += file->size_bytes;
  return Done{};
}

// A language model: everything in its folder, without folders in it and hidden files, is the model.
Result<Done> add_folder(ModelFacts& facts) {
  constexpr std::size_t most_files = 1000;
  const fs::path folder = fs::path(facts.path).parent_path();
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name == kFolderConfig || name.starts_with('.') || fs::is_directory(entry->symlink_status(ignored))) continue;
    names.push_back(name);
    if (names.size() == most_files)
      return model_error(
          fmt::format("{} is refused: it has more than {} files", in_quotes(folder.string()), most_files));
  }
  if (error) return io_error(fmt::format("cannot read the folder {}: {}", in_quotes(folder.string()), error.message()));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const auto file = check_weight_file(name, folder);
    if (!file.ok())
      return model_error(fmt::format("the model {} is refused: {}; copy it with its files (cp -rL)",
                                     in_quotes(folder.string()), file.error().message));
    facts.weight_files.push_back(file->path);
    facts.size_bytes += file->size_bytes;
  }
  return Done{};
}

// Of the file; with weights in files of their own, of all the files' digests together, so that none can change
// unnoticed.
Result<std::string> sha256_of_model(const fs::path& file, const std::vector<std::string>& weight_files,
                                    const std::atomic<int>* interrupt) {
  INFERMETER_TRY(std::string digests, sha256_of_file(file, interrupt));
  if (weight_files.empty()) return digests;
  for (const auto& weights : weight_files) {
    INFERMETER_TRY(const std::string digest, sha256_of_file(weights, interrupt));
    digests += digest;
  }
  return sha256_of_text(digests);
}

Result<Done> check_code(const ModelFacts& facts, const ModelOptions& options) {
  if (facts.format == "py") {
    return model_error(fmt::format("{} is Python code: name the function in it that makes the model, {}:FACTORY",
                                   in_quotes(facts.path), fs::path(facts.path).filename().string()));
  }
  const bool is_code = std::find(code_endings.begin(), code_endings.end(), facts.format) != code_endings.end();
  if (!is_code || options.allow_code) return Done{};
  return model_error(
      fmt::format("{} contains code (loading it runs that code): add --allow-code if you trust it, or "
                  "export it to ONNX",
                  in_quotes(facts.path)));
}

// A file's digest and the function's name: another function of the same file is another model.
Result<ModelFacts> resolve_factory(std::string_view model, const Factory& factory) {
  ModelFacts facts;
  facts.name = model;
  facts.path = model;
  facts.format = "python";
  facts.sha256 = sha256_of_text(model);
  if (!factory.is_file) return facts;
  const fs::path file = fs::absolute(fs::path(factory.source)).lexically_normal();
  std::error_code error;
  if (fs::status(file, error).type() == fs::file_type::not_found) {
    return usage_error(fmt::format("the model {} is made by a file that is not there, {}", in_quotes(model),
                                   in_quotes(file.string())));
  }
  facts.path = fmt::format("{}:{}", file.string(), factory.name);
  INFERMETER_TRY(facts.files, identities_of(facts));
  INFERMETER_TRY(const auto mapped, MappedFile::open(file));
  facts.sha256 = sha256_of_text(fmt::format("{}:{}", sha256_of_text(mapped.bytes()), factory.name));
  INFERMETER_TRY_DONE(mapped.check_whole());
  return facts;
}

Result<ModelFacts> resolve_file(std::string_view model, const fs::path& file, const ModelOptions& options) {
  ModelFacts facts;
  facts.name = model;
  facts.path = fs::absolute(file).lexically_normal().string();
  facts.format = is_folder_config(facts.path) ? kFolderFormat : ending_of(file);
  INFERMETER_TRY_DONE(check_code(facts, options));
  {
    INFERMETER_TRY(const auto mapped, MappedFile::open(file));
    facts.size_bytes = mapped.bytes().size();
    if (facts.format == "onnx") INFERMETER_TRY_DONE(add_onnx(facts));
    if (facts.format == "xml") INFERMETER_TRY_DONE(add_openvino(facts, mapped.bytes()));
    if (facts.format == kFolderFormat) INFERMETER_TRY_DONE(add_folder(facts));
    // What of a broken one can be read, its runtime decides.
    if (facts.format == kGgufFormat)
      if (const auto summary = read_gguf_summary(mapped.bytes(), facts.path); summary.ok() && summary->parts <= 1)
        facts.parameters = summary->parameters;
    INFERMETER_TRY_DONE(mapped.check_whole());
  }
  INFERMETER_TRY(facts.files, identities_of(facts));
  INFERMETER_TRY(facts.sha256, sha256_of_model(file, facts.weight_files, options.interrupt));
  INFERMETER_TRY(const auto after, identities_of(facts));
  if (after != facts.files) return changed_while_read(facts);
  return facts;
}

// nullopt: it is no digest of the file (a conversion has that of the model that it was made of).
Result<std::optional<std::string>> digest_now(const ModelFacts& model) {
  const bool is_folder = model.format == kFolderFormat;
  if (model.from_zoo && model.format != "onnx" && !is_folder) return std::optional<std::string>();
  if (model.from_zoo && !is_folder) {
    INFERMETER_TRY(std::string digest, sha256_of_file(model.path));
    return std::optional(std::move(digest));
  }
  INFERMETER_TRY(ModelFacts now, resolve_model(model.path, {}, {.allow_code = true}));
  return std::optional(std::move(now.sha256));
}

}  // namespace

Error unknown_model(std::string_view model) {
  std::vector<std::string> names;
  for (const auto& entry : zoo()) names.emplace_back(entry.name);
  const auto near = nearest_name(model, names);
  return usage_error(
      fmt::format("unknown model {}: it is neither a file nor in the zoo{} (`infermeter models` lists {})",
                  in_quotes(model), near ? fmt::format("; did you mean '{}'?", *near) : "", near ? "them" : "what is"));
}

Result<ModelFacts> resolve_model(std::string_view model, const fs::path& cache, const ModelOptions& options) {
  for (const auto& entry : zoo()) {
    if (entry.name == model) return resolve_zoo(entry, cache);
  }
  const bool fits = !model.empty() && model.size() < longest_name && model.find('\0') == std::string_view::npos;
  std::error_code error;
  if (!fits) return unknown_model(model);
  if (fs::status(fs::path(model), error).type() != fs::file_type::not_found) {
    const fs::path config = fs::path(model) / kFolderConfig;
    return resolve_file(model, fs::is_regular_file(config, error) ? config : fs::path(model), options);
  }
  const auto factory = factory_from_string(model);
  return factory ? resolve_factory(model, *factory) : unknown_model(model);
}

bool is_pickle_of_torch(const fs::path& file) {
  const std::string ending = ending_of(file);
  if (ending != "pt" && ending != "pth") return false;
  const auto mapped = MappedFile::open(file);
  if (!mapped.ok()) return false;
  // The archive's directory, at its end, has a member of this name where there is TorchScript.
  constexpr std::size_t directory = std::size_t{16} << 20;
  const std::string_view bytes = mapped->bytes();
  return bytes.substr(bytes.size() - std::min(bytes.size(), directory)).find("/constants.pkl") ==
         std::string_view::npos;
}

Result<std::vector<ModelFileIdentity>> identities_of(const ModelFacts& model) {
  std::vector<std::string> paths = model.weight_files;
  const auto factory = model.format == "python" ? factory_from_string(model.path) : std::nullopt;
  if (!factory) {
    paths.insert(paths.begin(), model.path);
  } else if (factory->is_file) {
    paths.emplace_back(factory->source);
  }
  std::vector<ModelFileIdentity> files;
  for (const std::string& path : paths) {
    INFERMETER_TRY(ModelFileIdentity file, identity_of(path));
    files.push_back(std::move(file));
  }
  return files;
}

Result<Done> check_unchanged(ModelFacts& model) {
  if (model.files.empty()) return Done{};
  INFERMETER_TRY(auto files, identities_of(model));
  if (files == model.files) return Done{};
  const auto digest = digest_now(model);
  if (!digest.ok() || *digest != model.sha256) {
    const std::string now =
        !digest.ok() ? "now " + digest.error().message : fmt::format("{:.12} now", digest->value_or("another"));
    return io_error(fmt::format("the file of model {} changed during the run (SHA-256 {:.12} before, {})",
                                in_quotes(model.name), model.sha256, now));
  }
  model.files = std::move(files);
  return Done{};
}

}  // namespace infermeter
