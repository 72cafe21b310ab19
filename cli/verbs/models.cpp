// infermeter models: the zoo, and what a model file declares.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/flags/list_format.hpp"
#include "cli/output/columns.hpp"
#include "cli/output/help.hpp"
#include "cli/output/output_file.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/models/gguf/gguf_summary.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/models/zoo/zoo.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::ordered_json;

struct ModelsOptions {
  ListFormat format;
  std::string name, file;
  bool force = false;
};

Result<int> list_models(Surroundings& world, const ModelsOptions& options) {
  INFERMETER_TRY(const bool json, options.format.is_json());
  Json array = Json::array();
  std::vector<std::vector<std::string>> rows{{"model", "parameters", "input", "what it is"}};
  for (const ZooModel& model : zoo()) {
    array.push_back({{"name", model.name},
                     {"description", model.description},
                     {"input_shape", model.input_shape},
                     {"parameters", model.parameters},
                     {"sha256", model.sha256}});
    rows.push_back({std::string(model.name), with_commas(model.parameters), std::string(model.input_shape),
                    std::string(model.description)});
  }
  world.out << (json ? json_text(array) : columns(rows));
  return 0;
}

Result<int> build(Surroundings& world, const ModelsOptions& options) {
  std::vector<std::string> names;
  for (const ZooModel& model : zoo()) names.emplace_back(model.name);
  if (std::ranges::find(names, options.name) == names.end()) {
    const auto near = nearest_name(options.name, names);
    return usage_error(fmt::format("the zoo has no model '{}'{}; there are {}", options.name,
                                   near ? fmt::format(" (did you mean '{}'?)", *near) : "", fmt::join(names, ", ")));
  }
  const bool is_folder = std::ranges::find(zoo(), options.name, &ZooModel::name)->format == kFolderFormat;
  if (is_folder) {
    std::error_code error;
    if (!options.force && std::filesystem::exists(options.file, error))
      return usage_error(
          fmt::format("'{}' is there already: {} is written as a folder; name a new one, or overwrite its "
                      "files with --force",
                      printable(options.file), options.name));
  } else if (!options.file.ends_with(".onnx")) {
    return usage_error(
        fmt::format("models of the zoo are written as ONNX, and {} does not end in .onnx: back ends know "
                    "a model's format by its name",
                    printable(options.file)));
  }
  if (!is_folder) INFERMETER_TRY_DONE(check_output_file(options.file, options.force));
  INFERMETER_TRY_DONE(build_zoo_model(options.name, options.file, world.interrupt));
  world.out << fmt::format("{} is written to {}\n", options.name, printable(options.file));
  return 0;
}

std::string dimension(const Port& port, std::size_t i) {
  if (port.shape[i] >= 0) return std::to_string(port.shape[i]);
  const bool is_named = i < port.dimension_names.size() && !port.dimension_names[i].empty();
  return is_named ? port.dimension_names[i] : "?";
}

std::string shape_of(const Port& port) {
  if (!port.rank_known) return "of any rank";
  std::vector<std::string> dimensions;
  for (std::size_t i = 0; i < port.shape.size(); ++i) dimensions.push_back(dimension(port, i));
  return fmt::format("[{}]", fmt::join(dimensions, ", "));
}

std::string type_of(const Port& port) {
  const bool is_sequence = port.kind == Value::Kind::sequence;
  const std::string element =
      port.map_key == DType::undefined
          ? fmt::format("{} {}", to_string(port.dtype), shape_of(port))
          : fmt::format("map{} of {} to {}", is_sequence ? "s" : "", to_string(port.map_key), to_string(port.dtype));
  return fmt::format("{}{}{}", port.is_optional ? "optional " : "", is_sequence ? "sequence of " : "", element);
}

std::string batch_of(const Port& port) {
  return port.batch_axis ? fmt::format("  (dimension {} is the batch)", *port.batch_axis) : std::string();
}

Json model_json(std::span<const Port> ports) {
  Json json = Json::array();
  for (const Port& port : ports) {
    json.push_back({{"name", port.name},
                    {"kind", port.kind == Value::Kind::sequence ? "sequence" : "tensor"},
                    {"dtype", to_string(port.dtype)},
                    {"optional", port.is_optional},
                    {"map_key", port.map_key == DType::undefined ? Json(nullptr) : Json(to_string(port.map_key))},
                    {"shape", port.rank_known ? Json(port.shape) : Json(nullptr)},
                    {"dimension_names", port.dimension_names},
                    {"batch_axis", port.batch_axis ? Json(*port.batch_axis) : Json(nullptr)}});
  }
  return json;
}

