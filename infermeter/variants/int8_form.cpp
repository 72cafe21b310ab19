#include <algorithm>
#include <utility>

#include "infermeter/variants/variants.hpp"

namespace infermeter {

Result<MadeInt8> make_int8(const std::string& model, const std::string& backend, PlanDraft draft,
                           const VariantMakingContext& context, bool makes_files) {
  draft.threads.clear();
  const VariantsRequest request{.model = model, .backends = {backend}, .precisions = {"int8"}};
  const auto refused = [](std::string reason) { return MadeInt8{.form = {.refusal = std::move(reason)}}; };
  auto prepared = prepare_variants(request, std::move(draft), context.launcher, context.cache, context.interrupt);
  if (!prepared.ok()) return refused(prepared.error().message);
  auto& variants = prepared->list.variants;
  // The last one is that of the back end's own tool: NNCF's of OpenVINO.
  const auto last = std::ranges::find_if(variants.rbegin(), variants.rend(),
                                         [](const Variant& one) { return one.kind.starts_with("int8"); });
  if (last == variants.rend()) return refused(backend + " makes no int8 of this model");
  variants = {*last};
  Variant& variant = variants.front();
  if (variant.refusal.empty() && variant.making && !makes_files)
    return refused("it takes a file, which is made before the race");
  MadeInt8 made;
  INFERMETER_TRY(made.files, make_variants(*prepared, context));
  made.form = {.model = variant.model, .options = variant.subject.options, .refusal = variant.refusal};
  return made;
}

}  // namespace infermeter
