#include "plans.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>

#include "hashing.hpp"

namespace infermeter {
namespace {

constexpr std::string_view head = "infermeter imaging plans 1\n";
constexpr std::size_t largest_file = 16'777'216;
constexpr unsigned patience = FFTW_MEASURE;

// The planner and its wisdom are the process's, and must not be used by two threads.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    for (const char* const key : {"model name", "CPU part", "uarch"}) {
      if (!line.starts_with(key)) continue;
      const std::size_t colon = line.find(':');
      if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
    }
  }
  return "an unknown processor";
}

std::string printable_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E) c = ' ';
  return text.substr(0, 200);
}

std::string file_in(const std::string& folder, const std::string& machine) {
  std::uint64_t hash = 0;
  for (const char c : machine) hash = mixed(hash ^ static_cast<unsigned char>(c));
  char name[32];
  std::snprintf(name, sizeof name, "plans-%016llx", static_cast<unsigned long long>(hash));
  return folder + "/" + name;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char piece[4096];
  while (text.size() < largest_file && (file.read(piece, sizeof piece), file.gcount() > 0))
    text.append(piece, static_cast<std::size_t>(file.gcount()));
  return text;
}

[[noreturn]] void refuse_plan(const std::string& path, const std::string& why) {
  fail(IMB_INVALID_ARGUMENT,
       "the FFT plans in " + path + " cannot be used: " + why + "; delete the file, and they are made again");
}

void read_wisdom(const Fftw& fftw, const std::string& path, const std::string& machine) {
  const std::string text = contents(path);
  if (!text.starts_with(head)) refuse_plan(path, "it is not a file of plans");
  const std::size_t end = text.find('\n', head.size());
  if (end == std::string::npos) refuse_plan(path, "it is cut");
  const std::string its_machine = text.substr(head.size(), end - head.size());
  if (its_machine != machine) {
    refuse_plan(path,
                "they were made on another machine (" + printable_line(its_machine) + "; this is " + machine + ")");
  }
  fftw.forget_wisdom();
  if (fftw.import_wisdom(text.c_str() + end + 1) == 0) refuse_plan(path, "it is broken");
}

// Whole or not at all, whoever else does the same. What cannot be written is done without.
void write_wisdom(const Fftw& fftw, const std::string& path, const std::string& machine) {
  char* const wisdom = fftw.export_wisdom();
  if (wisdom == nullptr) return;
  const std::string part = path + "." + std::to_string(getpid());
  std::ofstream file(part, std::ios::binary);
  file << head << machine << '\n' << wisdom;
  fftw.free(wisdom);
  file.close();
  if (!file || std::rename(part.c_str(), path.c_str()) != 0) std::remove(part.c_str());
}

// Held while plans are made, so that two processes that come at once make the same.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ >= 0) flock(file_, LOCK_EX);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  int file_;
};

fftwf_plan plan_of(const Fftw& fftw, int size, int sign, unsigned flags) {
  const Field field = make_field(2 * static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
  auto* const numbers = reinterpret_cast<fftwf_complex*>(field.get());
  return fftw.plan_dft_2d(size, size, numbers, numbers, sign, flags);
}

bool plan_pair(const Fftw& fftw, int size, unsigned flags, PlanPair& pair) {
  pair.forward = plan_of(fftw, size, FFTW_FORWARD, flags);
  pair.backward = plan_of(fftw, size, FFTW_BACKWARD, flags);
  return pair.forward != nullptr && pair.backward != nullptr;
}

}  // namespace

void FreeField::operator()(float* numbers) const { ::operator delete(numbers, std::align_val_t{64}); }

Field make_field(std::size_t floats) {
  Field field(static_cast<float*>(::operator new(floats * sizeof(float), std::align_val_t{64})));
  std::memset(field.get(), 0, floats * sizeof(float));
  return field;
}

std::string machine_of_plans(const Fftw& fftw) { return printable_line(processor_name() + ", " + fftw.build); }

Plans::Plans(const Fftw& fftw, const ImagingSettings& settings, const WisdomPlace& place) : fftw_(&fftw) {
  const std::scoped_lock lock(planner());
  const std::string machine = machine_of_plans(fftw);
  const std::string path = place.folder.empty() ? "" : file_in(place.folder, machine);
  std::optional<FolderLock> folder;
  if (place.may_write && !path.empty()) folder.emplace(place.folder);
  if (!path.empty() && access(path.c_str(), F_OK) == 0) {
    read_wisdom(fftw, path, machine);
    origin_ = "wisdom file";
    if (plan_all(settings, patience | FFTW_WISDOM_ONLY)) return;
    destroy();
  }
  origin_ = "made in this process";
  if (!plan_all(settings, patience)) {
    destroy();
    fail(IMB_MODEL_ERROR,
         "FFTW makes no plan for " + std::to_string(settings.image_size) + "x" + std::to_string(settings.image_size));
  }
  if (folder) write_wisdom(fftw, path, machine);
}

Plans::~Plans() {
  const std::scoped_lock lock(planner());
  destroy();
}

bool Plans::plan_all(const ImagingSettings& settings, unsigned flags) {
  const bool has_grid = plan_pair(*fftw_, settings.image_size, flags, grid_);
  return has_grid && plan_pair(*fftw_, settings.detector, flags, window_);
}

void Plans::destroy() {
  for (fftwf_plan* plan : {&grid_.forward, &grid_.backward, &window_.forward, &window_.backward}) {
    if (*plan != nullptr) fftw_->destroy_plan(*plan);
    *plan = nullptr;
  }
}

}  // namespace infermeter
