// What a trial that was measured on a node of a cluster says of where that was, among its `executed` facts.
#pragma once

#include <string_view>

namespace infermeter {

inline constexpr std::string_view kNodeKey = "node";        // the node's name
inline constexpr std::string_view kMachineKey = "machine";  // the fingerprint of its machine

}  // namespace infermeter
