#include "infermeter/store/record_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace infermeter {
namespace {

using Json = nlohmann::json;

// JSON has no NaN and no infinities: they are kept as text.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

double number_from(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const auto& text = json.get_ref<const std::string&>();
  if (text == "nan") return std::nan("");
  return text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

std::optional<double> optional_number_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(number_from(json));
}

// Of what earlier versions did not keep.
std::optional<double> later_number_from(const Json& json, std::string_view key) {
  return json.contains(key) ? optional_number_from(json.at(key)) : std::nullopt;
}

Json to_json(const Diagnostic& diagnostic) {
  return {{"id", to_string(diagnostic.id)}, {"message", diagnostic.message}, {"about", diagnostic.about}};
}

Json to_json(const std::vector<Diagnostic>& diagnostics) {
  Json array = Json::array();
  for (const auto& diagnostic : diagnostics) array.push_back(to_json(diagnostic));
  return array;
}

// An id that this version does not know cannot stand in a store of its schema: the record is damaged.
Diagnostic diagnostic_from(const Json& json) {
  const auto name = json.at("id").get<std::string>();
  const auto id = diagnostic_from_string(name);
  if (!id) throw Json::other_error::create(501, "unknown diagnostic '" + name + "'", nullptr);
  return {.id = *id, .message = json.at("message"), .about = json.at("about")};
}

std::vector<Diagnostic> diagnostics_from(const Json& json) {
  std::vector<Diagnostic> diagnostics;
  for (const auto& element : json) diagnostics.push_back(diagnostic_from(element));
  return diagnostics;
}

Json to_json(const ModelFacts& model) {
  return {{"name", model.name},
          {"path", model.path},
          {"format", model.format},
          {"sha256", model.sha256},
          {"size_bytes", model.size_bytes},
          {"parameters", model.parameters ? Json(*model.parameters) : Json(nullptr)},
          {"nonzero_parameters", model.nonzero_parameters ? Json(*model.nonzero_parameters) : Json(nullptr)},
          {"made", model.made},
          {"weight_files", model.weight_files},
          {"from_zoo", model.from_zoo}};
}

// get<> would make a large number of a negative one.
std::uint64_t whole_from(const Json& json) {
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  throw Json::other_error::create(501, "a size, or a number of weights, is not a whole number of at least 0", nullptr);
}

ModelFacts model_from(const Json& json) {
  ModelFacts model{.name = json.at("name"),
                   .path = json.at("path"),
                   .format = json.at("format"),
                   .sha256 = json.at("sha256"),
                   .size_bytes = whole_from(json.at("size_bytes")),
                   .parameters = std::nullopt,
                   .nonzero_parameters = std::nullopt,
                   .weight_files = json.at("weight_files"),
                   .from_zoo = json.at("from_zoo"),
                   .made = json.value("made", "")};
  const auto nonzero = json.find("nonzero_parameters");
  if (nonzero != json.end() && !nonzero->is_null()) model.nonzero_parameters = whole_from(*nonzero);
  if (!json.at("parameters").is_null()) model.parameters = whole_from(json.at("parameters"));
  return model;
}

struct PartingText {
  const char* name;
  std::optional<std::string> Parting::* text;
};
constexpr std::array parting_texts = {PartingText{"before_text", &Parting::before_text},
                                      PartingText{"reference_text", &Parting::reference_text},
                                      PartingText{"candidate_text", &Parting::candidate_text}};

Json to_json(const Parting& parting) {
  Json json = {{"item", parting.item},     {"position", parting.position},   {"length", parting.length},
               {"before", parting.before}, {"reference", parting.reference}, {"candidate", parting.candidate}};
  for (const auto& [name, text] : parting_texts)
    if (parting.*text) json[name] = *(parting.*text);
  return json;
}

Parting parting_from(const Json& json) {
  Parting parting{.item = json.at("item"),
                  .position = json.at("position"),
                  .length = json.at("length"),
                  .before = json.at("before").get<std::vector<double>>(),
                  .reference = json.at("reference").get<std::vector<double>>(),
                  .candidate = json.at("candidate").get<std::vector<double>>()};
  bool is_one = parting.position < parting.length && parting.before.size() <= kMostBeforeParting &&
                parting.reference.size() <= kMostFromParting && parting.candidate.size() <= kMostFromParting;
  for (const auto& [name, text] : parting_texts) {
    if (!json.contains(name)) continue;
    parting.*text = json.at(name).get<std::string>();
    is_one = is_one && (parting.*text)->size() <= kMostPartingText;
  }
  if (!is_one) throw Json::other_error::create(501, "a parting of two rows of integers is none", nullptr);
  return parting;
}

// NaN: a token has a share of 0.
double loss_from(const Json& json) {
  const double loss = number_from(json);
  if (loss < 0 || loss > 1e6) throw Json::other_error::create(501, "the loss of a text is none", nullptr);
  return loss;
}

Json to_json(const OutputDifference& output) {
  Json json = {{"name", output.name},
               {"dtype", output.dtype},
               {"shape", output.shape},
               {"comparable", output.comparable},
               {"reason", output.reason},
               {"within_tolerance", output.within_tolerance},
               {"undecided", output.undecided},
               {"element_count", output.element_count},
               {"max_absolute", number(output.max_absolute)},
               {"max_absolute_item", output.max_absolute_item},
               {"max_absolute_index", output.max_absolute_index},
               {"reference_at_max", number(output.reference_at_max)},
               {"candidate_at_max", number(output.candidate_at_max)},
               {"nan_reference", output.nan_reference},
               {"nan_candidate", output.nan_candidate},
               {"inf_reference", output.inf_reference},
               {"inf_candidate", output.inf_candidate},
               {"mismatched", output.mismatched},
               {"non_finite_apart", output.non_finite_apart},
               {"tolerance_relative", number(output.tolerance.relative)},
               {"tolerance_absolute", number(output.tolerance.absolute)},
               {"tolerance_floor", number(output.tolerance.floor)}};
  for (const DifferenceFigure& figure : difference_figures()) json[figure.id] = number(figure.of(output));
  for (const Parting& parting : output.partings) json["partings"].push_back(to_json(parting));
  return json;
}

OutputDifference output_from(const Json& json) {
  OutputDifference output;
  output.name = json.at("name");
  output.dtype = json.at("dtype");
  output.shape = json.at("shape").get<Shape>();
  output.comparable = json.at("comparable");
  output.reason = json.at("reason");
  output.within_tolerance = json.at("within_tolerance");
  output.undecided = json.value("undecided", std::string());
  output.element_count = json.at("element_count");
  output.max_absolute = optional_number_from(json.at("max_absolute"));
  output.max_absolute_item = json.value("max_absolute_item", std::size_t{0});
  output.max_absolute_index = json.at("max_absolute_index");
  output.reference_at_max = number_from(json.at("reference_at_max"));
  output.candidate_at_max = number_from(json.at("candidate_at_max"));
  output.nan_reference = json.at("nan_reference");
  output.nan_candidate = json.at("nan_candidate");
  output.inf_reference = json.at("inf_reference");
  output.inf_candidate = json.at("inf_candidate");
  output.mismatched = json.at("mismatched");
  output.non_finite_apart = json.value("non_finite_apart", std::uint64_t{0});
  output.tolerance = {.relative = number_from(json.at("tolerance_relative")),
                      .absolute = number_from(json.at("tolerance_absolute")),
                      .floor = later_number_from(json, "tolerance_floor").value_or(0)};
  // Earlier versions stored fewer, and those of the other values where some are finite in one only.
  if (output.non_finite_apart > 0) output.max_absolute.reset();
  for (const DifferenceFigure& figure : difference_figures()) {
    if (output.non_finite_apart > 0 && figure.unit != DifferenceFigure::Unit::share) continue;
    output.*figure.value = later_number_from(json, figure.id);
  }
  for (const Json& parting : json.value("partings", Json::array())) output.partings.push_back(parting_from(parting));
  return output;
}

Json to_json(const LabelAccuracy& labels) {
  Json classes = Json::array();
  for (const auto& one : labels.classes) classes.push_back({one.label, one.rows, one.right});
  return {{"rows", labels.rows},
          {"top1", labels.top1},
          {"top5", labels.top5 ? Json(*labels.top5) : Json(nullptr)},
          {"classes", std::move(classes)}};
}

// Sums of them stay in range.
std::uint64_t count_from(const Json& json) {
  constexpr std::uint64_t most = std::uint64_t{1} << 53;
  if (json.is_number_unsigned() && json.get<std::uint64_t>() <= most) return json.get<std::uint64_t>();
  throw Json::other_error::create(501, "a count is not a whole number from 0 to 2^53", nullptr);
}

LabelAccuracy labels_from(const Json& json) {
  LabelAccuracy labels{
      .rows = count_from(json.at("rows")), .top1 = count_from(json.at("top1")), .top5 = {}, .classes = {}};
  if (!json.at("top5").is_null()) labels.top5 = count_from(json.at("top5"));
  if (std::max(labels.top1, labels.top5.value_or(0)) > labels.rows)
    throw Json::other_error::create(501, "more rows are right than there are", nullptr);
  for (const auto& one : json.at("classes")) {
    labels.classes.push_back({.label = one.at(0), .rows = count_from(one.at(1)), .right = count_from(one.at(2))});
  }
  return labels;
}

Json to_json(const MaskAccuracy& masks) {
  Json classes = Json::array();
  for (const auto& one : masks.classes) classes.push_back({one.label, one.both, one.truth, one.predicted});
  return {{"pixels", masks.pixels}, {"right", masks.right}, {"classes", std::move(classes)}};
}

MaskAccuracy masks_from(const Json& json) {
  MaskAccuracy masks{.pixels = count_from(json.at("pixels")), .right = count_from(json.at("right")), .classes = {}};
  for (const auto& one : json.at("classes")) {
    masks.classes.push_back({.label = one.at(0),
                             .both = count_from(one.at(1)),
                             .truth = count_from(one.at(2)),
                             .predicted = count_from(one.at(3))});
  }
  return masks;
}

Json to_json(const PairedRight& paired) {
  return {paired.both, paired.reference_only, paired.candidate_only, paired.neither};
}

PairedRight paired_from(const Json& json) {
  return {.both = count_from(json.at(0)),
          .reference_only = count_from(json.at(1)),
          .candidate_only = count_from(json.at(2)),
          .neither = count_from(json.at(3))};
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// nlohmann-json throws on text that is not JSON and on JSON that is not as expected: both end here.
template <class Read>
auto read_json(std::string_view text, const char* what, Read read) -> Result<decltype(read(Json()))> {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& exception) {
    return io_error(fmt::format("the stored {} cannot be read: {}", what, exception.what()));
  }
}

}  // namespace

