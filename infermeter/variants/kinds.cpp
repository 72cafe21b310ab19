#include "infermeter/variants/kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/plan/subject.hpp"

namespace infermeter {
namespace {

constexpr std::array<std::string_view, 4> kUsualPrecisions = {"float32", "float16", "bfloat16", "int8"};
constexpr std::array<std::string_view, 3> kUsualOfLanguageModels = {"float32", "int8", "int4"};
constexpr std::string_view kGguf = "gguf";
constexpr std::array<std::string_view, 2> kUsualQuantisations = {"static", "nncf"};

struct Phase {
  std::string_view name;
  std::string_view options;  // of the back end, as in a subject
  Precision dtype = Precision::float32;
};
constexpr std::array kPhases = {
    Phase{"eager", ""},
    Phase{"channels_last", "channels_last=true"},
    Phase{"autocast", "autocast=true", Precision::bfloat16},
    Phase{"compile", "compile=true"},
    Phase{"dynamic_int8", "quantize=dynamic"},
    Phase{"phase1", "channels_last=true,compile=true"},
    Phase{"stacked", "channels_last=true,quantize=dynamic,compile=true,autocast=true", Precision::bfloat16},
};

template <class Names>
std::vector<std::string> or_else(const std::vector<std::string>& asked, const Names& usual) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view word) {
    if (!contains(words, word)) words.emplace_back(word);
  };
  if (asked.empty())
    for (const std::string_view word : usual) add(word);
  for (const std::string& word : asked) add(word);
  return words;
}

Kind executed_as(const BackendInfo& backend, Precision dtype) {
  Kind kind{.name = std::string(to_string(dtype)), .dtype = dtype};
  if (!contains(backend.dtypes, kind.name)) {
    kind.refusal =
        fmt::format("{} executes no {} here, but {}", backend.name, kind.name, fmt::join(backend.dtypes, ", "));
  }
  return kind;
}

Kind made(std::string name, VariantMaking making) { return {.name = std::move(name), .making = std::move(making)}; }

// Stored and computed as float16 where the runtime can; a CPU computes in float32 all the same.
Kind float16_of(const BackendInfo& backend) {
  if (reads(backend, "xml")) {
    return made(
        "float16",
        {.maker = "float16_openvino", .ending = "xml", .words = "float16 weights by OpenVINO", .tool = "openvino"});
  }
  return made("float16", {.maker = "float16_onnx",
                          .ending = "onnx",
                          .words = "float16 by ONNX Runtime's converter",
                          .tool = "onnxruntime"});
}

Kind int8_of(const BackendInfo& backend, const std::string& how) {
  const VariantMaking making = how == "static"    ? VariantMaking{.maker = "int8_static",
                                                                  .ending = "onnx",
                                                                  .calibrates = true,
                                                                  .words = "int8 static by ONNX Runtime",
                                                                  .tool = "onnxruntime"}
                               : how == "dynamic" ? VariantMaking{.maker = "int8_dynamic",
                                                                  .ending = "onnx",
                                                                  .words = "int8 dynamic by ONNX Runtime",
                                                                  .tool = "onnxruntime"}
                                                  : VariantMaking{.maker = "int8_nncf",
                                                                  .ending = "xml",
                                                                  .calibrates = true,
                                                                  .words = "int8 static by NNCF",
                                                                  .tool = "nncf"};
  Kind kind = made("int8-" + how, making);
  if (!reads(backend, making.ending)) {
    kind.refusal = fmt::format("NNCF makes an OpenVINO model, which {} does not read", backend.name);
  }
  return kind;
}

// The package that the maker of a back end calls.
const char* maker_of_weights(std::string_view backend) {
  if (backend == "llama-cpp") return "cyllama";
  return backend == "onnxruntime-genai" ? "onnxruntime" : "nncf";
}

// Weights of fewer bits by the runtime's own tool: a maker beside its back end.
Kind with_weights_of(const BackendInfo& backend, const std::string& precision, const std::string& format) {
  return made(precision, {.maker = "weights_" + backend.name,
                          .ending = format == kGguf ? format : std::string(kFolderConfig),
                          .options = {{"bits", precision.substr(3)}},
                          .words = precision + " weights for " + backend.runtime_name,
                          .tool = maker_of_weights(backend.name)});
}

Kind refused(std::string name, std::string why) { return {.name = std::move(name), .refusal = std::move(why)}; }

Result<std::vector<Kind>> language_kinds(const VariantsRequest& request, const BackendInfo& backend,
                                         const std::string& format) {
  if (!request.quantisations.empty())
    return usage_error("--quantise is of other models: int8 and int4 of a language model are of its weights alone");
  std::vector<Kind> kinds;
  for (const std::string& precision : or_else(request.precisions, kUsualOfLanguageModels)) {
    if (precision.starts_with("int")) {
      kinds.push_back(with_weights_of(backend, precision, format));
    } else {
      INFERMETER_TRY(const Precision dtype, precision_from_string(precision));
      kinds.push_back(executed_as(backend, dtype));
    }
  }
  for (const double share : request.pruned_shares)
    kinds.push_back(refused(fmt::format("pruned-{:g}%", share * 100), "language models are not pruned"));
  return kinds;
}

Kind pruned_to(double share) {
  return made(fmt::format("pruned-{:g}%", share * 100),
              {.maker = "pruned",
               .ending = "onnx",
               .options = {{"share", fmt::format("{:g}", share)}},
               .words = fmt::format("{:g} % of its weights set to 0", share * 100)});
}

