#include "archive.hpp"

#include <caffe2/serialize/inline_container.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>
#include <vector>

#include "errors.hpp"

namespace infermeter {
namespace {

using caffe2::serialize::PyTorchStreamReader;
using Names = std::vector<std::string>;

constexpr std::string_view compiled_folder = "data/aotinductor/";
constexpr std::size_t most_text = std::size_t{64} << 20;

void require_file(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) {
    fail(IMB_MODEL_ERROR, "PyTorch could not read " + path + ": " + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) fail(IMB_MODEL_ERROR, "PyTorch could not read " + path + ": it is not a regular file");
}

bool any_begins(const Names& names, std::string_view beginning) {
  return std::ranges::any_of(names, [&](const std::string& name) { return name.starts_with(beginning); });
}

// data/aotinductor/MODEL/FILE
std::string model_of(const Names& names, const std::string& path) {
  std::set<std::string> models;
  for (const std::string& name : names) {
    if (!name.starts_with(compiled_folder)) continue;
    const std::size_t end = name.find('/', compiled_folder.size());
    if (end != std::string::npos) models.insert(name.substr(compiled_folder.size(), end - compiled_folder.size()));
  }
  if (models.size() == 1) return *models.begin();
  if (models.contains("model")) return "model";
  std::string list;
  for (const std::string& model : models) list += (list.empty() ? "" : ", ") + model;
  fail(IMB_MODEL_ERROR, path + " holds the code of several models (" + list + "), and none is called model");
}

std::string text_of(PyTorchStreamReader& reader, const Names& names, const std::string& model) {
  std::string text;
  for (const std::string& name : names) {
    if (!name.starts_with(std::string(compiled_folder) + model + "/") || !name.ends_with(".cpp")) continue;
    if (reader.getRecordSize(name) > most_text - text.size()) continue;
    const auto [bytes, size] = reader.getRecord(name);
    text.append(static_cast<const char*>(bytes.get()), size).append("\n");
  }
  return text;
}

[[noreturn]] void refuse(const Names& names, const std::string& path) {
  if (any_begins(names, "models/") || any_begins(names, "serialized_exported_program")) {
    fail(IMB_MODEL_ERROR, path + " is an exported program without compiled code: compile it with " +
                              "torch._inductor.aoti_compile_and_package, or run it with the pytorch back end");
  }
  if (any_begins(names, "data.pkl")) {
    fail(IMB_MODEL_ERROR, path +
                              " holds pickled weights or a pickled module, and no program: make a TorchScript file " +
                              "with torch.jit.trace or torch.jit.script and its save()");
  }
  fail(IMB_MODEL_ERROR, path + " is neither a TorchScript file nor an AOTInductor package: there is no code in it");
}

}  // namespace

Archive read_archive(const std::string& path) {
  require_file(path);
  return in_torch(IMB_MODEL_ERROR, "PyTorch could not read " + path, [&] {
    PyTorchStreamReader reader(path);
    const Names names = reader.getAllRecords();
    if (any_begins(names, compiled_folder)) {
      const std::string model = model_of(names, path);
      return Archive{Archive::Kind::package, model, text_of(reader, names, model)};
    }
    if (any_begins(names, "code/")) return Archive{Archive::Kind::torchscript, "", ""};
    refuse(names, path);
  });
}

}  // namespace infermeter
