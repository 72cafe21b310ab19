#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "infermeter/data/arrays/write_npz.hpp"
#include "infermeter/data/make_data.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/machine/machine.hpp"
#include "infermeter/models/onnx/infer_types.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/variants/variants.hpp"
#include "infermeter/worker/make_model.hpp"
#include "infermeter/worker/memory_limit.hpp"
#include "infermeter/worker/picture_process.hpp"
#include "infermeter/worker/wall/private_folder.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

struct Calibration {
  std::string file, sha256;
  std::string words;  // "32 items of /data/images"
};

// One item of every inference, batch size 1 where the model leaves it open.
Result<Calibration> write_calibration(const VariantsRequest& request, const PlanDraft& draft, const ModelFacts& model,
                                      const fs::path& folder, const VariantMakingContext& context) {
  const std::string source = request.calibration.empty() ? draft.plan.data.source : request.calibration;
  INFERMETER_TRY(const OnnxSummary summary, read_onnx_summary(model.path));
  std::vector<Port> ports = summary.inputs;
  INFERMETER_TRY_DONE(fix_dimensions(ports, draft.defaults.dimensions, draft.defaults.batch_axes));
  const auto data =
      make_data({.source = source,
                 .distributions = draft.plan.data.distributions,
                 .batch_size = 1,
                 .limit = request.calibration_items,
                 .seed = draft.plan.data.seed,
                 .most_bytes = most_bytes_of_data(draft.plan.limits.memory_limit_bytes),
                 .interrupt = context.interrupt,
                 .open_pictures = pictures_in_workers(context.launcher, draft.plan.sandbox, context.interrupt)},
                ports);
  if (!data.ok()) {
    if (look_at_interrupts(context.interrupt) != 0) return data.error();
    return Error{data.error().kind,
                 fmt::format("the data to calibrate on do not fit (--calibration): {}", data.error().message)};
  }
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (std::size_t item = 0; item < data->items.size(); ++item) {
    const ItemValues& inputs = data->items[item].inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      arrays.emplace_back(fmt::format("item{}-input{}", item, i), inputs[i].tensor);
  }
  Calibration calibration{
      .file = (folder / "calibration.npz").string(),
      .sha256 = {},
      .words = fmt::format("{} {} of {}", data->items.size(), data->items.size() == 1 ? "item" : "items",
                           source == "synthetic" ? "synthetic data" : source)};
  INFERMETER_TRY_DONE(write_npz(calibration.file, arrays));
  INFERMETER_TRY(calibration.sha256, sha256_of_file(calibration.file));
  return calibration;
}

// "onnxruntime-1.31.1" for each package of these that is found, from the names that installers leave beside it.
std::vector<std::string> package_versions(const Launcher& launcher) {
  static constexpr std::string_view packages[] = {"cyllama-", "nncf-", "numpy-", "onnx-", "onnxruntime-", "openvino-"};
  constexpr std::string_view ending = ".dist-info";
  std::vector<std::string> found;
  for (const fs::path& folder : launcher.python_folders) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.ends_with(ending) &&
          std::ranges::any_of(packages, [&](std::string_view package) { return name.starts_with(package); }))
        found.push_back(name.substr(0, name.size() - ending.size()));
    }
  }
  std::ranges::sort(found);
  return found;
}

std::string version_of(const std::vector<std::string>& versions, std::string_view package) {
  for (const std::string& one : versions)
    if (one.starts_with(package)) return one.substr(package.size());
  return "";
}

// Without VNNI, products of unsigned and signed bytes are added up in 16 bits, which overflow: 7 bits of weight are
// safe (ONNX Runtime's documentation, "Quantize ONNX models").
bool wants_reduced_range(const Environment& environment) {
  const auto has = [&](std::string_view flag) {
    return std::ranges::find(environment.flags, flag) != environment.flags.end();
  };
  return environment.architecture == "x86_64" && !has("avx512_vnni") && !has("avx_vnni") && !has("amx_int8");
}

class Maker {
 public:
  Maker(const VariantsRequest& request, const PlanDraft& draft, const ModelFacts& model,
        const VariantMakingContext& context)
      : request_(request),
        draft_(draft),
        model_(model),
        context_(context),
        versions_(package_versions(context.launcher)) {}