// By the back end pytorch when it loads, on the weights of any form that it reads.
Kind pruned_when_loaded(double share, const std::string& how) {
  Kind kind{.name = fmt::format("pruned-{:g}%{}", share * 100, how == "structured" ? "-structured" : "")};
  kind.options = {{"prune", fmt::format("{:g}", share)}, {"prune_how", how}};
  kind.saving = module_file(kind.options, kind.name);
  return kind;
}

Result<Kind> phase_of(const BackendInfo& backend, const std::string& name) {
  if (name == "tensorrt") {
    return Kind{.name = name,
                .refusal =
                    "there is no TensorRT here: it needs an NVIDIA GPU and a runtime that no back "
                    "end of this machine has"};
  }
  const auto* const phase = std::ranges::find(kPhases, name, &Phase::name);
  Kind kind = phase->dtype == Precision::float32 ? Kind{.name = name} : executed_as(backend, phase->dtype);
  kind.name = name;
  if (phase->options.empty()) return kind;
  INFERMETER_TRY(const auto draft, subject_draft_from_string(fmt::format("m@{},{}", backend.name, phase->options)));
  kind.options = draft.options;
  if (name == "dynamic_int8") kind.saving = module_file(kind.options, name);
  return kind;
}

Result<Kind> int8_when_loaded(const VariantsRequest& request, const BackendInfo& backend) {
  Kind kind{.name = "int8-dynamic"};
  if (backend.name != kFramework) {
    kind.refusal = fmt::format("{} makes no int8 of a model", backend.name);
    return kind;
  }
  INFERMETER_TRY(kind, phase_of(backend, "dynamic_int8"));
  kind.name = "int8-dynamic";
  if (!request.quantisations.empty() && !contains(request.quantisations, "dynamic")) {
    kind.refusal = fmt::format(
        "{} makes int8 weights only, whose inputs are quantised as they come: --quantise dynamic", backend.name);
  }
  return kind;
}

// What of the request a framework can do with a factory, or with the zoo's definition of a network.
Result<std::vector<Kind>> framework_kinds(const VariantsRequest& request, const BackendInfo& backend) {
  std::vector<Kind> kinds;
  if (backend.name == kFramework) {
    for (const std::string& phase : or_else(request.phases, std::array<std::string_view, 1>{"eager"})) {
      INFERMETER_TRY(auto kind, phase_of(backend, phase));
      kinds.push_back(std::move(kind));
    }
  }
  for (const double share : request.pruned_shares) {
    for (const std::string& how : or_else(request.pruned_how, std::array<std::string_view, 1>{"unstructured"})) {
      Kind kind = pruned_when_loaded(share, how);
      if (backend.name != kFramework) kind.refusal = fmt::format("{} sets no weights to 0", backend.name);
      kinds.push_back(std::move(kind));
    }
  }
  for (const std::string& precision : or_else(request.precisions, std::array<std::string_view, 1>{"float32"})) {
    if (precision == "float32" && backend.name == kFramework) continue;  // eager
    if (precision == "int8") {
      INFERMETER_TRY(auto kind, int8_when_loaded(request, backend));
      kinds.push_back(std::move(kind));
    } else if (precision == "int4") {
      kinds.push_back(refused(precision, backend.name + " makes no 4-bit weights of a model"));
    } else {
      INFERMETER_TRY(const Precision dtype, precision_from_string(precision));
      kinds.push_back(executed_as(backend, dtype));
    }
  }
  return kinds;
}

}  // namespace

VariantMaking module_file(Pairs options, std::string words) {
  return {.maker = "torch_module", .ending = "pt", .options = std::move(options), .words = std::move(words)};
}

bool reads(const BackendInfo& backend, std::string_view format) {
  return contains(backend.model_formats, format) || contains(backend.model_formats, "*");
}

bool reads_by_itself(const BackendInfo& backend, const ModelFacts& model) {
  if (!backend.error.empty() || !contains(backend.model_formats, model.format)) return false;
  return contains(backend.model_formats, "python") || !is_pickle_of_torch(model.path);
}

Result<std::vector<Kind>> kinds_of(const VariantsRequest& request, const BackendInfo& backend,
                                   const std::string& format) {
  if (!reads(backend, format) || format == "python" || backend.name == kFramework)
    return framework_kinds(request, backend);
  if (format == kFolderFormat || format == kGguf) return language_kinds(request, backend, format);
  std::vector<Kind> kinds;
  for (const std::string& precision : or_else(request.precisions, kUsualPrecisions)) {
    if (precision == "float32") kinds.push_back(executed_as(backend, Precision::float32));
    if (precision == "float16") kinds.push_back(float16_of(backend));
    if (precision == "bfloat16") kinds.push_back(executed_as(backend, Precision::bfloat16));
    if (precision == "int4") kinds.push_back(refused(precision, "4-bit weights are of language models"));
    if (precision != "int8") continue;
    for (const std::string& how : or_else(request.quantisations, kUsualQuantisations)) {
      Kind kind = int8_of(backend, how);
      // Not asked for by name: what this back end has no use for is no news.
      if (request.quantisations.empty() && !kind.refusal.empty()) continue;
      kinds.push_back(std::move(kind));
    }
  }
  for (const double share : request.pruned_shares) {
    for (const std::string& how : or_else(request.pruned_how, std::array<std::string_view, 1>{"unstructured"})) {
      Kind kind = pruned_to(share);
      if (how == "structured") kind.name += "-structured";
      if (how == "structured") kind.refusal = "whole channels are set to 0 of PyTorch models only";
      kinds.push_back(std::move(kind));
    }
  }
  return kinds;
}

}  // namespace infermeter
