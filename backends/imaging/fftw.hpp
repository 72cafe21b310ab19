// FFTW in single precision, taken from the library that is found when the plug-in runs.
#pragma once

#include <fftw3.h>

#include <string>

#include "infermeter_backend.h"

namespace infermeter {

struct Fftw {
  std::string path, version;  // "3.3.10"
  std::string build;          // "fftw-3.3.10-sse2-avx-avx2": as it says itself
  decltype(&::fftwf_plan_dft_2d) plan_dft_2d = nullptr;
  decltype(&::fftwf_execute_dft) execute_dft = nullptr;
  decltype(&::fftwf_destroy_plan) destroy_plan = nullptr;
  decltype(&::fftwf_import_wisdom_from_string) import_wisdom = nullptr;
  decltype(&::fftwf_export_wisdom_to_string) export_wisdom = nullptr;
  decltype(&::fftwf_forget_wisdom) forget_wisdom = nullptr;
  decltype(&::fftwf_free) free = nullptr;
};

// Throws Failure: missing, or another library.
[[nodiscard]] Fftw open_fftw(const imb_environment& environment);

}  // namespace infermeter
