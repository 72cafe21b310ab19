// Figures of arrays that a program has: differences, structural similarity, accuracy, overlaps (infermeter.metrics).
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>

#include "infermeter/infermeter.hpp"
#include "python/bind/arrays.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

// A tensor that views an array's memory, and the array.
struct HeldArray {
  ArrayValues held;
  const Tensor& tensor() const { return held.values.front().tensor; }
};

HeldArray held(nb::handle array, const char* name) {
  HeldArray result;
  value_or_raise(add_array(result.held, array, name));
  return result;
}

// Without the interpreter's lock.
template <class Work>
auto unlocked(Work work) {
  nb::gil_scoped_release others_go_on;
  return work();
}

std::optional<double> checked_range(std::optional<double> range) {
  if (!range || (*range > 0 && std::isfinite(*range))) return range;
  raise(usage_error(fmt::format("data_range: expected a number above 0, got {}", *range)));
}

// A tally of arrays, added one after the other, and the shape of the one that has the largest difference.
class Difference {
 public:
  explicit Difference(std::optional<double> data_range) : given_range_(checked_range(data_range)) {}

  void add(nb::handle reference, nb::handle candidate) {
    const HeldArray r = held(reference, "reference"), c = held(candidate, "candidate");
    auto result = unlocked([&] { return difference_of(r.tensor(), c.tensor()); });
    const DifferenceTally more = value_or_raise(std::move(result));
    if (items_ == 0 || more.max_absolute > tally_.max_absolute) {
      item_of_max_ = items_;
      shape_of_max_ = r.tensor().shape;
      const DType dtype = r.tensor().dtype;
      values_per_element_ = dtype == DType::complex64 || dtype == DType::complex128 ? 2 : 1;
    }
    tally_.add(more);
    ++items_;
  }

  const DifferenceTally& tally() const { return tally_; }
  std::size_t items() const { return items_; }
  std::uint64_t count() const { return tally_.count / values_per_element_; }
  const std::optional<double>& given_range() const { return given_range_; }
  std::size_t item_of_max() const { return item_of_max_; }

  nb::object index_of_max() const {
    if (tally_.finite == 0) return nb::none();
    std::vector<std::uint64_t> index(shape_of_max_.size());
    std::uint64_t rest = tally_.max_absolute_index / values_per_element_;
    for (std::size_t axis = index.size(); axis-- > 0;) {
      const auto side = static_cast<std::uint64_t>(shape_of_max_[axis]);
      index[axis] = rest % side;
      rest /= side;
    }
    return nb::tuple(nb::cast(index));
  }

  // nullopt where there is no pair of finite numbers.
  std::optional<double> of_pairs(double value) const {
    return tally_.finite == 0 ? std::nullopt : std::optional(value);
  }

 private:
  DifferenceTally tally_;
  std::optional<double> given_range_;
  std::size_t items_ = 0, item_of_max_ = 0;
  std::uint64_t values_per_element_ = 1;
  Shape shape_of_max_;
};

std::string text(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "None"; }

auto of_pairs(double DifferenceTally::* field) {
  return [field](const Difference& d) { return d.of_pairs(d.tally().*field); };
}
auto counter(std::uint64_t DifferenceTally::* field) {
  return [field](const Difference& d) { return d.tally().*field; };
}

