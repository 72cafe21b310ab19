// Single figures as text.
#pragma once

#include <string>

namespace infermeter {

// Single figures, as they appear in every text: "11.2 ms", "1.82x", "97.5 MB". Three significant digits unless asked.
[[nodiscard]] std::string format_time(double seconds);
[[nodiscard]] std::string format_bytes(double bytes);  // decimal units: 1 MB = 10^6 bytes
[[nodiscard]] std::string format_rate(double per_second);
[[nodiscard]] std::string format_ratio(double ratio);
[[nodiscard]] std::string format_share(double share);       // "99.2 %"
[[nodiscard]] std::string format_duration(double seconds);  // "1 min 20 s"

}  // namespace infermeter
