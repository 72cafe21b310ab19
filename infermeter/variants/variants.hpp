// Variants: one model in many forms and settings, to be measured against itself as it was given. What is to be measured
// is listed first (a pure value), then the files that it takes are made, then one plan measures all of it by `run`.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/plan/tuning/space.hpp"
#include "infermeter/report/variants/report.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/variants/request.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

class PrivateFolder;

struct Variant {
  std::string label;    // "int8-static@openvino,threads=2"
  std::string kind;     // "int8-static": what it is, whatever it runs on
  std::string model{};  // as its subjects name it; empty: its file is to be made
  Subject subject{};    // back end, dtype, threads, options
  std::optional<VariantMaking> making{};
  std::optional<VariantMaking> saving{};  // of what is made when it is loaded: how it would be made as a file
  std::string saved{}, not_saved{};       // that file, or why there is none (VariantMakingContext::saves)
  std::string refusal{};                  // why it is not measured; empty: it is
};

struct VariantList {
  std::string model;                // as asked for; of `models`: the first one's label
  std::vector<Variant> variants{};  // the first one is the baseline
  std::vector<std::string> notes{};
};

[[nodiscard]] std::span<const std::string_view> usual_backends();
// "all" phases of PyTorch, in the order of an earlier tool.
[[nodiscard]] std::span<const std::string_view> all_phases();

// The back ends to be asked what they can: those of the request, else the usual ones that are found.
[[nodiscard]] std::vector<std::string> backends_of(const VariantsRequest& request, std::span<const std::string> found);

// What is asked for, times draft.threads; what a back end cannot do is in the list, with the reason. `format`: of the
// model's file (ModelFacts). Refuses what is no variant at all, and where nothing could be measured.
[[nodiscard]] Result<VariantList> list_variants(const VariantsRequest& request, const PlanDraft& draft,
                                                const ModelFacts& model, std::span<const BackendInfo> backends);
// The same for `models`; `facts` are theirs, in their order.
[[nodiscard]] Result<VariantList> list_named_variants(const VariantsRequest& request, const PlanDraft& draft,
                                                      std::span<const ModelFacts> facts,
                                                      std::span<const BackendInfo> backends);
// "0.5" or "50%", in (0, 1).
[[nodiscard]] Result<double> pruned_share_from_string(std::string_view text);
// "original:PATH" -> label, path.
[[nodiscard]] Result<std::pair<std::string, std::string>> named_model_from_string(std::string_view text);

// Everything that is known before anything is made: the model checked, the back ends asked, the list.
struct PreparedVariants {
  VariantsRequest request;  // with its back ends
  PlanDraft draft;
  ModelFacts model{};  // of request.model
  VariantList list{};
  std::shared_ptr<PrivateFolder> workplace{};  // of files that are made to be saved: they are gone with it
};
// `interrupt` as in RunContext.
[[nodiscard]] Result<PreparedVariants> prepare_variants(VariantsRequest request, PlanDraft draft,
                                                        const Launcher& launcher, const std::filesystem::path& cache,
                                                        const std::atomic<int>* interrupt = nullptr);

struct VariantMakingContext {
  Launcher launcher;
  std::filesystem::path cache;
  double timeout_s = 600;                       // of each
  bool saves = false;                           // also files of what is made when it is loaded
  const std::atomic<int>* interrupt = nullptr;  // as in RunContext
  std::function<void(const std::string& note)> on_note{};
};

// "resnet50", "nets_make" of nets.py:make: letters, digits, '_' and '-' only, as it becomes part of file names.
[[nodiscard]] std::string file_stem_of(const ModelFacts& model);
// "resnet50.pruned-50.pt": the name of a file that is kept, of a variant with `making` or `saving`; its own for each
// model and kind.
[[nodiscard]] std::string saved_name(const Variant& variant, const ModelFacts& model);

// Makes the files of the list's variants, or takes them from the cache: made by the same code, with the same packages,
// options and calibration bytes of the same model. What cannot be made gets its refusal. The facts of all files, by the
// names that subjects call them (RunContext::models). An error: calibration data that do not fit, or an interruption.
[[nodiscard]] Result<std::map<std::string, ModelFacts>> make_variants(PreparedVariants& prepared,
                                                                      const VariantMakingContext& context);

// The int8 form of one model for one back end, by the tool of the runtime: static by ONNX Runtime, NNCF's of OpenVINO,
// dynamic of PyTorch.
struct MadeInt8 {
  Int8Form form;
  std::map<std::string, ModelFacts> files{};  // as make_variants has them
};
// `draft` says the data to calibrate on. Without `makes_files`, what takes a file is refused. An error: calibration
// data that do not fit, or an interruption; everything else is the form's refusal.
[[nodiscard]] Result<MadeInt8> make_int8(const std::string& model, const std::string& backend, PlanDraft draft,
                                         const VariantMakingContext& context, bool makes_files);

// One plan for what is measured, with a group per batch size, and which of its subjects belong to which variant.
struct VariantsPlan {
  Plan plan;
  VariantSet set;
};
[[nodiscard]] Result<VariantsPlan> plan_variants(const VariantList& list, const PlanDraft& draft);

}  // namespace infermeter
