#pragma once

#include <string_view>

void read_server_answer(std::string_view text);
void read_server_stream(std::string_view text);
