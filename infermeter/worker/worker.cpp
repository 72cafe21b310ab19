#include "infermeter/worker/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "infermeter/plan/server_url.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/worker/picture_process.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/wall/sandbox.hpp"
#include "infermeter/worker/wall/spawn.hpp"
#include "infermeter/worker/wall/supervisor.hpp"

namespace infermeter {
namespace {

bool is_socket(int descriptor) {
  struct stat status{};
  return fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
}

std::string parent_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

SandboxPaths sandbox_paths(const WorkerJob& job, const WorkerHost& host) {
  SandboxPaths paths{.readable = job.readable,
                     .writable = {},
                     .devices = job.trial.subject.device != "cpu" && job.trial.server_addresses.empty(),
                     .programs = host.starts_programs,
                     .servers = job.trial.server_addresses};
  if (!paths.servers.empty())  // whom the system trusts
    paths.readable.insert(paths.readable.end(), {"/etc/ssl/certs", "/etc/ssl/openssl.cnf"});
  paths.readable.insert(paths.readable.end(), host.readable.begin(), host.readable.end());
  // Code of the user's: the model itself, or what an option names (the factory of a file of weights).
  const auto& options = job.trial.subject.options;
  const bool has_code = (is_factory(job.trial.model_path) && !is_on_server(job.trial.subject)) ||
                        std::ranges::any_of(options, [](const auto& option) { return is_factory(option.second); });
  if (has_code) paths.readable.push_back(job.trial.folder);
  if (!job.make.file.empty()) paths.writable.push_back(parent_of(job.make.file));
  if (!job.trial.cache_folder.empty())
    (job.prepare ? paths.writable : paths.readable).push_back(job.trial.cache_folder);
  if (!job.make.data.empty()) paths.readable.push_back(job.make.data);
  paths.readable.push_back(parent_of(job.plugin));
  std::error_code error;
  // A Python file may be a link to its source; a library that is one is opened by the loader where it lies.
  paths.readable.push_back(std::filesystem::weakly_canonical(job.plugin, error).parent_path().string());
  const auto& folders = job.trial.python_folders;
  paths.readable.insert(paths.readable.end(), folders.begin(), folders.end());
  const std::string& model_file = is_on_server(job.trial.subject) ? "" : job.trial.model_path;
  for (const std::string& file : {model_file, job.trial.subject.backend_library}) {
    if (file.find('/') == std::string::npos) continue;
    paths.readable.push_back(parent_of(file));
    paths.readable.push_back(file);  // which may be a link to elsewhere, as in Hugging Face's cache
  }
  paths.writable.push_back(std::filesystem::current_path(error).string());
  paths.writable.insert(paths.writable.end(), job.writable.begin(), job.writable.end());
  return paths;
}

Result<Done> send_info(WorkerLink& link, const Result<Done>& done) {
  BackendInfo info;
  if (!done.ok()) info.error = done.error().message;
  return send_frame(link.socket, FrameType::info, backend_info_to_json(info));
}

// Before there is a back end there is nothing to measure, but still a record, or a description, that says why.
Result<Done> send_refusal(const WorkerJob& job, const Error& error, WorkerLink& link) {
  if (job.probe || job.prepare || !job.make.file.empty()) return send_info(link, error);
  Samples samples;
  samples.end = TrialEnd::load_failed;
  samples.usage = error.kind == ErrorKind::usage;
  samples.message = error.message;
  return send_frame(link.socket, FrameType::result, samples_to_json(samples));
}

Result<Done> do_job(const WorkerHost& host, WorkerLink& link) {
  const MemoryProbe memory;
  INFERMETER_TRY(const Frame frame, receive_frame(link.socket, link.frames, FrameType::job));
  INFERMETER_TRY(const WorkerJob job, job_from_json(frame.payload));
  auto diagnostics = enter_sandbox(job.sandbox, sandbox_paths(job, host), worker_guard);
  if (!diagnostics.ok()) return send_refusal(job, diagnostics.error(), link);
  if (job.pictures) return serve_pictures(link.socket, link.frames);
  if (!job.make.file.empty())
    return send_info(link, host.make ? host.make(job) : usage_error("a maker is a Python file"));
  const auto backend = host.open(job);
  if (!backend.ok()) return send_refusal(job, backend.error(), link);
  return host_job(*backend.value(), job, memory, std::move(diagnostics).value(), link,
                  host.python ? host.python(job) : PythonProfileHooks{});
}

}  // namespace

int worker_main(int argc, char** argv) {
  if (argc == 3 && argv[1] == supervise_argument) return supervise(std::atoi(argv[2]));
  return serve({.open = [](const WorkerJob& job) { return load_plugin(job.plugin); }});
}

int serve(const WorkerHost& host) {
  if (!is_socket(worker_socket)) {
    std::fputs("infermeter-worker is started by infermeter, not by hand; try `infermeter run`\n", stderr);
    return 2;
  }
  WorkerLink link{.socket = worker_socket, .block = worker_block, .frames = {}};
  const Result<Done> done = do_job(host, link);
  if (!done.ok()) std::fprintf(stderr, "infermeter-worker: %s\n", done.error().message.c_str());
  // No destructors: what a runtime does at exit is not part of a trial, and has crashed before.
  std::fflush(nullptr);
  _exit(done.ok() ? 0 : 1);
}

}  // namespace infermeter
