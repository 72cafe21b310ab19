#include "infermeter/worker/picture_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "infermeter/data/images/image_data.hpp"
#include "infermeter/data/regular_file.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/proc_file.hpp"
#include "infermeter/worker/wall/shared_memory.hpp"
#include "infermeter/worker/wire/wire.hpp"
#include "infermeter/worker/worker_process.hpp"

namespace infermeter {
namespace {

constexpr std::size_t bytes_per_pixel = 3;
constexpr std::size_t longest_reason = 500;  // in characters

// What goes with a picture's descriptor.
struct PictureSize {
  std::uint64_t width = 0, height = 0;
};

std::string too_much_memory(std::uint64_t limit) {
  return fmt::format("decoding takes more than {} MiB of memory", limit >> 20U);
}

// Without waiting: one that reads nothing cannot hold up who asks.
bool takes_a_message(int socket) {
  pollfd descriptor{socket, POLLOUT, 0};
  return poll(&descriptor, 1, 0) > 0;
}

Error not_decoded(const std::string& path, std::string_view why) {
  return io_error(fmt::format("the image {} cannot be read: {}", in_quotes(path), why));
}

// One decoder. Used by one thread.
class PictureProcess {
 public:
  PictureProcess(Launcher launcher, Sandbox sandbox, const std::atomic<int>* interrupt, const PictureLimits& limits)
      : launcher_(std::move(launcher)), sandbox_(sandbox), interrupt_(interrupt), limits_(limits) {}

  Result<Image> operator()(const std::string& path, std::size_t width, std::size_t height) {
    INFERMETER_TRY(const RegularFile file, RegularFile::open(path));
    if (!worker_) INFERMETER_TRY_DONE(begin());
    auto answer = ask(file, {width, height});
    if (!answer.ok()) {
      worker_.reset();
      return not_decoded(path, answer.error().message);
    }
    if (!answer->descriptor) return not_decoded(path, printable(answer->payload, longest_reason));
    return pixels_of(*answer, path, width, height);
  }

 private:
  Result<Done> begin() {
    INFERMETER_TRY(WorkerProcess worker, WorkerProcess::start({.program = {.file = launcher_.worker}, .cpus = {}}));
    WorkerJob job;
    job.pictures = true;
    job.sandbox = sandbox_;
    job.trial.subject.device = "cpu";
    worker_.emplace(std::move(worker));
    (void)send_frame(worker_->socket(), FrameType::job, job_to_json(job));  // one that is gone says so when it is asked
    return Done{};
  }

  Result<Frame> ask(const RegularFile& file, const PictureSize& size) {
    const std::string_view payload(reinterpret_cast<const char*>(&size), sizeof size);
    if (!takes_a_message(worker_->socket())) return worker_error("the decoder does not read what it is asked");
    // A worker that is gone says below how it ended.
    (void)send_frame(worker_->socket(), FrameType::picture, payload, file.descriptor());
    const double begin_s = monotonic_s();
    for (;;) {
      INFERMETER_TRY(auto frame, worker_->frames().next());
      if (frame && frame->type == FrameType::picture) return std::move(*frame);
      if (frame) return worker_error("the decoder's answer is not one");
      if (look_at_interrupts(interrupt_) != 0) return worker_error("stopped by a signal");
      if (monotonic_s() - begin_s > limits_.timeout_s)
        return worker_error(fmt::format("decoding takes more than {} s", limits_.timeout_s));
      INFERMETER_TRY_DONE(look_at_memory());
      INFERMETER_TRY(const bool open, wait());
      if (!open) return how_it_ended();
    }
  }

  // Its own limit binds each of its processes; this is of all of them, however they came by it.
  Result<Done> look_at_memory() {
    if (monotonic_s() - looked_s_ < look_s) return Done{};
    looked_s_ = monotonic_s();
    const std::uint64_t limit = limits_.memory_bytes;
    const std::uint64_t resident = worker_->resident_bytes(0, limit).value_or(0);
    if (resident + worker_->tree().bytes_beside(resident, limit) > limit) return worker_error(too_much_memory(limit));
    const std::string excess = worker_->tree().excess();
    return excess.empty() ? Result<Done>(Done{}) : worker_error("the decoder has " + excess);
  }

