// A model file made of another one by a maker: a Python file with a function make(job), in a process of its own, in the
// sandbox and without network. Conversions for a back end and variants (float16, int8, pruned) are made this way.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

struct ModelMaking {
  std::filesystem::path maker;  // find_maker
  std::string name;             // the model's, for sentences: of the zoo, or its file's
  std::filesystem::path model;  // what it is made of
  Pairs options{};              // the maker's own
  std::string data{};           // an .npz to calibrate on; empty: none
  std::filesystem::path file;   // to be written; files that belong to it may stand beside it
};

// infermeter_make_<name>.py in the folders of plug-ins, else infermeter/making/<name>.py of the Python package; empty:
// there is none.
[[nodiscard]] std::filesystem::path find_maker(const Launcher& launcher, std::string_view name);
// The maker and what it is made with: another version of these may make another file.
[[nodiscard]] std::vector<std::filesystem::path> code_of_maker(const Launcher& launcher,
                                                               const std::filesystem::path& maker);

inline constexpr double usual_making_timeout_s = 600;

struct MakingLimits {
  double timeout_s = usual_making_timeout_s;
  Sandbox sandbox = Sandbox::automatic;
  std::uint64_t memory_limit_bytes = 0;         // as in Limits
  const std::atomic<int>* interrupt = nullptr;  // as in RunContext
};

// All or nothing: the folder of `making.file` is made, with everything in it, or is not there. Where another process
// was faster, its files stay. A maker's refusal, crash or timeout is one sentence.
[[nodiscard]] Result<Done> make_model(const Launcher& launcher, const ModelMaking& making,
                                      const MakingLimits& limits = {});

}  // namespace infermeter
