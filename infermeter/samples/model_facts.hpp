// ModelFacts: which file was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace infermeter {

struct Samples;

// Which file lay at a path: another one that is put there, and whatever is written to it, has another identity.
struct ModelFileIdentity {
  std::string path{};
  std::uint64_t device = 0, inode = 0, size_bytes = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  bool operator==(const ModelFileIdentity&) const = default;
};

struct ModelFacts {
  std::string name;    // as asked for
  std::string path;    // absolute, of the file that the runtime reads; MODULE:FACTORY or /FILE.py:FACTORY as it is
  std::string format;  // its ending: "onnx", "xml", …; "python" for a factory
  std::string sha256;  // of that file; with weight_files, of the digests of all files, one behind the other; of a
                       // factory, of its file's digest and its name, or of the string where a module is named
  // What the runtime executes, where it shows that (take_reported_size); else of the file with its weights files, and
  // the elements of its floating-point weights. 0 and nullopt: not known.
  std::uint64_t size_bytes = 0;
  std::optional<std::uint64_t> parameters;
  std::optional<std::uint64_t> nonzero_parameters{};  // of them; nullopt: not counted
  std::vector<std::string> weight_files;              // external data, absolute
  bool from_zoo = false;
  std::vector<ModelFileIdentity> files{};  // that sha256 is of, as they were when it was computed; not stored
  std::string made{};  // how it was made of another model: "int8 static by ONNX Runtime 1.31.1"; empty: it was given
};

// The size and the parameters of what this trial executed ("model_bytes", "parameters"), where its runtime reported
// them: a factory's model has no file, and one that was quantised while loading is not what its file holds.
void take_reported_size(ModelFacts& model, const Samples& trial);

}  // namespace infermeter
