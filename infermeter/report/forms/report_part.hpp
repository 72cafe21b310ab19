// A part of a document, ready to be put together.
#pragma once

#include <cstddef>
#include <string>

namespace infermeter {

// Iterations that a document keeps for its pictures: trials with more are thinned (trial_iterations.hpp), which the
// page says. Figures are always of all.
inline constexpr std::size_t kDrawnIterations = 250'000;

// One report of a document.
struct ReportPart {
  std::string title;         // text from outside: "resnet50: onnxruntime, openvino"
  std::string machine;       // fingerprint of where it was measured; empty: it does not say
  std::string machine_name;  // its processor, as people know it
  std::string json;          // an object, $defs/part of the schema
  std::string text;          // as the console shows it: for readers without JavaScript
};

// What stands above the parts, where they have something in common to say: text from outside. Without a title it is
// made of theirs.
struct DocumentHead {
  std::string title{}, about{};
};

}  // namespace infermeter