Json number_json(std::optional<std::uint64_t> number) { return number ? Json(*number) : Json(nullptr); }

Json gguf_json(const GgufSummary& gguf) {
  Json weights = Json::array();
  for (const auto& each : gguf.weights)
    weights.push_back({{"type", each.type},
                       {"tensors", each.tensors},
                       {"elements", each.elements},
                       {"bytes", number_json(each.bytes)}});
  return {{"version", gguf.version},
          {"architecture", gguf.architecture},
          {"name", gguf.name},
          {"tokenizer", gguf.tokenizer},
          {"parts", gguf.parts},
          {"vocabulary", number_json(gguf.vocabulary)},
          {"context_length", number_json(gguf.context_length)},
          {"embedding_length", number_json(gguf.embedding_length)},
          {"layers", number_json(gguf.layers)},
          {"heads", number_json(gguf.heads)},
          {"kv_heads", number_json(gguf.kv_heads)},
          {"kv_bytes_per_token", number_json(gguf.kv_bytes_per_token())},
          {"weights", std::move(weights)}};
}

// What a file says of itself, besides what is known of all.
struct ModelSummaries {
  std::optional<OnnxSummary> onnx{};
  std::optional<GgufSummary> gguf{};
};

Json model_json(const ModelFacts& facts, const ModelSummaries& summaries) {
  const auto& [onnx, gguf] = summaries;
  Json json{{"name", facts.name},
            {"path", facts.path},
            {"format", facts.format},
            {"size_bytes", facts.size_bytes > 0 ? Json(facts.size_bytes) : Json(nullptr)},
            {"parameters", facts.parameters ? Json(*facts.parameters) : Json(nullptr)},
            {"sha256", facts.sha256}};
  if (onnx) {
    json["opset"] = onnx->opset;
    json["nodes"] = onnx->nodes;
    json["inputs"] = model_json(onnx->inputs);
    json["outputs"] = model_json(onnx->outputs);
  }
  if (gguf) json["gguf"] = gguf_json(*gguf);
  return json;
}

// "llama, 2 layers, 4 heads (2 for keys and values), embedding 64, context 512"
std::string architecture_text(const GgufSummary& gguf) {
  std::string text = gguf.architecture.empty() ? "not said" : gguf.architecture;
  if (gguf.layers) text += fmt::format(", {} layers", *gguf.layers);
  if (gguf.heads) text += fmt::format(", {} heads", *gguf.heads);
  if (gguf.heads && gguf.kv_heads && *gguf.kv_heads != *gguf.heads)
    text += fmt::format(" ({} for keys and values)", *gguf.kv_heads);
  if (gguf.embedding_length) text += fmt::format(", embedding {}", *gguf.embedding_length);
  if (gguf.context_length) text += fmt::format(", context {}", with_commas(*gguf.context_length));
  return text;
}

std::string weights_text(const GgufSummary::Weights& weights) {
  return fmt::format("{}  {}, {} elements{}", weights.type, counted(weights.tensors, "tensor"),
                     with_commas(weights.elements),
                     weights.bytes ? ", " + format_bytes(static_cast<double>(*weights.bytes)) : std::string());
}

void add_gguf_rows(const GgufSummary& gguf, std::vector<std::vector<std::string>>& rows) {
  if (!gguf.name.empty()) rows.push_back({"name", gguf.name});
  if (gguf.parts > 1) rows.push_back({"part", fmt::format("one of {} files: its weights are not all", gguf.parts)});
  rows.push_back({"architecture", architecture_text(gguf)});
  if (!gguf.tokenizer.empty())
    rows.push_back({"tokenizer",
                    gguf.tokenizer +
                        (gguf.vocabulary ? fmt::format(", {} tokens", with_commas(*gguf.vocabulary)) : std::string())});
  for (const auto& weights : gguf.weights) rows.push_back({"weights", weights_text(weights)});
  if (const auto bytes = gguf.kv_bytes_per_token())
    rows.push_back(
        {"KV cache", fmt::format("{} per token in float16 (computed)", format_bytes(static_cast<double>(*bytes)))});
}

