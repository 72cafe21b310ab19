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
void report(Bytes bytes);   // a JSON report read back
void tensor(Bytes bytes);   // ONNX's messages for values: test data
void frames(Bytes bytes);   // what workers send: frames, their JSON, the block of tensors
void expose(Bytes bytes);   // a model written again with its intermediate tensors as outputs
void jit(Bytes bytes);      // names of generated code
void server(Bytes bytes);   // what a server answers to the back end kserve
void grpc(Bytes bytes);     // … by gRPC
void stream(Bytes bytes);   // … and to openai: reads of a stream of events, or an answer in one piece
void http(Bytes bytes);     // an answer on the wire: reads of it
void prompts(Bytes bytes);  // files of prompts, of every form
void trace(Bytes bytes);    // recorded arrivals, with lengths and without
void gguf(Bytes bytes);     // a language model's file

struct Target {
  std::string_view name;  // its folder in corpus/
  void (*read)(Bytes bytes);
};
inline constexpr Target targets[] = {{"onnx", onnx},     {"npy", npy},     {"npz", npz},       {"image", image},
                                     {"toml", toml},     {"store", store}, {"report", report}, {"profile", profile},
                                     {"tensor", tensor}, {"jit", jit},     {"frames", frames}, {"expose", expose},
                                     {"server", server}, {"grpc", grpc},   {"stream", stream}, {"prompts", prompts},
                                     {"trace", trace},   {"gguf", gguf},   {"http", http}};

}  // namespace infermeter::fuzz