  Result<Done> prepare(const VariantList& list) {
    const bool calibrates = std::ranges::any_of(list.variants, [](const Variant& variant) {
      return variant.refusal.empty() && variant.making && variant.making->calibrates;
    });
    if (!calibrates || model_.format != "onnx") return Done{};
    INFERMETER_TRY(auto folder, PrivateFolder::create());
    folder_.emplace(std::move(folder));
    INFERMETER_TRY(calibration_, write_calibration(request_, draft_, model_, folder_->path(), context_));
    return Done{};
  }

  // The facts of the file; an error is the reason why there is none.
  Result<ModelFacts> make(const VariantMaking& making) {
    INFERMETER_TRY(const fs::path maker, maker_of(making));
    if (making.calibrates && !calibration_) return model_error("it is quantised from ONNX files only");
    ModelMaking wanted{.maker = maker,
                       .name = stem(),
                       .model = model_.path,
                       .options = making.options,
                       .data = making.calibrates ? calibration_->file : "",
                       .file = {}};
    if (model_.from_zoo && making.ending == kFolderConfig) wanted.options.emplace_back("zoo", model_.name);
    if (making.maker.starts_with("int8") && wants_reduced_range(environment_))
      wanted.options.emplace_back("reduce_range", "true");
    INFERMETER_TRY(const std::string key, key_of(wanted));
    wanted.file =
        fs::absolute(context_.cache) / "variants" / key.substr(0, 16) /
        (making.ending == kFolderConfig ? making.ending : fmt::format("{}.{}.{}", stem(), making.maker, making.ending));
    std::error_code error;
    const bool is_there = fs::is_regular_file(wanted.file, error);
    say(fmt::format("{}: {}", making.words, is_there ? "taken from the cache" : "being made"));
    if (!is_there) INFERMETER_TRY_DONE(make_model(context_.launcher, wanted, limits()));
    return facts_of(making, wanted.file);
  }

  // A file of what is made when it is loaded, in the workplace: it is not kept, as a factory's neighbours may change.
  Result<std::string> save(const Variant& variant, const fs::path& workplace) {
    INFERMETER_TRY(const fs::path maker, maker_of(*variant.saving));
    const bool is_other = variant.model != model_.name;  // the student
    ModelFacts other;
    if (is_other) {
      INFERMETER_TRY(other, resolve_model(variant.model, context_.cache, {.allow_code = draft_.plan.allow_code}));
    }
    const ModelFacts& given = is_other ? other : model_;
    std::error_code error;
    ModelMaking wanted{.maker = maker,
                       .name = variant.model,
                       .model = given.path,
                       .options = variant.saving->options,
                       .data = {},
                       .file = workplace / std::to_string(++saved_) / saved_name(variant, model_)};
    wanted.options.emplace_back("folder", fs::current_path(error).string());
    if (given.from_zoo) wanted.options.emplace_back("zoo", given.name);
    for (const auto& [key, value] : variant.subject.options)
      if (key == "factory") wanted.options.emplace_back(key, value);
    say(fmt::format("{}: being made into a file", variant.kind));
    INFERMETER_TRY_DONE(make_model(context_.launcher, wanted, limits()));
    return wanted.file.string();
  }

 private:
  [[nodiscard]] Result<fs::path> maker_of(const VariantMaking& making) const {
    fs::path maker = find_maker(context_.launcher, making.maker);
    if (!maker.empty()) return maker;
    if (const std::string_view name = making.maker; name.starts_with("weights_"))
      return model_error(fmt::format("there is no tool here that makes weights of fewer bits for {}", name.substr(8)));
    return usage_error(
        fmt::format("there is no maker '{}': it comes with infermeter's Python module (build with "
                    "python3-dev and nanobind, or pip install infermeter)",
                    making.maker));
  }

  void say(const std::string& note) const {
    if (context_.on_note) context_.on_note(note);
  }

  [[nodiscard]] MakingLimits limits() const {
    return {.timeout_s = context_.timeout_s,
            .sandbox = draft_.plan.sandbox,
            .memory_limit_bytes = draft_.plan.limits.memory_limit_bytes,
            .interrupt = context_.interrupt};
  }

  [[nodiscard]] std::string stem() const { return file_stem_of(model_); }

