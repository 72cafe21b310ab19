#include "infermeter/verdict/tuning/tuning_verdict.hpp"

namespace infermeter {

std::string_view to_string(TuningStage stage) {
  switch (stage) {
    case TuningStage::pilots: return "pilots";
    case TuningStage::halving: return "halving";
    case TuningStage::race: return "race";
    case TuningStage::confirmation: return "confirmation";
    case TuningStage::ended: break;
  }
  return "ended";
}

std::string_view to_string(SettingFate fate) {
  switch (fate) {
    case SettingFate::best: return "best";
    case SettingFate::equal: return "equal";
    case SettingFate::open: return "open";
    case SettingFate::worse: return "worse";
    case SettingFate::halved: return "halved";
    case SettingFate::bound: return "bound";
    case SettingFate::outputs: return "outputs";
    case SettingFate::load: return "load";
    case SettingFate::failed: return "failed";
    case SettingFate::not_raced: break;
  }
  return "not_raced";
}

std::string_view to_string(BoundKept kept) {
  switch (kept) {
    case BoundKept::yes: return "yes";
    case BoundKept::no: return "no";
    case BoundKept::unknown: break;
  }
  return "unknown";
}

}  // namespace infermeter