  // False: the worker has closed its end.
  Result<bool> wait() {
    pollfd descriptors[] = {{worker_->socket(), POLLIN, 0}, {worker_->output(), POLLIN, 0}};
    if (poll(descriptors, 2, static_cast<int>(look_s * 1e3)) <= 0) return true;
    if (descriptors[1].revents != 0) worker_->read_output();
    if (descriptors[0].revents != 0) return worker_->frames().read_some(worker_->socket());
    return true;
  }

  Error how_it_ended() {
    worker_->kill();  // it may have closed its end and gone on
    const SupervisorReport end = worker_->reap();
    return end.signal != 0 ? worker_error(fmt::format("the decoder crashed with signal {}", end.signal))
                           : worker_error(fmt::format("the decoder ended with status {}", end.exit_code));
  }

  static Result<Image> pixels_of(const Frame& answer, const std::string& path, std::size_t width, std::size_t height) {
    Image image{width, height, {}};
    const std::size_t size = width * height * bytes_per_pixel;
    const auto memory = map_filled_memory(answer.descriptor.get(), size);
    if (!memory.ok() || memory->bytes.size() != size) return not_decoded(path, "the decoder's answer is not one");
    image.pixels.resize(size);
    std::memcpy(image.pixels.data(), memory->bytes.data(), size);
    return image;
  }

  static constexpr double look_s = 0.05;

  Launcher launcher_;
  Sandbox sandbox_;
  const std::atomic<int>* interrupt_;
  PictureLimits limits_;
  double looked_s_ = 0;
  std::optional<WorkerProcess> worker_;
};

// In this worker.
Result<SharedMemory> decode(Frame& asked) {
  PictureSize size;
  if (asked.payload.size() != sizeof size || !asked.descriptor) return internal_error("no picture came");
  std::memcpy(&size, asked.payload.data(), sizeof size);
  INFERMETER_TRY(RegularFile file, RegularFile::of(asked.descriptor.release(), "it"));
  INFERMETER_TRY(const Image whole, decode_image_file(file));
  const Image image = prepared(whole, size.width, size.height);
  INFERMETER_TRY(SharedMemory memory, SharedMemory::create(image.pixels.size(), "infermeter-picture"));
  std::memcpy(memory.bytes().data(), image.pixels.data(), image.pixels.size());
  return memory;
}

Result<SharedMemory> decode_within_limits(Frame& asked) {
  try {
    return decode(asked);
  } catch (const std::bad_alloc&) {
    return io_error(too_much_memory(PictureLimits{}.memory_bytes));
  }
}

// Hard: what the decoder is made to do cannot raise it.
void limit_memory() {
  const std::uint64_t now = kilobytes_field(read_proc_file("/proc/self/status"), "VmData:").value_or(0);
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(limit.rlim_max, now + PictureLimits{}.memory_bytes);
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace

OpenPictures pictures_in_workers(const Launcher& launcher, Sandbox sandbox, const std::atomic<int>* interrupt,
                                 const PictureLimits& limits) {
  return [=]() -> ReadPicture {
    auto process = std::make_shared<PictureProcess>(launcher, sandbox, interrupt, limits);
    return [process](const std::string& path, std::size_t width, std::size_t height) {
      return (*process)(path, width, height);
    };
  };
}

Result<Done> serve_pictures(int socket, FrameReader& frames) {
  limit_memory();
  for (;;) {
    auto asked = receive_frame(socket, frames, FrameType::picture);
    if (!asked.ok()) return Done{};  // the launcher has closed it
    const auto memory = decode_within_limits(*asked);
    INFERMETER_TRY_DONE(memory.ok() ? send_frame(socket, FrameType::picture, "", memory->descriptor().get())
                                    : send_frame(socket, FrameType::picture, memory.error().message));
  }
}

}  // namespace infermeter
