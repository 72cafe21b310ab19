#include "infermeter/verdict/answers/layers_answers.hpp"

#include <algorithm>
#include <cmath>

namespace infermeter {
namespace {

void set_tensor(const LayerGrowth& growth, std::size_t index, Answer& answer) {
  const LayerDifference& tensor = growth.tensors[index];
  answer.about = tensor.name;
  answer.place = index;
  answer.metric = "relative_l2";
  answer.value = growth_error(tensor);
  if (answer.value && !std::isfinite(*answer.value)) answer.value.reset();
}

}  // namespace

std::size_t compared_tensors(const LayerGrowth& growth) {
  return static_cast<std::size_t>(
      std::ranges::count_if(growth.tensors, [](const auto& tensor) { return tensor.reason.empty(); }));
}

std::optional<std::size_t> worst_tensor(const LayerGrowth& growth) {
  std::optional<std::size_t> worst;
  double largest = 0;
  for (std::size_t i = 0; i < growth.tensors.size(); ++i) {
    const auto error = growth_error(growth.tensors[i]);
    if (!error || !std::isfinite(*error) || *error <= largest) continue;
    largest = *error;
    worst = i;
  }
  return worst;
}

Answer layers_answer(const LayerGrowth& growth) {
  const std::size_t compared = compared_tensors(growth);
  const Tone well = compared == growth.tensors.size() ? Tone::good : Tone::warning;
  Answer answer{.topic = AnswerTopic::layers,
                .kind = AnswerKind::unknown,
                .tone = Tone::warning,
                .subjects = {1},
                .baseline = 0,
                .n = static_cast<std::int64_t>(compared),
                .n_of = "tensors"};
  if (growth.jump) {
    answer.kind = AnswerKind::part, answer.tone = Tone::bad;
    set_tensor(growth, *growth.jump, answer);
    return answer;
  }
  if (compared == 0) return answer;
  if (!growth.first_difference) {
    answer.kind = AnswerKind::equal, answer.tone = well;
    return answer;
  }
  const auto worst = worst_tensor(growth);
  if (!worst) return answer;
  set_tensor(growth, *worst, answer);
  const LayerDifference& tensor = growth.tensors[*worst];
  const bool is_rounding = *growth_error(tensor) <= tensor.floor;
  answer.kind = is_rounding ? AnswerKind::rounding_only : AnswerKind::grow;
  answer.tone = is_rounding ? well : Tone::warning;
  return answer;
}

}  // namespace infermeter
