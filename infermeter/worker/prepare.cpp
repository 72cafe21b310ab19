#include "infermeter/worker/prepare.hpp"

#include <fmt/format.h>

#include <system_error>

#include "infermeter/worker/worker_answer.hpp"
#include "infermeter/worker/worker_job.hpp"

namespace infermeter {

std::filesystem::path backend_cache(const std::filesystem::path& cache, const std::string& backend) {
  return cache / "backends" / backend;
}

Result<Done> prepare_backend(const Launcher& launcher, const TrialJob& job, const std::atomic<int>* interrupt) {
  std::error_code error;
  std::filesystem::create_directories(job.cache_folder, error);
  if (error) {
    return io_error(fmt::format("cannot write to the cache folder '{}': {}; name another one with INFERMETER_CACHE",
                                job.cache_folder.string(), error.message()));
  }
  INFERMETER_TRY(WorkerJob orders, worker_job(launcher, job));
  orders.prepare = true;
  INFERMETER_TRY(const BackendInfo answer, ask_worker(launcher, orders,
                                                      {.timeout_s = job.limits.load_timeout_s,
                                                       .memory_limit_bytes = job.limits.memory_limit_bytes,
                                                       .interrupt = interrupt}));
  if (!answer.error.empty()) return model_error(answer.error);
  return Done{};
}

}  // namespace infermeter
