#include "infermeter/report/forms/sentence.hpp"

namespace infermeter {

const char* sign_of(Tone tone) {
  switch (tone) {
    case Tone::good: return "✓";
    case Tone::warning: return "⚠";
    case Tone::bad: return "✗";
    case Tone::faint: return "?";
    case Tone::plain: return "·";
  }
  return "·";
}

const char* to_string(Tone tone) {
  switch (tone) {
    case Tone::plain: return "plain";
    case Tone::good: return "good";
    case Tone::warning: return "warning";
    case Tone::bad: return "bad";
    case Tone::faint: return "faint";
  }
  return "plain";
}

}  // namespace infermeter
