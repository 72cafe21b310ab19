// Kinds of variants: what of a request one back end can do with a model.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/variants/request.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// What a back end is asked to execute: a kind of variant.
struct Kind {
  std::string name;
  Precision dtype = Precision::float32;
  std::optional<VariantMaking> making{};
  std::optional<VariantMaking> saving{};  // of what is made when it is loaded: how it would be made as a file
  Pairs options{};
  std::string refusal{};
};

inline constexpr std::array<std::string_view, 5> kPrecisions = {"float32", "float16", "bfloat16", "int8", "int4"};
inline constexpr std::string_view kFramework = "pytorch";  // whose phases --phases names

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

// A file of what the back end pytorch makes of a model with these options when it loads.
[[nodiscard]] VariantMaking module_file(Pairs options, std::string words);

// Does it read files of this format? "*": of any.
[[nodiscard]] bool reads(const BackendInfo& backend, std::string_view format);

// Does it read this very file, of its own and not because it takes anything? Pickles are for back ends that run Python.
[[nodiscard]] bool reads_by_itself(const BackendInfo& backend, const ModelFacts& model);

// In the order of the request; what the back end cannot do has its refusal.
[[nodiscard]] Result<std::vector<Kind>> kinds_of(const VariantsRequest& request, const BackendInfo& backend,
                                                 const std::string& format);

}  // namespace infermeter