std::string models_to_json(const std::vector<ModelFacts>& models) {
  Json array = Json::array();
  for (const auto& model : models) array.push_back(to_json(model));
  return text_of(array);
}

Result<std::vector<ModelFacts>> models_from_json(std::string_view text) {
  return read_json(text, "models", [](const Json& json) {
    std::vector<ModelFacts> models;
    for (const auto& element : json) models.push_back(model_from(element));
    return models;
  });
}

std::string diagnostics_to_json(const std::vector<Diagnostic>& diagnostics) { return text_of(to_json(diagnostics)); }

Result<std::vector<Diagnostic>> diagnostics_from_json(std::string_view text) {
  return read_json(text, "diagnostics", diagnostics_from);
}

std::string comparison_to_json(const OutputComparison& comparison) {
  Json outputs = Json::array();
  for (const auto& output : comparison.outputs) outputs.push_back(to_json(output));
  return text_of({{"agree", comparison.agree},
                  {"undecided", comparison.undecided},
                  {"items", comparison.items},
                  {"outputs", std::move(outputs)},
                  {"diagnostics", to_json(comparison.diagnostics)}});
}

Result<OutputComparison> comparison_from_json(std::string_view text) {
  return read_json(text, "comparison of outputs", [](const Json& json) {
    OutputComparison comparison{.agree = json.at("agree"),
                                .undecided = json.value("undecided", false),
                                .items = json.at("items"),
                                .outputs = {},
                                .diagnostics = diagnostics_from(json.at("diagnostics"))};
    for (const auto& element : json.at("outputs")) comparison.outputs.push_back(output_from(element));
    return comparison;
  });
}

