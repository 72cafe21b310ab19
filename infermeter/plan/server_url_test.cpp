#include "infermeter/plan/server_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "infermeter/plan/plan_file.hpp"

namespace infermeter::server_url_test {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view url) {
  const auto parts = server_url_from_string(url);
  return parts ? "no error" : parts.error().message;
}

TEST(ServerUrl, HasAHostAndAPort) {
  const auto plain = server_url_from_string("http://server-1.example:8000/deep/path");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->host, "server-1.example");
  EXPECT_EQ(plain->port, 8000);
  EXPECT_FALSE(plain->is_encrypted);
  const auto six = server_url_from_string("https://[::1]");
  ASSERT_TRUE(six.ok());
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->port, 443);
  EXPECT_TRUE(six->is_encrypted);
  EXPECT_EQ(server_url_from_string("http://10.0.0.1")->port, 80);
}

TEST(ServerUrl, SaysWhatIsWrong) {
  for (const char* url : {"", "host", "ftp://host", "HTTP//host"}) EXPECT_THAT(error_of(url), HasSubstr("begin"));
  for (const char* url : {"http://", "http:///path", "http://:8000"}) EXPECT_THAT(error_of(url), HasSubstr("no host"));
  for (const char* url : {"http://h:", "http://h:0", "http://h:65536", "http://h:80x", "http://h:-1", "http://[::1]:"})
    EXPECT_THAT(error_of(url), HasSubstr("not a port")) << url;
  EXPECT_THAT(error_of("http://[::1"), HasSubstr("not closed"));
  EXPECT_THAT(error_of("http://[::1]8000"), HasSubstr(":PORT"));
  EXPECT_THAT(error_of("http://[fe80::1%25eth0]"), HasSubstr("no IPv6 address"));
  EXPECT_THAT(error_of("http://h/a?b"), HasSubstr("'?'"));
  EXPECT_THAT(error_of("http://h/\x1b[2J"), HasSubstr("control"));
  EXPECT_THAT(error_of("http://h\xC3\xA4st"), HasSubstr("not ASCII"));
  EXPECT_THAT(error_of("http://h" + std::string(3000, 'x')), HasSubstr("2000"));
  EXPECT_THAT(error_of("http://" + std::string(300, 'x')), HasSubstr("too long"));
}

TEST(ServerUrl, APasswordIsRefusedAndNotRepeated) {
  const std::string message = error_of("http://me:secret@host");
  EXPECT_THAT(message, HasSubstr("token_file"));
  EXPECT_THAT(message, testing::Not(HasSubstr("secret")));
}

TEST(ServerUrl, WhateverIsTakenIsOfHarmlessLetters) {
  rc::check([](const std::string& text) {
    const auto parts = server_url_from_string("http://" + text);
    if (!parts) return;
    for (const char c : parts->host) RC_ASSERT(c > ' ' && c < '\x7f' && c != '/' && c != '@' && c != '[');
    RC_ASSERT(parts->port != 0);
  });
}

}  // namespace
}  // namespace infermeter::server_url_test