std::string model_text(const ModelFacts& facts, const ModelSummaries& summaries) {
  const auto& [onnx, gguf] = summaries;
  std::vector<std::vector<std::string>> rows{{"file", facts.path}, {"format", facts.format}, {"sha256", facts.sha256}};
  if (facts.size_bytes > 0)  // of a factory's model nothing is known before it is made
    rows.insert(rows.end() - 1, {"size", format_bytes(static_cast<double>(facts.size_bytes))});
  if (facts.parameters) rows.push_back({"parameters", with_commas(*facts.parameters)});
  if (onnx) {
    rows.push_back({"graph", fmt::format("{} nodes, opset {}", onnx->nodes, onnx->opset)});
    for (const Port& port : onnx->inputs) rows.push_back({"input", port.name + "  " + type_of(port) + batch_of(port)});
    for (const Port& port : onnx->outputs) rows.push_back({"output", port.name + "  " + type_of(port)});
  }
  if (gguf) add_gguf_rows(*gguf, rows);
  return columns(rows);
}

Result<int> show(Surroundings& world, const ModelsOptions& options) {
  INFERMETER_TRY(const bool json, options.format.is_json());
  // Nothing is loaded here: a file that is code is only looked at.
  INFERMETER_TRY(const ModelFacts facts, resolve_model(options.name, default_cache(), {.allow_code = true}));
  ModelSummaries summaries;
  if (facts.format == "onnx") {
    INFERMETER_TRY(summaries.onnx, read_onnx_summary(facts.path));
  } else if (facts.format == kGgufFormat) {
    INFERMETER_TRY(summaries.gguf, read_gguf_summary(std::filesystem::path(facts.path)));
  }
  world.out << (json ? json_text(model_json(facts, summaries)) : model_text(facts, summaries));
  return 0;
}

void declare_build(CLI::App& app, ModelsOptions& options) {
  set_help(app, {.usage = "infermeter models build NAME FILE [--force]",
                 .about = "Writes a model of the zoo as ONNX: seeded weights, dynamic batch, the same bytes on every "
                          "machine.",
                 .examples = {{"infermeter models build resnet50 resnet50.onnx", "102 MB."}},
                 .notes = {}});
  app.add_option("NAME", options.name, "A name listed by `infermeter models`.")
      ->required()
      ->type_name("")
      ->group("What");
  app.add_option("FILE", options.file, "The file to write.")->required()->type_name("")->group("What");
  app.add_flag("--force", options.force, "Overwrite an existing file.")->group("Flags");
}

void declare_show(CLI::App& app, ModelsOptions& options) {
  set_help(app,
           {.usage = "infermeter models show MODEL [--format json]",
            .about = "Shows inputs, outputs, parameters, size and SHA-256 of a model. ONNX and GGUF files are read "
                     "without a runtime.",
            .examples = {{"infermeter models show model.onnx", "Inputs and outputs, with the names of dimensions."},
                         {"infermeter models show model.gguf",
                          "Architecture, tokenizer, types of weights, memory of a token in the KV cache."}},
            .notes = {}});
  app.add_option("MODEL", options.name, "A name from the zoo or a file.")->required()->type_name("")->group("What");
  options.format.declare(app);
}

}  // namespace

Action declare_models(CLI::App& app) {
  auto options = std::make_shared<ModelsOptions>();
  set_help(app, {.usage = "infermeter models [build|show] …",
                 .about = "Lists the zoo: models that infermeter generates.",
                 .examples = {{"infermeter models", "The list."},
                              {"infermeter models build resnet50 resnet50.onnx", "Write one of them to a file."},
                              {"infermeter models show model.onnx", "Inputs, outputs and size of any model."}},
                 .notes = {kExitCodes}});
  options->format.declare(app);
  CLI::App* build_app = app.add_subcommand("build", "Write a model of the zoo to a file.");
  CLI::App* show_app = app.add_subcommand("show", "Inputs, outputs, parameters, size and SHA-256 of a model.");
  declare_build(*build_app, *options);
  declare_show(*show_app, *options);
  app.require_subcommand(0, 1);
  return [options, build_app, show_app](Surroundings& world) {
    if (build_app->parsed()) return build(world, *options);
    return show_app->parsed() ? show(world, *options) : list_models(world, *options);
  };
}

}  // namespace infermeter
