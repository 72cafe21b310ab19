#include "infermeter/worker/worker_job.hpp"

#include <unistd.h>

#include <system_error>

#include "infermeter/plan/load/load_shape.hpp"
#include "infermeter/plan/prompt_file.hpp"
#include "infermeter/plan/server_url.hpp"
#include "infermeter/worker/library_choice.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/server_access.hpp"

namespace infermeter {
namespace {

std::string absolute_if_there(const std::string& path) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return path;
  return std::filesystem::absolute(path, error).string();
}

// A file of arrivals is read by the worker.
Result<Done> take_trace(WorkerJob& orders) {
  INFERMETER_TRY(const LoadShape shape, load_shape_from_pairs(orders.trial.subject.load));
  if (shape.arrivals.kind != Arrivals::Kind::trace) return Done{};
  const std::string file = absolute_if_there(shape.arrivals.file);
  for (auto& [key, value] : orders.trial.subject.load)
    if (key == "arrivals") value = file;
  orders.readable.push_back(file);
  return Done{};
}

// … and so is one of prompts.
void take_prompts(WorkerJob& orders) {
  for (auto& option : orders.trial.subject.options)
    if (names_prompt_file(option)) orders.readable.push_back(option.second = absolute_if_there(option.second));
}

}  // namespace

Result<WorkerJob> worker_job(const Launcher& launcher, const TrialJob& job) {
  INFERMETER_TRY(const auto plugin, find_plugin(launcher.plugin_folders, job.subject.backend));
  WorkerJob orders;
  orders.plugin = absolute_if_there(plugin.string());
  orders.sandbox = job.sandbox;
  orders.cpus = job.cpus;
  orders.trial.subject = job.subject;
  orders.trial.subject.backend_library =
      absolute_if_there(chosen_library(job.subject.backend, job.subject.backend_library));
  const bool is_file = job.cache_folder.empty() && !is_on_server(job.subject);
  orders.trial.model_path = is_file ? absolute_if_there(job.model_path) : job.model_path;
  orders.trial.zoo_name = job.zoo_name;
  orders.trial.data_shape = job.data_shape;
  orders.trial.cache_folder = absolute_if_there(job.cache_folder.string());
  orders.trial.arrivals_seed = job.arrivals_seed;
  INFERMETER_TRY_DONE(take_trace(orders));
  take_prompts(orders);
  std::error_code error;
  orders.trial.folder = std::filesystem::current_path(error).string();
  orders.trial.stopping = job.stopping;
  orders.trial.time_it = job.time_it;
  orders.trial.keep_outputs = job.keep_outputs;
  orders.trial.watch_memory = job.watch_memory;
  orders.trial.launcher = getpid();
  for (const auto& folder : launcher.python_folders)
    orders.trial.python_folders.push_back(absolute_if_there(folder.string()));
  for (const auto& path : job.readable) orders.readable.push_back(absolute_if_there(path.string()));
  if (is_on_server(job.subject)) {
    for (auto& [key, value] : orders.trial.subject.options)
      if (key == kCertificateOption) orders.readable.push_back(value = absolute_if_there(value));
    INFERMETER_TRY(ServerAccess server, access_to_server(job.subject));
    orders.trial.server_addresses = std::move(server.addresses);
    orders.trial.server_token = std::move(server.token);
  }
  return orders;
}

}  // namespace infermeter
