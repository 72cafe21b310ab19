// Runtime, Session, Request: the back-end ABI with owners and Results.
//
// A status becomes an Error whose kind says who can mend it: usage (an option, a device, a library), model (it cannot
// be read or run), worker (out of memory).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/data/batch_axis.hpp"
#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/samples.hpp"
#include "infermeter/trial/abi_values.hpp"
#include "infermeter/trial/trial_request.hpp"
#include "infermeter_backend.h"

namespace infermeter {

// The buffer that a back end writes its sentence into.
class AbiMessage {
 public:
  [[nodiscard]] imb_message slot() { return {text_.data(), text_.size()}; }
  // One clean line: `context` and the back end's own words, or what the status means if it left none.
  [[nodiscard]] Error error(imb_status status, std::string_view context) const;

 private:
  std::array<char, 2048> text_{};
};

// Version, size and slots of a back end's table.
[[nodiscard]] Result<Done> check_backend(const imb_backend* backend, std::string_view name);

struct RuntimePlace {
  std::string library;                      // empty: search
  std::vector<std::string> python_folders;  // site-packages
  std::string folder{};                     // where the user is
};

class Runtime {
 public:
  [[nodiscard]] static Result<Runtime> open(const imb_backend& backend, const RuntimePlace& place);
  [[nodiscard]] const imb_runtime_info& info() const { return *backend_->runtime_info(runtime_.get()); }
  [[nodiscard]] const imb_backend& backend() const { return *backend_; }
  [[nodiscard]] imb_runtime* get() const { return runtime_.get(); }

 private:
  Runtime(const imb_backend& backend, imb_runtime* runtime)
      : backend_(&backend), runtime_(runtime, backend.close_runtime) {}
  const imb_backend* backend_;
  std::unique_ptr<imb_runtime, void (*)(imb_runtime*)> runtime_;
};

// What the host decides before it asks a runtime to load: nothing is left to a runtime's own default.
struct LoadPlan {
  std::string model_path, zoo_name, device, dtype;
  int threads = 0;
  std::int64_t batch = 0;
  Pairs dimensions, options;
  Pairs batch_axes{};                              // as the user says (data/batch_axis.hpp)
  std::string profile_folder{};                    // empty: operators are not profiled
  std::string cache_folder{};                      // of the back end alone; empty: none
  std::string data_shape{};                        // as the option input_shape; empty: not known
  bool preparing = false;                          // it may write there, and will not be run
  std::string server_addresses{}, server_token{};  // of the server that has the model; empty: none
};
struct ModelPlace {
  std::string path;        // a file, MODULE:FACTORY, or a name on a server
  std::string zoo_name;    // empty: not of the zoo
  bool on_server = false;  // the subject says where the server is
};
[[nodiscard]] ModelPlace model_place(const TrialRequest& request);
// Refuses a model of none of the `formats` that a back end reads.
[[nodiscard]] Result<Done> check_format(const ModelPlace& model, std::string_view backend,
                                        const std::vector<std::string>& formats);
// Refuses a device, type, option or model format that the runtime does not list. `processors`: what threads 0 means.
[[nodiscard]] Result<LoadPlan> plan_load(const Subject& subject, const ModelPlace& model, const imb_runtime_info& info,
                                         int processors);

class Session {
 public:
  [[nodiscard]] static Result<Session> load(const Runtime& runtime, const LoadPlan& plan);
  [[nodiscard]] bool has_compile() const { return backend_->compile != nullptr; }
  [[nodiscard]] Result<Done> compile();
  [[nodiscard]] std::vector<Port> inputs() const;  // with their batch axes
  [[nodiscard]] std::vector<Port> outputs() const;
  [[nodiscard]] Result<Pairs> executed() const;
  // Adds to `counters`, also of what then fails; nothing if there is no such slot.
  [[nodiscard]] Result<Done> read_counters(std::vector<Counter>& counters) const;
  struct DeviceMemory {
    std::uint64_t now = 0, peak = 0;
  };
  [[nodiscard]] std::optional<DeviceMemory> device_memory() const;
  [[nodiscard]] bool has_parts() const;   // its back end reports the parts of answers
  [[nodiscard]] bool has_queues() const;  // it takes many requests without a thread for each
  [[nodiscard]] bool has_profile() const { return backend_->profile_end != nullptr; }
  // Around the iterations that are to be profiled; of a session loaded with a profile_folder.
  [[nodiscard]] Result<Done> profile_begin() const;
  [[nodiscard]] Result<Done> profile_end() const;
  [[nodiscard]] const imb_backend& backend() const { return *backend_; }
  [[nodiscard]] imb_session* get() const { return session_.get(); }

 private:
  Session(const imb_backend& backend, imb_session* session) : backend_(&backend), session_(session, backend.close) {}
  [[nodiscard]] Result<Done> find_batch_axes(const LoadPlan& plan, const std::optional<BatchAxes>& reported);