void bind_difference_metrics(nb::module_& module) {
  nb::class_<Difference> bound(
      module, "Difference",
      "How far arrays are from their references, r and c being the pairs in which both are finite and n their number. "
      "A figure is None where there is no such pair, where its formula divides by 0, or where a square leaves the "
      "range "
      "of doubles.");
  bound
      .def(nb::init<std::optional<double>>(), nb::kw_only(), nb::arg("data_range") = nb::none(),
           "Nothing yet. `data_range`: the largest value that there can be less the smallest (255 of 8-bit images); "
           "None: of the reference's values.")
      .def("add", &Difference::add, nb::arg("reference"), nb::arg("candidate"),
           nb::sig("def add(self, reference: object, candidate: object) -> None"),
           "Adds the next item of a data set; it need not have the shape of the others.")
      .def_prop_ro("items", &Difference::items, "Pairs of arrays that were added.")
      .def_prop_ro("count", &Difference::count, "Elements, whatever they are.")
      .def_prop_ro("max_absolute", of_pairs(&DifferenceTally::max_absolute), "max |c - r|.")
      .def_prop_ro("max_absolute_index", &Difference::index_of_max,
                   nb::sig("def max_absolute_index(self) -> tuple[int, ...] | None"),
                   "Where it is, in its item; the first of equal ones.")
      .def_prop_ro("max_absolute_item", &Difference::item_of_max, "The item it is in, from 0.")
      .def_prop_ro("reference_at_max", of_pairs(&DifferenceTally::reference_at_max))
      .def_prop_ro("candidate_at_max", of_pairs(&DifferenceTally::candidate_at_max));
  for (const DifferenceFigure& figure : difference_figures()) {
    if (figure.of_tally == nullptr) continue;
    bound.def_prop_ro(
        std::string(figure.id).c_str(),
        [of = figure.of_tally](const Difference& d) { return of(d.tally(), d.given_range()); },
        std::string(figure.meaning).c_str());
  }
  bound.def_prop_ro("nan_reference", counter(&DifferenceTally::nan_reference))
      .def_prop_ro("nan_candidate", counter(&DifferenceTally::nan_candidate))
      .def_prop_ro("inf_reference", counter(&DifferenceTally::inf_reference))
      .def_prop_ro("inf_candidate", counter(&DifferenceTally::inf_candidate))
      .def_prop_ro("non_finite_apart", counter(&DifferenceTally::non_finite_apart),
                   "Pairs in which either is NaN or infinite and the other is not the same.")
      .def("__repr__", [](const Difference& d) {
        return fmt::format("<Difference of {}: max {}, mae {}, relative L2 {}>", d.count(),
                           text(d.of_pairs(d.tally().max_absolute)), text(d.tally().mae()),
                           text(d.tally().relative_l2()));
      });
  module.def(
      "difference",
      [](nb::handle reference, nb::handle candidate, std::optional<double> data_range) {
        Difference difference(data_range);
        difference.add(reference, candidate);
        return difference;
      },
      nb::arg("reference"), nb::arg("candidate"), nb::arg("data_range") = nb::none(),
      nb::sig("def difference(reference: object, candidate: object, data_range: float | None = None) -> Difference"),
      "How far one array is from its reference: numbers of one shape, of 0 dimensions or more.");
}

Result<SsimWindow> window_of(const std::string& name) {
  if (name == "uniform") return SsimWindow::uniform;
  if (name == "gaussian") return SsimWindow::gaussian;
  return usage_error(fmt::format("window: expected 'uniform' or 'gaussian', got '{}'", name));
}

double similarity(nb::handle reference, nb::handle candidate, SsimOptions options, const std::string& window) {
  options.window = value_or_raise(window_of(window));
  const HeldArray r = held(reference, "reference"), c = held(candidate, "candidate");
  auto result = unlocked([&] { return structural_similarity(r.tensor(), c.tensor(), options); });
  return value_or_raise(std::move(result));
}

