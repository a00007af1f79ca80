#include "config/listen_address.h"

#include <gtest/gtest.h>

#include <string>

namespace mempulse {
namespace {

TEST(ListenAddressTest, TakesTheThreeForms) {
  for (const char* text :
       {":9834", ":0", "127.0.0.1:9834", "0.0.0.0:65535", "localhost:1", "a-b.example.com:80", "[::]:9834",
        "[::1]:9834", "[2001:db8::1]:80", "[::ffff:1.2.3.4]:80"}) {
    EXPECT_EQ(CheckListenAddress(text), absl::OkStatus()) << text;
  }
}

TEST(ListenAddressTest, RefusesTheRest) {
  for (const char* text : {"",
                           "9834",
                           "localhost",
                           ":",
                           "localhost:",
                           ":65536",
                           ":-1",
                           ":+1",
                           ": 80",
                           ":http",
                           ":000080",
                           "1.2.3:80",
                           "1.2.3.256:80",
                           "::1",
                           "::1:80",
                           "[::1]",
                           "[::1]80",
                           "[]:80",
                           "[::1:80",
                           "[1.2.3.4]:80",
                           "a b:80",
                           "-a:80",
                           ".a:80",
                           "[fe80::1%eth0]:80",
                           "http://a:80"}) {
    EXPECT_EQ(CheckListenAddress(text).code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(ListenAddressTest, SaysWhatToWrite) {
  EXPECT_EQ(CheckListenAddress("9834").message(),
            "\"9834\" is no listen address: the port is missing, e.g. :9834");
  EXPECT_EQ(CheckListenAddress("::1:9834").message(),
            "\"::1:9834\" is no listen address: put an IPv6 address in brackets, e.g. [::1]:9834");
}

}  // namespace
}  // namespace mempulse