  const imb_backend* backend_;
  BatchAxes batch_axes_;  // per input
  std::unique_ptr<imb_session, void (*)(imb_session*)> session_;
};

// Requests in flight of one thread.
class RequestQueue {
 public:
  // Of a session that has queues.
  [[nodiscard]] static Result<RequestQueue> create(const Session& session);
  // One that has ended, as soon as there is one, and when it did, CLOCK_MONOTONIC; nullptr after `timeout_ns` without.
  struct Ended {
    const imb_request* request = nullptr;
    std::int64_t moment_ns = 0;
  };
  [[nodiscard]] Ended next_ended(std::int64_t timeout_ns) {
    imb_request* request = nullptr;
    std::int64_t moment_ns = 0;
    is_broken_ = slots_->next_ended(queue_.get(), timeout_ns, &request, &moment_ns, message_->slot()) != IMB_OK;
    return {is_broken_ ? nullptr : request, moment_ns};
  }
  [[nodiscard]] bool is_broken() const { return is_broken_; }  // the last call failed
  [[nodiscard]] imb_status submit(imb_request* request, imb_message message) {
    return slots_->submit(queue_.get(), request, message);
  }

 private:
  RequestQueue(const imb_queue_slots& slots, imb_queue* queue) : slots_(&slots), queue_(queue, slots.destroy) {}
  const imb_queue_slots* slots_;
  std::unique_ptr<imb_queue, void (*)(imb_queue*)> queue_;
  std::unique_ptr<AbiMessage> message_ = std::make_unique<AbiMessage>();
  bool is_broken_ = false;
};

// One inference in flight, and the step of the timed loop: `prepare` binds the next data item, `run` is what is timed.
class Request {
 public:
  // `items` must outlive the request. None of them may be empty of values that the model needs.
  [[nodiscard]] static Result<Request> create(const Session& session, const std::vector<ItemValues>& items);

  [[nodiscard]] bool prepare(std::uint64_t iteration) {
    if (!is_settled_ && !settle()) return false;
    const std::size_t item = bindings_.size() == 1 ? 0 : iteration % bindings_.size();  // no division for a single one
    return item == bound_ || bind(item);
  }
  // Whether what the last run left is an answer, outside of what is timed; once for each run. Otherwise the next
  // `prepare` looks.
  [[nodiscard]] bool settle() {
    is_settled_ = true;
    return between_ == nullptr || stands();
  }
  // From now on `run` hands the inference to the runtime's own threads and waits for it, where the back end can: those
  // that there are no threads for wait in the runtime. Otherwise this thread is one more of its own.
  void use_threads_of_runtime();
  // Returns when the device has finished, too.
  [[nodiscard]] bool run() {
    is_settled_ = between_ == nullptr;
    status_ = run_(request_.get(), message_->slot());
    if (status_ == IMB_OK && wait_ != nullptr) status_ = wait_(request_.get(), message_->slot());
    if (status_ == IMB_OK && synchronize_ != nullptr) status_ = synchronize_(session_, message_->slot());
    return status_ == IMB_OK;
  }
  // The same in two steps: `finish` is for what `queue` says has ended.
  [[nodiscard]] bool submit(RequestQueue& queue) {
    is_settled_ = between_ == nullptr;
    status_ = queue.submit(request_.get(), message_->slot());
    return status_ == IMB_OK;
  }
  [[nodiscard]] bool finish() {
    status_ = backend_->wait(request_.get(), message_->slot());
    return status_ == IMB_OK;
  }
  [[nodiscard]] const imb_request* get() const { return request_.get(); }
  // Why prepare, run, submit or finish said false.
  [[nodiscard]] Error error(std::string_view context) const { return message_->error(status_, context); }
  // Which class of failures that is: one of kErrorKinds (samples/load/load_record.hpp).
  [[nodiscard]] std::string_view failure_kind() const;
  [[nodiscard]] Result<ItemValues> outputs();
  // Of the last run, which succeeded; valid until the next call. nullopt: the back end reports nothing of it.
  [[nodiscard]] std::optional<imb_parts> parts();
  // Of language models: how long the prompt and the answer of the next run are; after `prepare`.
  [[nodiscard]] bool takes_lengths() const { return lengths_ != nullptr; }
  [[nodiscard]] bool ask(std::int64_t prompt_tokens, std::int64_t output_tokens);
  [[nodiscard]] std::size_t bound_item() const { return bound_; }

 private:
  Request(const Session& session, imb_request* request);
  [[nodiscard]] bool bind(std::size_t item);
  [[nodiscard]] bool stands();  // what the last run left

  const imb_backend* backend_;
  imb_session* session_;
  std::unique_ptr<imb_request, void (*)(imb_request*)> request_;
  imb_status (*run_)(imb_request*, imb_message);  // or what begins it
  imb_status (*wait_)(imb_request*, imb_message) = nullptr;
  imb_status (*synchronize_)(imb_session*, imb_message);
  imb_status (*between_)(imb_request*, imb_message);
  imb_status (*parts_)(imb_request*, imb_parts*, imb_message);
  imb_status (*lengths_)(imb_request*, std::int64_t, std::int64_t, imb_message);
  std::vector<std::vector<AbiValue>> bindings_;  // per item, per input
  std::size_t bound_ = SIZE_MAX;
  bool is_settled_ = true;  // what the last run left was looked at, or there was none
  imb_status status_ = IMB_OK;
  std::unique_ptr<AbiMessage> message_;
};

}  // namespace infermeter