void bind_similarity(nb::module_& module) {
  module.def(
      "structural_similarity",
      [](nb::handle reference, nb::handle candidate, int dimensions, bool channels_last, const std::string& window,
         int size, std::optional<double> data_range, bool sample_covariance, double k1, double k2) {
        const SsimOptions options{.dimensions = dimensions,
                                  .channels_last = channels_last,
                                  .size = size,
                                  .data_range = data_range,
                                  .sample_covariance = sample_covariance,
                                  .k1 = k1,
                                  .k2 = k2};
        return similarity(reference, candidate, options, window);
      },
      nb::arg("reference"), nb::arg("candidate"), nb::kw_only(), nb::arg("dimensions") = 2,
      nb::arg("channels_last") = false, nb::arg("window") = "uniform", nb::arg("size") = 7,
      nb::arg("data_range") = nb::none(), nb::arg("sample_covariance") = true, nb::arg("k1") = 0.01,
      nb::arg("k2") = 0.03,
      nb::sig("def structural_similarity(reference: object, candidate: object, *, dimensions: int = 2, channels_last: "
              "bool = False, window: str = 'uniform', size: int = 7, data_range: float | None = None, "
              "sample_covariance: bool = True, k1: float = 0.01, k2: float = 0.03) -> float"),
      "Mean structural similarity (Wang et al. 2004) of images, or of volumes (dimensions=3): the last axes of the "
      "shape, less the channels where these are last; other axes are images of their own. Windows: 'uniform' of "
      "`size`, "
      "or 'gaussian' of standard deviation 1.5, 11 wide; only those inside of the image count. `data_range`: the "
      "largest "
      "value that there can be less the smallest, None: of the reference's values. NaN where either has NaN or "
      "infinity.");
}

void bind_labels(nb::module_& module) {
  nb::class_<ClassAccuracy>(module, "ClassAccuracy", "Rows of one class.")
      .def_ro("label", &ClassAccuracy::label)
      .def_ro("rows", &ClassAccuracy::rows, "That have this label.")
      .def_ro("right", &ClassAccuracy::right, "Those of them whose largest score is this class's.")
      .def_prop_ro("share", [](const ClassAccuracy& c) {
        return static_cast<double>(c.right) / static_cast<double>(c.rows);  // a class has a row
      });
  nb::class_<LabelAccuracy>(module, "LabelAccuracy", "Scores against labels.")
      .def_ro("rows", &LabelAccuracy::rows, "That have a label.")
      .def_prop_ro("top1", &LabelAccuracy::top1_share,
                   "Share of rows whose largest score is their label's; None without rows.")
      .def_prop_ro("top5", &LabelAccuracy::top5_share,
                   "Share of rows whose label's score is among the five largest; None with five classes or fewer.")
      .def_ro("classes", &LabelAccuracy::classes, "Those among the labels, ascending.")
      .def("__repr__", [](const LabelAccuracy& a) {
        return fmt::format("<LabelAccuracy of {} rows: top-1 {}, top-5 {}>", a.rows, text(a.top1_share()),
                           text(a.top5_share()));
      });
}

void bind_masks(nb::module_& module) {
  nb::class_<ClassOverlap>(module, "ClassOverlap", "Pixels of one class.")
      .def_ro("label", &ClassOverlap::label)
      .def_ro("both", &ClassOverlap::both, "Of this class in the mask and predicted.")
      .def_ro("truth", &ClassOverlap::truth, "Of this class in the mask.")
      .def_ro("predicted", &ClassOverlap::predicted, "Predicted to be of this class.")
      .def_prop_ro("iou", &ClassOverlap::iou, "both / (truth + predicted - both).")
      .def_prop_ro("dice", &ClassOverlap::dice, "2 both / (truth + predicted).");
  nb::class_<MaskAccuracy>(module, "MaskAccuracy", "Predicted classes of pixels against a mask.")
      .def_ro("pixels", &MaskAccuracy::pixels, "Less the ignored ones.")
      .def_ro("right", &MaskAccuracy::right)
      .def_ro("classes", &MaskAccuracy::classes, "Those in the mask or predicted, ascending.")
      .def_prop_ro("mean_iou", &MaskAccuracy::mean_iou, "Over classes.")
      .def_prop_ro("mean_dice", &MaskAccuracy::mean_dice, "Over classes.")
      .def("__repr__", [](const MaskAccuracy& m) {
        return fmt::format("<MaskAccuracy of {} pixels: mean IoU {}, mean Dice {}>", m.pixels, text(m.mean_iou()),
                           text(m.mean_dice()));
      });
}

