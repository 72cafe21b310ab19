#include "infermeter/models/onnx/expose_outputs.hpp"

#include <fmt/format.h>

#include <fstream>
#include <protozero/pbf_message.hpp>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>

#include "infermeter/models/mapped_file.hpp"
#include "infermeter/models/onnx/fields.hpp"
#include "infermeter/models/onnx/port.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;
using protozero::data_view;
using protozero::pbf_message;

constexpr std::size_t most_outputs = 4096;              // as backends/sdk/onnx_declaration.hpp reads
constexpr std::size_t most_bytes = (1ULL << 31U) - 1U;  // of a protocol buffer
constexpr std::size_t most_text = 64U << 20U;           // of all names, each as often as it is reported

std::string_view text_of_view(data_view view) { return {view.data(), view.size()}; }

// The main graph within the file, and what stands before and behind it.
struct Parts {
  std::string_view before, graph, behind;
};

Parts parts_of(std::string_view bytes) {
  pbf_message<onnx_field::Model> model(data_view{bytes.data(), bytes.size()});
  for (std::size_t left = model.length(); model.next(); left = model.length()) {
    if (model.tag() != onnx_field::Model::graph) {
      model.skip();
      continue;
    }
    const std::string_view graph = text_of_view(read_view(model));
    return {bytes.substr(0, bytes.size() - left), graph, bytes.substr(bytes.size() - model.length())};
  }
  throw Refused{"it has no graph"};
}

// What makes a tensor; the texts are the file's.
struct Maker {
  std::string_view node, op;
  std::size_t position = 0;
};
using Makers = std::unordered_map<std::string_view, Maker>;

void read_node(data_view view, std::size_t position, Makers& makers, std::vector<std::string_view>& order) {
  std::string_view name, op;
  std::vector<std::string_view> made;
  pbf_message<onnx_field::Node> node(view);
  while (node.next()) {
    switch (node.tag()) {
      case onnx_field::Node::name: name = read_text(node); break;
      case onnx_field::Node::op_type: op = read_text(node); break;
      case onnx_field::Node::output: made.push_back(read_text(node)); break;
      default: node.skip();
    }
  }
  for (const std::string_view tensor : made) {
    if (tensor.empty()) continue;  // an optional output that nobody wants
    makers.emplace(tensor, Maker{name, op, position});
    if (op != "Constant") order.push_back(tensor);
  }
}

// What the copy's outputs are: the file's own first, then those to be added.
struct Outputs {
  std::vector<ExposedTensor> all;
  std::size_t own = 0;
};

// Before anything is copied: a name may be long, and one node may make all tensors.
void check_names(std::span<const std::string_view> names, const Makers& makers) {
  if (names.size() > most_outputs) {
    throw Refused{fmt::format("it has {} intermediate tensors, more than the {} that can be looked at at once",
                              names.size(), most_outputs)};
  }
  std::size_t text = 0;
  for (const std::string_view name : names) {
    const auto maker = makers.find(name);
    text += name.size() + (maker == makers.end() ? 0 : maker->second.node.size() + maker->second.op.size());
  }
  if (text > most_text) throw Refused{"the names of its tensors and nodes are too long"};
}

Outputs outputs_of(std::string_view graph_bytes) {
  Makers makers;
  std::vector<std::string_view> order, own;
  std::size_t position = 0;
  pbf_message<onnx_field::GraphProto> graph(data_view{graph_bytes.data(), graph_bytes.size()});
  while (graph.next()) {
    switch (graph.tag()) {
      case onnx_field::GraphProto::node: read_node(read_view(graph), position++, makers, order); break;
      case onnx_field::GraphProto::output: {
        pbf_message<onnx_field::ValueInfo> info(read_view(graph));
        std::string_view name;
        while (info.next()) info.tag() == onnx_field::ValueInfo::name ? (void)(name = read_text(info)) : info.skip();
        own.push_back(name);
        break;
      }
      default: graph.skip();
    }
  }
  Outputs outputs;
  outputs.own = own.size();
  std::set<std::string_view> seen(own.begin(), own.end());
  std::vector<std::string_view> names = std::move(own);
  for (const std::string_view name : order)
    if (seen.insert(name).second) names.push_back(name);
  check_names(names, makers);
  for (const std::string_view name : names) {
    const auto found = makers.find(name);
    const Maker maker = found == makers.end() ? Maker{} : found->second;
    outputs.all.push_back({std::string(name), std::string(maker.node), std::string(maker.op), maker.position});
  }
  return outputs;
}

