// MODEL as the user wrote it -> the file that a runtime reads, checked before any runtime sees it.
#pragma once

#include <atomic>
#include <filesystem>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/models/cache.hpp"
#include "infermeter/models/onnx/summary.hpp"
#include "infermeter/models/sha256.hpp"
#include "infermeter/samples/model_facts.hpp"

namespace infermeter {

struct ModelOptions {
  bool allow_code = false;                      // files that are code by nature: .pt, pickles
  const std::atomic<int>* interrupt = nullptr;  // as in RunContext
};

// A zoo name (built into `cache`), a path of a file or of a language model's folder (plan/subject.hpp), or, where no
// file of this name exists, a factory (plan/subject.hpp: naming one is asking for its code). Refuses, with the path in
// the sentence: missing, empty, not a regular file, a file that is code unless that is allowed, ONNX that is cut or not
// ONNX, and ONNX external data outside of the model's folder
// ('..', absolute, symlink, FIFO, device, negative offset, beyond the file's end).
[[nodiscard]] Result<ModelFacts> resolve_model(std::string_view model, const std::filesystem::path& cache,
                                               const ModelOptions& options = {});

// The sentence for a name that is neither a file nor a model of the zoo.
[[nodiscard]] Error unknown_model(std::string_view model);

// A .pt or .pth file without a program of TorchScript in it: a pickle, whose classes only Python knows. False of what
// cannot be read.
[[nodiscard]] bool is_pickle_of_torch(const std::filesystem::path& file);

// Of the model's file, weight files and code; empty where there is none. Fails where a file is not there any more.
[[nodiscard]] Result<std::vector<ModelFileIdentity>> identities_of(const ModelFacts& model);

// An error if the model's files are not those that its SHA-256 was computed of. Files with another identity and the
// same contents are the same: their identities are taken over. Costs a look at each file, and hashing it where that
// differs.
[[nodiscard]] Result<Done> check_unchanged(ModelFacts& model);

}  // namespace infermeter
