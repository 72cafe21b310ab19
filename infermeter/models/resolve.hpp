// MODEL as the user wrote it -> the file that a runtime reads, checked before any runtime sees it.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/model_facts.hpp"

namespace infermeter {

struct ModelOptions {
  bool allow_code = false;  // files that are code by nature: .pt, pickles
};

// A zoo name (built into `cache`), a path, or, where no file of this name exists, a factory (plan/subject.hpp: naming
// one is asking for its code). Refuses, with the path in the sentence: missing, empty, not a regular file, a file that
// is code unless that is allowed, ONNX that is cut or not ONNX, and ONNX external data outside of the model's folder
// ('..', absolute, symlink, FIFO, device, negative offset, beyond the file's end).
[[nodiscard]] Result<ModelFacts> resolve_model(std::string_view model, const std::filesystem::path& cache,
                                               const ModelOptions& options = {});

// Of the model's file, weight files and code; empty where there is none. Fails where a file is not there any more.
[[nodiscard]] Result<std::vector<ModelFileIdentity>> identities_of(const ModelFacts& model);

// An error if the model's files are not those that its SHA-256 was computed of. Files with another identity and the
// same contents are the same: their identities are taken over. Costs a look at each file, and hashing it where that
// differs.
[[nodiscard]] Result<Done> check_unchanged(ModelFacts& model);

// What an ONNX file declares, read with bounds and without recursion; memory does not grow with what the file claims.
struct OnnxSummary {
  std::vector<Port> inputs, outputs;  // initialisers that are also inputs left out
  // Elements of float initialisers, and of integer ones that are quantised weights; not what quantisation adds (scales,
  // zero points), nor the running statistics of normalisations.
  std::uint64_t parameters = 0;
  // Of them. nullopt: it cannot be told, as weights are in other files, or their zero need not be 0 (unsigned ones).
  std::optional<std::uint64_t> nonzero_parameters = 0;
  std::uint64_t nodes = 0;
  std::int64_t ir_version = 0, opset = 0;
  struct External {
    std::string tensor, location;
    std::int64_t offset = 0, length = -1;  // -1: to the end of the file
  };
  std::vector<External> external;
};
[[nodiscard]] Result<OnnxSummary> read_onnx_summary(const std::filesystem::path& file);

// Of them the inputs and outputs alone, as quick for large files as for small ones.
struct OnnxPorts {
  std::vector<Port> inputs, outputs;
};
[[nodiscard]] Result<OnnxPorts> read_onnx_ports(const std::filesystem::path& file);

// $INFERMETER_CACHE, else $XDG_CACHE_HOME/infermeter, else ~/.cache/infermeter, else a folder under the temporary one.
[[nodiscard]] std::filesystem::path default_cache();

// Lower-case hex of SHA-256.
[[nodiscard]] Result<std::string> sha256_of_file(const std::filesystem::path& file);
[[nodiscard]] std::string sha256_of_text(std::string_view text);

}  // namespace infermeter
