#pragma once

#include <string_view>

void read_server_answer(std::string_view text);
void read_grpc_answer(std::string_view body);
void read_server_stream(std::string_view text);
void read_http_answer(std::string_view text);
void read_prompts(std::string_view text);  // a file of them