// One-dimensional integers as labels.
std::vector<int> labels_in(nb::handle array) {
  const HeldArray labels = held(array, "labels");
  const Tensor& tensor = labels.tensor();
  if (tensor.shape.size() != 1) {
    raise(usage_error(fmt::format("labels: expected one per row, got an array of shape {}", to_string(tensor.shape))));
  }
  std::vector<int> result;
  for (const double label : value_or_raise(to_doubles(tensor))) {
    if (!(std::abs(label) <= std::numeric_limits<int>::max()) || label != std::floor(label)) {
      raise(usage_error(fmt::format("labels: {} is not a class", label)));
    }
    result.push_back(static_cast<int>(label));
  }
  return result;
}

bool is_list_of_arrays(nb::handle outputs) {
  if (!PyList_Check(outputs.ptr()) && !PyTuple_Check(outputs.ptr())) return false;
  return nb::len(outputs) == 0 || nb::hasattr(outputs[0], "shape");
}

// One array, or a model's outputs.
ArrayValues outputs_in(nb::handle outputs) {
  ArrayValues values;
  if (!is_list_of_arrays(outputs)) {
    value_or_raise(add_array(values, outputs, "scores"));
    return values;
  }
  std::size_t index = 0;
  for (nb::handle array : outputs) value_or_raise(add_array(values, array, fmt::format("output {}", index++)));
  if (values.values.empty()) raise(usage_error("there is no output"));
  return values;
}

void add_labels(AccuracyTally& tally, nb::handle outputs, nb::handle labels_array) {
  const std::vector<int> labels = labels_in(labels_array);
  const ArrayValues values = outputs_in(outputs);
  const auto index =
      is_list_of_arrays(outputs) ? scores_among(values.values, labels.size()) : std::optional<std::size_t>(0);
  if (!index) raise(usage_error(fmt::format("no output has a row of scores for each of {} labels", labels.size())));
  value_or_raise(tally.add(values.values[*index].tensor, labels));
}

void add_mask(AccuracyTally& tally, nb::handle outputs, nb::handle mask) {
  const ArrayValues values = outputs_in(outputs);
  const HeldArray truth = held(mask, "mask");
  auto result = unlocked([&] { return tally.add_mask(values.values.front().tensor, truth.tensor()); });
  value_or_raise(std::move(result));
}

void bind_accuracy_metrics(nb::module_& module) {
  bind_labels(module);
  bind_masks(module);
  nb::class_<AccuracyTally>(module, "AccuracyTally", "Accuracy that adds up over the items of a data set.")
      .def(nb::init<>())
      .def("add", &add_labels, nb::arg("outputs"), nb::arg("labels"),
           nb::sig("def add(self, outputs: object, labels: object) -> None"),
           "Scores [rows, classes], or a list of a model's outputs, of which the first that has a row of scores per "
           "label is taken; and a label per row, where -1 leaves a row out. The first of the largest scores counts.")
      .def("add_mask", &add_mask, nb::arg("outputs"), nb::arg("mask"),
           nb::sig("def add_mask(self, outputs: object, mask: object) -> None"),
           "Scores [rows, classes, ...] or classes [rows, ...], or a list of outputs, of which the first is taken; and "
           "a "
           "mask of integers [rows, ...], where -1 leaves a pixel out.")
      .def_prop_ro(
          "labels", [](const AccuracyTally& tally) { return tally.accuracy().labels; }, "None: no labels were added.")
      .def_prop_ro(
          "masks", [](const AccuracyTally& tally) { return tally.accuracy().masks; }, "None: no masks were added.")
      .def_prop_ro("right", &AccuracyTally::right, "Of each labelled row, in order: is its largest score its label's?");
}

}  // namespace

void bind_metrics(nb::module_& module) {
  bind_difference_metrics(module);
  bind_similarity(module);
  bind_accuracy_metrics(module);
}

}  // namespace infermeter::python
