#include "profile.hpp"

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sdk/operators_file.hpp"

namespace infermeter {
namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::string shape_text(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_nested()) return "(?)";
  std::string text = "(";
  for (const std::int64_t size : tensor.sizes()) text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  return text + (tensor.dim() == 1 ? ",)" : ")");
}

std::string precision_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return "float32";
    case at::kHalf: return "float16";
    case at::kBFloat16: return "bfloat16";
    case at::kDouble: return "float64";
    default: return c10::toString(type);
  }
}

// Of images and volumes.
std::string layout_of(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || tensor.is_nested() || tensor.dim() < 4 || tensor.size(1) == 1) return "";
  return tensor.stride(1) == 1 ? "channels_last" : "contiguous";
}

// TorchScript's interpreter hands out its whole stack: a call's own arguments are the last of it.
c10::ArrayRef<const c10::IValue> arguments_of(const at::RecordFunction& call) {
  const auto inputs = call.inputs();
  const auto schema = call.operator_schema();
  const std::size_t own = schema ? schema->arguments().size() : inputs.size();
  return own < inputs.size() ? inputs.slice(inputs.size() - own) : inputs;
}

OperatorsFile::Operator operator_of(const at::RecordFunction& call, std::uint32_t place) {
  OperatorsFile::Operator reported;
  reported.kind = call.name();
  reported.name = reported.kind + "." + std::to_string(place);
  for (const c10::IValue& input : arguments_of(call)) {
    if (!input.isTensor()) continue;
    const at::Tensor& tensor = input.toTensor();
    reported.shapes += (reported.shapes.empty() ? "" : ", ") + shape_text(tensor);
    if (!tensor.defined() || !reported.precision.empty()) continue;
    reported.precision = precision_of(tensor.scalar_type());
    reported.layout = layout_of(tensor);
  }
  return reported;
}

}  // namespace

// What the callbacks write to. They are functions without a state of their own.
class CallRecorder {
 public:
  CallRecorder() = default;
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;
  ~CallRecorder() { stop(); }

  void start() {
    stop();
    file_ = {};
    of_name_.clear();
    current() = this;
    auto callback = at::RecordFunctionCallback(on_start, on_end).needsInputs(true);
    callback.scopes({at::RecordScope::FUNCTION});
    handle_ = at::addThreadLocalCallback(callback);
  }
  void stop() {
    if (handle_) at::removeCallback(*handle_);
    handle_.reset();
    if (current() == this) current() = nullptr;
  }

  void begin_run() {
    if (!handle_) return;
    calls_.clear();
    for (auto& [name, calls] : of_name_) calls.in_run = 0;
    events_before_ = file_.op.size();
    is_running_ = !file_.cut;
  }
  void end_run() {
    if (!is_running_) return;
    is_running_ = false;
    file_.cut = file_.op.size() > most_operator_events;
    if (!file_.cut) return static_cast<void>(++file_.iterations);
    for (auto* column : {&file_.iteration, &file_.op, &file_.thread}) column->resize(events_before_);
    for (auto* column : {&file_.begin_ns, &file_.duration_ns}) column->resize(events_before_);
  }
  [[nodiscard]] bool is_recording() const { return handle_.has_value(); }
  [[nodiscard]] OperatorsFile take() { return std::move(file_); }

 private:
  struct Call {
    std::string name;
    std::int64_t begin_ns = 0, within_ns = 0;  // within: of the calls that it made
  };
  struct CallsOfName {
    std::vector<std::uint32_t> ops;
    std::size_t in_run = 0;
  };

  static CallRecorder*& current() {
    thread_local CallRecorder* recorder = nullptr;
    return recorder;
  }
  static std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& call) {
    if (CallRecorder* const recorder = current(); recorder != nullptr) recorder->enter(call);
    return nullptr;
  }
  static void on_end(const at::RecordFunction&, at::ObserverContext*) {
    if (CallRecorder* const recorder = current(); recorder != nullptr) recorder->leave();
  }

  void enter(const at::RecordFunction& call) {
    if (!is_running_) return;
    if (calls_.empty()) {
      op_ = number_of(call);
      longest_ns_ = -1;
    }
    calls_.push_back({.name = call.name(), .begin_ns = now_ns(), .within_ns = 0});
  }

  void leave() {
    if (!is_running_ || calls_.empty()) return;
    const Call call = std::move(calls_.back());
    calls_.pop_back();
    const std::int64_t duration = now_ns() - call.begin_ns, own = duration - call.within_ns;
    if (own > longest_ns_) {
      longest_ns_ = own;
      longest_ = call.name;
    }
    if (!calls_.empty()) return static_cast<void>(calls_.back().within_ns += duration);
    if (file_.operators[op_].kernel.empty()) file_.operators[op_].kernel = longest_;
    file_.iteration.push_back(static_cast<std::uint32_t>(file_.iterations));
    file_.op.push_back(op_);
    file_.thread.push_back(0);
    file_.begin_ns.push_back(call.begin_ns);
    file_.duration_ns.push_back(duration);
  }

  // The n-th call of a name is the same operator in every run.
  std::uint32_t number_of(const at::RecordFunction& call) {
    CallsOfName& calls = of_name_[call.name()];
    const std::size_t place = calls.in_run++;
    if (place == calls.ops.size()) {
      calls.ops.push_back(static_cast<std::uint32_t>(file_.operators.size()));
      file_.operators.push_back(operator_of(call, static_cast<std::uint32_t>(place)));
    }
    return calls.ops[place];
  }

  std::optional<at::CallbackHandle> handle_;
  bool is_running_ = false;
  OperatorsFile file_;
  std::size_t events_before_ = 0;
  std::unordered_map<std::string, CallsOfName> of_name_;
  std::vector<Call> calls_;  // those that have not returned, the outermost first
  std::uint32_t op_ = 0;     // the outermost one's
  std::int64_t longest_ns_ = -1;
  std::string longest_;  // of the outermost call and all within it, that which took most by itself
};

namespace {

class WatchedInference final : public Inference {
 public:
  WatchedInference(std::unique_ptr<Inference> inference, CallRecorder& recorder)
      : inference_(std::move(inference)), recorder_(recorder) {}

  void set_input(std::size_t index, at::Tensor tensor) override { inference_->set_input(index, std::move(tensor)); }
  void run() override {
    recorder_.begin_run();
    inference_->run();
    recorder_.end_run();
  }
  [[nodiscard]] std::vector<NamedTensor> outputs() const override { return inference_->outputs(); }

 private:
  std::unique_ptr<Inference> inference_;
  CallRecorder& recorder_;
};

}  // namespace

Profile::Profile(std::string folder) : folder_(std::move(folder)), recorder_(std::make_unique<CallRecorder>()) {}
Profile::~Profile() = default;

std::unique_ptr<Inference> Profile::watched(std::unique_ptr<Inference> inference) {
  return std::make_unique<WatchedInference>(std::move(inference), *recorder_);
}

void Profile::begin() { recorder_->start(); }

void Profile::end() {
  if (!recorder_->is_recording()) fail(IMB_INVALID_ARGUMENT, "no profile was begun");
  recorder_->stop();
  OperatorsFile file = recorder_->take();
  if (file.operators.empty()) fail(IMB_UNSUPPORTED, "PyTorch recorded no call: what runs was compiled without any");
  file.source = "PyTorch " INFERMETER_TORCH_VERSION "'s calls of operators; what one calls in turn is within its time";
  file.clock = "monotonic";
  write_operators(file, folder_);
}

}  // namespace infermeter
