// Readers of files from outside, each as a function of bytes: what the fuzzer feeds, and what the corpus is replayed
// with.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace infermeter::fuzz {

using Bytes = std::span<const std::byte>;

void onnx(Bytes bytes);
void npy(Bytes bytes);
void npz(Bytes bytes);
void image(Bytes bytes);
void toml(Bytes bytes);     // plan, gate, study, infermeter.toml
void profile(Bytes bytes);  // every format of `infermeter import`, and what back ends leave
void store(Bytes bytes);    // every JSON of the store

struct Target {
  std::string_view name;  // its folder in corpus/
  void (*read)(Bytes bytes);
};
inline constexpr Target targets[] = {{"onnx", onnx}, {"npy", npy},         {"npz", npz},    {"image", image},
                                     {"toml", toml}, {"profile", profile}, {"store", store}};

}  // namespace infermeter::fuzz
