#include "infermeter/worker/wall/server_addresses.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <rapidcheck.h>

#include <cstring>

namespace infermeter::server_addresses_test {
namespace {

SocketAddress one(const char* text) {
  const auto addresses = addresses_from_string(text);
  EXPECT_EQ(addresses.size(), 1U) << text;
  return addresses.empty() ? SocketAddress{} : addresses.front();
}

TEST(ServerAddresses, TextAndAddressesAreTheSame) {
  const std::string text = "127.0.0.1:8000,[::1]:8001,[2001:db8::2]:65535";
  EXPECT_EQ(addresses_to_string(addresses_from_string(text)), text);
}

TEST(ServerAddresses, WhatIsNoneIsLeftOut) {
  for (const char* text : {"", ",", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:1x",
                           "::1:80", "[::1]", "[127.0.0.1]:80", "name:80", "[:80", "127.0.0.1.:80", "0x7f.1:80"})
    EXPECT_TRUE(addresses_from_string(text).empty()) << text;
}

TEST(ServerAddresses, AnyTextIsRead) {
  rc::check([](const std::string& text) { static_cast<void>(addresses_from_string(text)); });
}

TEST(ServerAddresses, FamilyAddressAndPortMakeThePlace) {
  EXPECT_TRUE(is_same_place(one("127.0.0.1:8000"), one("127.0.0.1:8000")));
  EXPECT_TRUE(is_same_place(one("[::1]:8000"), one("[::1]:8000")));
  EXPECT_FALSE(is_same_place(one("127.0.0.1:8000"), one("127.0.0.1:8001")));
  EXPECT_FALSE(is_same_place(one("127.0.0.1:8000"), one("127.0.0.2:8000")));
  EXPECT_FALSE(is_same_place(one("[::1]:8000"), one("[::2]:8000")));
  EXPECT_FALSE(is_same_place(one("127.0.0.1:8000"), one("[::ffff:127.0.0.1]:8000")));
}

TEST(ServerAddresses, AShortOneIsNoPlace) {
  SocketAddress cut = one("127.0.0.1:8000");
  cut.size = sizeof(sockaddr_in) - 1;
  EXPECT_FALSE(is_same_place(cut, one("127.0.0.1:8000")));
  SocketAddress nothing;
  EXPECT_FALSE(is_same_place(nothing, nothing));
}

TEST(ServerAddresses, AddressesNeedNoResolver) {
  const auto found = addresses_of_host("127.0.0.1", 8000);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(addresses_to_string(*found), "127.0.0.1:8000");
  const auto none = addresses_of_host("no such host", 8000);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("'no such host' cannot be resolved"), std::string::npos);
}

}  // namespace
}  // namespace infermeter::server_addresses_test
