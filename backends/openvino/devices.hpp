// The devices that OpenVINO finds, by our names: its own in lower case.
#pragma once

#include <string>
#include <vector>

#include "library.hpp"

namespace infermeter {

// The processor first. Asking opens the plug-in of every kind of device, with their libraries: it is left out where
// there is nothing that they could drive.
[[nodiscard]] std::vector<std::string> list_devices(const Api& api, const ov_core_t* core);

// What some of the devices can execute.
[[nodiscard]] std::vector<std::string> list_dtypes(const Api& api, const ov_core_t* core,
                                                   const std::vector<std::string>& devices);

}  // namespace infermeter
