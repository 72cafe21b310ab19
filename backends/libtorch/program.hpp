// What can be run: a TorchScript module or the code of an AOTInductor package.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "input_shapes.hpp"
#include "package_text.hpp"
#include "sdk/port.hpp"

namespace infermeter {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;  // undefined: an absent optional
};

// One inference at a time with its own inputs.
class Inference {
 public:
  Inference() = default;
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;
  virtual ~Inference() = default;

  virtual void set_input(std::size_t index, at::Tensor tensor) = 0;
  // What is timed: the call that a program of one's own would make, and nothing else.
  virtual void run() = 0;
  // Of the last run.
  [[nodiscard]] virtual std::vector<NamedTensor> outputs() const = 0;
};

struct Input {
  PortFields port;
  std::vector<CompiledDimension> compiled;  // of a package: what its dynamic dimensions may be
  std::vector<std::int64_t> written{};      // as input_shape has them; empty: it says nothing of this input
};

class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  [[nodiscard]] virtual std::unique_ptr<Inference> make_inference() = 0;

  std::vector<Input> inputs;
  std::vector<std::string> output_names;  // as far as they are known before a run
  std::string provider;                   // "torchscript", "aotinductor"
  std::string dtype;                      // of its weights and inputs: "float32", "float32+float16"
  std::uint64_t parameters = 0;
  at::ScalarType precision = at::kFloat;  // what float32 inputs are turned into
  at::Device device = at::kCPU;
};

struct ProgramRequest {
  const imb_load& load;
  std::vector<InputShape> shapes;       // empty: not given
  std::vector<InputShape> data_shapes;  // of the data, for a program that shows nothing; empty: not known
  at::Device device;
  at::ScalarType precision;
  int threads;
};

// All throw Failure.
[[nodiscard]] std::unique_ptr<Program> load_torchscript(const ProgramRequest& request);
[[nodiscard]] std::unique_ptr<Program> load_package(const ProgramRequest& request, const std::string& model,
                                                    const std::string& text);
// Finds out which of the two the file is.
[[nodiscard]] std::unique_ptr<Program> load_program(const ProgramRequest& request);

// "float32", or of several "float32+float16": the floating types among these, the widest use first.
[[nodiscard]] std::string floats_among(const std::vector<at::ScalarType>& types);

}  // namespace infermeter
