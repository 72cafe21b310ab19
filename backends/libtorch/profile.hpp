// The profile of a session's operators: what PyTorch's dispatcher calls, as its RecordFunction shows. An operator is a
// call that is not made by another one, at its place in an inference; what it calls in turn is within its time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "program.hpp"

namespace infermeter {

class CallRecorder;

class Profile {
 public:
  explicit Profile(std::string folder);
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  ~Profile();

  // The same inference, each run of which is recorded after `begin`. The profile must outlive it.
  [[nodiscard]] std::unique_ptr<Inference> watched(std::unique_ptr<Inference> inference);
  // Runs are recorded from here on, of the calling thread.
  void begin();
  // Writes operators.json. Throws Failure.
  void end();

 private:
  std::string folder_;
  std::unique_ptr<CallRecorder> recorder_;
};

}  // namespace infermeter
