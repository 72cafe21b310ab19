// ONNX Runtime's own profile of a session's operators, and the graph that it made of the model.
#pragma once

#include <string>

#include "library.hpp"

namespace infermeter {

// Both of them while the session is made, into `folder`. Throws Failure.
void enable_profile(const OrtApi& api, OrtSessionOptions* options, const std::string& folder);
void save_optimised_graph(const OrtApi& api, OrtSessionOptions* options, const std::string& folder);

// After the session was made: notes when its profile began, and removes the weights, which nobody reads.
void finish_load(const OrtApi& api, const OrtSession* session, const std::string& folder);

// Completes onnxruntime.json. Throws Failure.
void end_profile(const OrtApi& api, OrtSession* session, OrtAllocator* allocator, const std::string& folder);

}  // namespace infermeter
