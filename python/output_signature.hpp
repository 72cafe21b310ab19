// OutputSignature: of what kinds and shapes a result is made, so that one that changes between calls is noticed. Cheap:
// it is compared after each iteration, outside of the timed region.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace infermeter::python {

class OutputSignature {
 public:
  explicit OutputSignature(nanobind::handle result) { add(result); }
  // Empty if `result` is as this one was; else what has changed: "from float32 (1, 3) to float32 (1, 4)".
  [[nodiscard]] std::string change(nanobind::handle result) const;

 private:
  struct Part {
    nanobind::object type, shape, dtype;  // of an array; of anything else only the type
    std::size_t count = 0;                // of elements, where it is a tuple, a list or a dict
  };
  void add(nanobind::handle value);
  [[nodiscard]] static Part part_of(nanobind::handle value);
  [[nodiscard]] static std::string text_of(const Part& part);
  [[nodiscard]] bool same(nanobind::handle value, std::size_t& index, std::string& change) const;

  std::vector<Part> parts_;  // depth first
};

}  // namespace infermeter::python