  [[nodiscard]] Result<std::string> key_of(const ModelMaking& wanted) const {
    std::string text = model_.sha256;
    for (const fs::path& file : code_of_maker(context_.launcher, wanted.maker)) {
      INFERMETER_TRY(const std::string digest, sha256_of_file(file));
      text += '\n' + file.filename().string() + ' ' + digest;
    }
    for (const std::string& version : versions_) text += '\n' + version;
    for (const auto& [key, value] : wanted.options) text += '\n' + key + '=' + value;
    if (!wanted.data.empty()) text += '\n' + calibration_->sha256;
    return sha256_of_text(text);
  }

  [[nodiscard]] Result<ModelFacts> facts_of(const VariantMaking& making, const fs::path& file) const {
    INFERMETER_TRY(ModelFacts facts, resolve_model(file.string(), context_.cache));
    facts.made = making.words;
    if (const std::string& tool = making.tool; !tool.empty()) {
      const std::string version = version_of(versions_, tool + '-');
      if (making.maker.starts_with("weights_")) facts.made += ", by " + tool;
      if (!version.empty()) facts.made += ' ' + version;
    }
    if (making.calibrates) facts.made += ", calibrated on " + calibration_->words;
    return facts;
  }

  const VariantsRequest& request_;
  const PlanDraft& draft_;
  const ModelFacts& model_;
  const VariantMakingContext& context_;
  std::vector<std::string> versions_;
  Environment environment_ = read_environment();
  std::optional<PrivateFolder> folder_;
  int saved_ = 0;
  std::optional<Calibration> calibration_;
};

bool interrupted(const VariantMakingContext& context) { return look_at_interrupts(context.interrupt) != 0; }

Error was_interrupted() { return worker_error("the making of variants was interrupted; nothing was measured"); }

}  // namespace

std::string file_stem_of(const ModelFacts& model) {
  const bool is_folder = model.format == kFolderFormat;  // Llama-3.2-1B has no ending
  std::string name = model.from_zoo ? model.name
                     : is_folder    ? last_name_of(model.path)
                                    : fs::path(model.path).stem().string();
  if (const auto factory = factory_from_string(model.path); factory && model.format == "python") {
    const fs::path source(factory->source);
    name = fmt::format("{}_{}", factory->is_file ? source.stem().string() : source.string(), factory->name);
  }
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  constexpr std::size_t longest = 60;
  return name.substr(0, longest);
}

std::string saved_name(const Variant& variant, const ModelFacts& model) {
  const auto& how = variant.making ? variant.making : variant.saving;
  std::string kind = variant.kind;
  std::erase(kind, '%');
  if (how->ending == kFolderConfig) return fmt::format("{}.{}/{}", file_stem_of(model), kind, how->ending);
  return fmt::format("{}.{}.{}", file_stem_of(model), kind, how->ending);
}

Result<std::map<std::string, ModelFacts>> make_variants(PreparedVariants& prepared,
                                                        const VariantMakingContext& context) {
  VariantList& list = prepared.list;
  Maker maker(prepared.request, prepared.draft, prepared.model, context);
  INFERMETER_TRY_DONE(maker.prepare(list));
  if (context.saves) {
    INFERMETER_TRY(auto workplace, PrivateFolder::create());
    prepared.workplace = std::make_shared<PrivateFolder>(std::move(workplace));
  }
  std::map<std::string, ModelFacts> made;
  std::map<std::string, Result<ModelFacts>> done;  // by what is made: several variants run the same file
  std::map<std::string, Result<std::string>> saved;
  for (Variant& variant : list.variants) {
    if (!variant.refusal.empty()) continue;
    if (variant.saving && context.saves) {
      auto place = saved.find(variant.kind);
      if (place == saved.end())
        place = saved.emplace(variant.kind, maker.save(variant, prepared.workplace->path())).first;
      if (interrupted(context)) return was_interrupted();
      const Result<std::string>& file = place->second;
      (file.ok() ? variant.saved : variant.not_saved) = file.ok() ? file.value() : file.error().message;
    }
    if (!variant.making) continue;
    const std::string what = variant.making->words;
    auto place = done.find(what);
    if (place == done.end()) place = done.emplace(what, maker.make(*variant.making)).first;
    if (interrupted(context)) return was_interrupted();
    if (place->second.ok()) {
      variant.model = place->second->path;
      made.emplace(variant.model, place->second.value());
    } else {
      variant.refusal = "could not be made: " + place->second.error().message;
    }
  }
  return made;
}

}  // namespace infermeter
