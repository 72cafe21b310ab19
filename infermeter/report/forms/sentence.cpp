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

}  // namespace infermeter
