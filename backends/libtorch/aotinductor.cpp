// AOTInductor packages: code that was compiled for one device, one precision and one range of shapes.
#include <c10/core/InferenceMode.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdlib>
#include <utility>

#include "errors.hpp"
#include "ports.hpp"
#include "values.hpp"

namespace infermeter {
namespace {

using torch::inductor::AOTIModelPackageLoader;

class PackageInference final : public Inference {
 public:
  PackageInference(AOTIModelPackageLoader& loader, std::size_t input_count) : loader_(loader), inputs_(input_count) {}

  void set_input(std::size_t index, at::Tensor tensor) override { inputs_[index] = std::move(tensor); }
  void run() override {
    const c10::InferenceMode guard;
    outputs_ = loader_.run(inputs_);
  }
  [[nodiscard]] std::vector<NamedTensor> outputs() const override {
    std::vector<NamedTensor> named;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      named.push_back({outputs_.size() == 1 ? "output" : "output." + std::to_string(i), outputs_[i]});
    }
    return named;
  }

 private:
  AOTIModelPackageLoader& loader_;
  std::vector<at::Tensor> inputs_, outputs_;
};

class PackageProgram final : public Program {
 public:
  PackageProgram(const std::string& path, const std::string& model) : loader_(path, model) {}
  [[nodiscard]] std::unique_ptr<Inference> make_inference() override {
    return std::make_unique<PackageInference>(loader_, inputs.size());
  }
  AOTIModelPackageLoader& loader() { return loader_; }

 private:
  AOTIModelPackageLoader loader_;
};

std::string device_name(at::Device device) { return device.is_cuda() ? "cuda" : "cpu"; }

// Before the code is loaded, which may need a device's libraries.
void check_device(const ProgramRequest& request, const std::string& model) {
  auto metadata = AOTIModelPackageLoader::load_metadata_from_package(request.load.model_path, model);
  const std::string compiled = metadata["AOTI_DEVICE_KEY"];
  if (compiled.empty() || compiled == device_name(request.device)) return;
  fail(IMB_UNSUPPORTED, std::string(request.load.model_path) + " was compiled for device " + compiled +
                            " and not for " + device_name(request.device) + "; give device=" + compiled +
                            ", or compile it again");
}

void check_threads(const std::string& text, int threads) {
  const auto compiled = compiled_threads(text);
  if (!compiled || *compiled == threads) return;
  fail(IMB_INVALID_ARGUMENT, "the package was compiled for " + std::to_string(*compiled) + " threads and not for " +
                                 std::to_string(threads) + "; give threads=" + std::to_string(*compiled) +
                                 ", or compile it with TORCHINDUCTOR_CPP_DYNAMIC_THREADS=1");
}

std::vector<Input> inputs_of(const ProgramRequest& request, const std::string& text, std::size_t count) {
  const auto compiled = compiled_inputs(text);
  if (compiled.empty() && count > 0 && request.shapes.size() != count) {
    fail(IMB_INVALID_ARGUMENT, std::string(request.load.model_path) + " does not declare the shapes of its " +
                                   std::to_string(count) + " inputs, since it was made without its C++ text; give " +
                                   "input_shape=1x3x224x224, for example, of several separated by ';' (--option)");
  }
  // Nobody could tell otherwise that the option is wrong, and memory would be read beyond a tensor's end.
  if (compiled.empty()) setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 1);
  return inputs_of_package(compiled, request.shapes);
}

void describe_package(Program& program, AOTIModelPackageLoader& loader) {
  std::vector<at::ScalarType> types;
  for (const auto& [name, constant] : loader.get_runner()->extract_constants_map(false)) {
    types.push_back(constant.scalar_type());
    if (constant.is_floating_point()) program.parameters += static_cast<std::uint64_t>(constant.numel());
  }
  for (const Input& input : program.inputs) types.push_back(*scalar_type_from(input.port.dtype));
  program.dtype = floats_among(types);
}

void check_dtype(const Program& program, const std::string& asked) {
  // Whole names: bfloat16 is no float16.
  if (('+' + program.dtype + '+').find('+' + asked + '+') != std::string::npos) return;
  fail(IMB_UNSUPPORTED, "the package was compiled for " + program.dtype + " and cannot execute " + asked +
                            "; give dtype=" + program.dtype.substr(0, program.dtype.find('+')) +
                            ", or compile it again");
}

}  // namespace

std::unique_ptr<Program> load_package(const ProgramRequest& request, const std::string& model,
                                      const std::string& text) {
  const std::string path = request.load.model_path;
  return in_torch(IMB_MODEL_ERROR, "PyTorch could not load " + path, [&]() -> std::unique_ptr<Program> {
    check_device(request, model);
    check_threads(text, request.threads);
    const c10::InferenceMode guard;  // as a program of one's own would be in it when it loads
    auto program = std::make_unique<PackageProgram>(path, model);
    const auto call_spec = program->loader().get_call_spec();
    program->provider = "aotinductor";
    program->device = request.device;
    program->inputs = inputs_of(request, text, call_spec.empty() ? 0 : leaf_count(call_spec.front()));
    const std::size_t outputs = call_spec.size() < 2 ? 1 : leaf_count(call_spec[1]);
    for (std::size_t i = 0; i < outputs; ++i) {
      program->output_names.push_back(outputs == 1 ? "output" : "output." + std::to_string(i));
    }
    describe_package(*program, program->loader());
    check_dtype(*program, request.load.dtype);
    fix_dimensions(program->inputs, request.load);
    return program;
  });
}

}  // namespace infermeter