std::string accuracy_to_json(const SubjectAccuracy& subject) {
  const Accuracy& accuracy = subject.accuracy;
  Json json = {{"subject", subject.subject},
               {"output", accuracy.output},
               {"labels", accuracy.labels ? to_json(*accuracy.labels) : Json(nullptr)},
               {"masks", accuracy.masks ? to_json(*accuracy.masks) : Json(nullptr)},
               {"reference", subject.reference ? Json(*subject.reference) : Json(nullptr)},
               {"paired", subject.paired ? to_json(*subject.paired) : Json(nullptr)}};
  for (const double loss : subject.text_losses) json["text_losses"].push_back(number(loss));
  return text_of(json);
}

Result<SubjectAccuracy> accuracy_from_json(std::string_view text) {
  return read_json(text, "accuracy", [](const Json& json) {
    SubjectAccuracy subject{.subject = json.at("subject"), .accuracy = {}, .reference = {}, .paired = {}};
    subject.accuracy.output = json.at("output");
    if (!json.at("labels").is_null()) subject.accuracy.labels = labels_from(json.at("labels"));
    if (!json.at("masks").is_null()) subject.accuracy.masks = masks_from(json.at("masks"));
    if (!json.at("reference").is_null()) subject.reference = json.at("reference").get<int>();
    if (!json.at("paired").is_null()) subject.paired = paired_from(json.at("paired"));
    for (const Json& loss : json.value("text_losses", Json::array())) subject.text_losses.push_back(loss_from(loss));
    return subject;
  });
}

std::string noise_to_json(const std::optional<MachineNoise>& noise) {
  if (!noise) return "null";
  return text_of({{"measured_at", noise->measured_at},
                  {"subject", noise->subject},
                  {"metric", noise->metric},
                  {"pairs", noise->pairs},
                  {"standard_deviation", number(noise->standard_deviation)}});
}

Result<std::optional<MachineNoise>> noise_from_json(std::string_view text) {
  return read_json(text, "noise of the machine", [](const Json& json) {
    if (json.is_null()) return std::optional<MachineNoise>();
    return std::optional(MachineNoise{.measured_at = json.at("measured_at"),
                                      .subject = json.at("subject"),
                                      .metric = json.at("metric"),
                                      .pairs = json.at("pairs"),
                                      .standard_deviation = number_from(json.at("standard_deviation"))});
  });
}

std::string strings_to_json(const std::vector<std::string>& strings) { return text_of(strings); }

Result<std::vector<std::string>> strings_from_json(std::string_view text) {
  return read_json(text, "labels", [](const Json& json) { return json.get<std::vector<std::string>>(); });
}

}  // namespace infermeter
