// Which variants of a model are asked for, and how a variant's file is made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infermeter/plan/plan.hpp"

namespace infermeter {

struct VariantsRequest {
  std::string model{};                    // of the zoo, a file or a factory; MODEL@BACKEND is a model and a back end
  std::vector<std::string> models{};      // instead: "original:PATH", "quantized:PATH", …; measured as they are
  std::vector<std::string> backends{};    // empty: those that read the model, of the ones in `usual_backends`
  std::vector<std::string> precisions{};  // float32, float16, bfloat16, int8, int4; empty: all that the model can have
  std::vector<std::string> quantisations{};  // static, dynamic, nncf: how int8 is made; empty: static and nncf
  std::vector<std::string> graph_levels{};   // none, basic, extended, all, of back ends that have such levels
  std::vector<std::string> phases{};         // eager, channels_last, … , of PyTorch; empty: eager
  std::vector<double> pruned_shares{};       // of weights set to 0; in (0, 1)
  std::vector<std::string> pruned_how{};     // unstructured, structured; empty: unstructured
  std::string student{};                     // a smaller model that was taught by this one, measured as it is
  std::string calibration{};                 // where the data come from; empty: as the plan's
  std::int64_t calibration_items = 32;       // at most
};

// How a variant's file is made.
struct VariantMaking {
  std::string maker;   // find_maker
  std::string ending;  // of its file; kFolderConfig: it is a folder
  Pairs options{};
  bool calibrates = false;
  std::string words;   // "int8 static by ONNX Runtime"
  std::string tool{};  // the package that makes it, "nncf"; empty: we do
};

}  // namespace infermeter