std::string added_outputs(const Outputs& outputs) {
  std::string bytes;
  protozero::pbf_writer graph(bytes);
  for (std::size_t i = outputs.own; i < outputs.all.size(); ++i) {
    protozero::pbf_writer info(graph, static_cast<protozero::pbf_tag_type>(onnx_field::GraphProto::output));
    info.add_string(static_cast<protozero::pbf_tag_type>(onnx_field::ValueInfo::name), outputs.all[i].name);
  }
  return bytes;
}

// Tag and length of the graph's field, before its new bytes.
std::string head_of_graph(std::size_t size) {
  std::string head;
  constexpr auto tag = static_cast<std::uint64_t>(onnx_field::Model::graph);
  protozero::add_varint_to_buffer(&head,
                                  tag << 3U | static_cast<std::uint64_t>(protozero::pbf_wire_type::length_delimited));
  protozero::add_varint_to_buffer(&head, size);
  return head;
}

Result<Done> write_parts(const fs::path& file, std::initializer_list<std::string_view> parts) {
  std::ofstream stream(file, std::ios::binary);
  for (const std::string_view part : parts) stream.write(part.data(), static_cast<std::streamsize>(part.size()));
  stream.close();
  if (stream) return Done{};
  return io_error(fmt::format("the copy {} cannot be written: is there room in its folder? $TMPDIR names another one",
                              in_quotes(file.string())));
}

// A link where the file system allows one: weights may be many gigabytes.
Result<Done> bring(const fs::path& weights, const fs::path& from, const fs::path& to) {
  const fs::path target = to / weights.lexically_relative(from);
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  fs::create_hard_link(weights, target, error);
  if (error) fs::copy_file(weights, target, error);
  if (!error) return Done{};
  return io_error(fmt::format("the weights {} cannot be copied to {}: {}; $TMPDIR names another folder",
                              in_quotes(weights.string()), in_quotes(target.string()), error.message()));
}

Error refused(const ModelFacts& model, const std::string& why) {
  return model_error(fmt::format("the intermediate tensors of {} cannot be had: {}", in_quotes(model.path), why));
}

Result<std::vector<ExposedTensor>> write_copy(const ModelFacts& model, const fs::path& copy) {
  INFERMETER_TRY(const auto mapped, MappedFile::open(model.path));
  try {
    const Parts parts = parts_of(mapped.bytes());
    Outputs outputs = outputs_of(parts.graph);
    const std::string added = added_outputs(outputs);
    if (mapped.bytes().size() + added.size() + 16 > most_bytes) throw Refused{"the copy would have 2 GiB or more"};
    const std::string head = head_of_graph(parts.graph.size() + added.size());
    INFERMETER_TRY_DONE(write_parts(copy, {parts.before, head, parts.graph, added, parts.behind}));
    INFERMETER_TRY_DONE(mapped.check_whole());
    return std::move(outputs.all);
  } catch (const Refused& why) {
    return refused(model, why.why);
  } catch (const protozero::exception&) {
    return refused(model, "its contents are cut off or damaged");
  }
}

}  // namespace

Result<ExposedModel> expose_outputs(const ModelFacts& model, const fs::path& folder) {
  if (model.format != "onnx") {
    return usage_error(
        fmt::format("{} is not an ONNX file, whose intermediate tensors could be looked at: name two ONNX "
                    "files, or names from the zoo",
                    in_quotes(model.name)));
  }
  const fs::path file = model.path;
  for (const std::string& weights : model.weight_files) {
    INFERMETER_TRY_DONE(bring(weights, file.parent_path(), folder));
  }
  const fs::path copy = folder / file.filename();
  ExposedModel exposed;
  INFERMETER_TRY(exposed.tensors, write_copy(model, copy));
  // Checked as any other: the weights' files are another folder's now.
  INFERMETER_TRY(exposed.file, resolve_model(copy.string(), {}));
  return exposed;
}

}  // namespace infermeter
