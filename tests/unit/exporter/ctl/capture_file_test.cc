#include "exporter/ctl/capture_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <random>

namespace mempulse {
namespace {

using ::testing::HasSubstr;

SweepSample SmallSample() {
  SweepSample sample;
  sample.tracker = TrackerKind::kSoftDirty;
  sample.atomic = false;
  sample.sees_restores = false;
  sample.target_seconds_per_hit = 1.1e-6;
  sample.ceiling_window = absl::Microseconds(250) + absl::Nanoseconds(1) / 4;
  SweepRegion region;
  region.range = {0x1000, 0x5000};
  region.kind = 3;
  region.name = std::string("/tmp/odd \n\xff name") + '\0' + "x";
  region.offset = 1;
  region.inode = uint64_t{1} << 63;
  region.device_major = 2;
  region.device_minor = UINT32_MAX;
  region.writable = false;
  region.build_id = "00ff";
  sample.regions = {region, SweepRegion{}};
  sample.tracked_pages = 1234567;
  sample.huge_pages_skipped = 512;
  RungSample rung;
  rung.requested = absl::Milliseconds(20);
  rung.ranges = {{0x1000, 0x5000}};
  rung.page_share = 0.25;
  rung.eligible_pages = 16;
  for (int i = 0; i < 5; ++i) rung.looks.push_back({0.02 + i * 1e-7, 1e-6 * i, 0.3F * i, i != 2, i == 3});
  rung.pages = {{0x1000, 1, 4, 3, false, 2, 1, 0.06, 0.0012}, {0x3000, 0, 5, 5, true, 5, 5, 0.08, 0.0016}};
  rung.hits_per_second = 80.5;
  rung.induced_faults = 8;
  rung.cut_by_budget = true;
  rung.record = {{0, 1}, {1, 4}};
  sample.rungs = {rung, RungSample{}};
  sample.gap = {9.75, {{0x1000, 0x3000}, {0x4000, 0x5000}}, {{0x2000, 0x3000}}};
  sample.target_cpu = 0.42;
  sample.duration_seconds = 8.25;
  sample.outcome = SweepOutcome::kTimeLimit;
  return sample;
}

CaptureInfo Info() {
  return {"0.1.0", "6.12.6-amd64", "redis-server", absl::FromUnixMicros(1700000000123456)};
}

void ExpectSame(const Look& a, const Look& b) {
  EXPECT_EQ(a.window_seconds, b.window_seconds);
  EXPECT_EQ(a.slack_seconds, b.slack_seconds);
  EXPECT_EQ(a.target_cpu, b.target_cpu);
  EXPECT_EQ(a.contiguous, b.contiguous);
  EXPECT_EQ(a.discarded, b.discarded);
}

void ExpectSame(const PageHits& a, const PageHits& b) {
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.first_look, b.first_look);
  EXPECT_EQ(a.look_count, b.look_count);
  EXPECT_EQ(a.hits, b.hits);
  EXPECT_EQ(a.busy_looks, b.busy_looks);
  EXPECT_EQ(a.busy_hits, b.busy_hits);
  EXPECT_EQ(a.witness, b.witness);
  EXPECT_EQ(a.hit_span_seconds, b.hit_span_seconds);
  EXPECT_EQ(a.hit_gap_square_sum, b.hit_gap_square_sum);
}

void ExpectSame(const SweepRegion& a, const SweepRegion& b) {
  EXPECT_EQ(a.range, b.range);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.inode, b.inode);
  EXPECT_EQ(a.device_major, b.device_major);
  EXPECT_EQ(a.device_minor, b.device_minor);
  EXPECT_EQ(a.writable, b.writable);
  EXPECT_EQ(a.build_id, b.build_id);
}

void ExpectSame(const RungSample& a, const RungSample& b) {
  EXPECT_EQ(a.requested, b.requested);
  EXPECT_EQ(a.ranges, b.ranges);
  EXPECT_EQ(a.page_share, b.page_share);
  EXPECT_EQ(a.eligible_pages, b.eligible_pages);
  EXPECT_EQ(a.hits_per_second, b.hits_per_second);
  EXPECT_EQ(a.induced_faults, b.induced_faults);
  EXPECT_EQ(a.cut_by_budget, b.cut_by_budget);
  ASSERT_EQ(a.looks.size(), b.looks.size());
  for (size_t i = 0; i < a.looks.size(); ++i) ExpectSame(a.looks[i], b.looks[i]);
  ASSERT_EQ(a.pages.size(), b.pages.size());
  for (size_t i = 0; i < a.pages.size(); ++i) ExpectSame(a.pages[i], b.pages[i]);
  ASSERT_EQ(a.record.size(), b.record.size());
  for (size_t i = 0; i < a.record.size(); ++i) {
    EXPECT_EQ(a.record[i].page, b.record[i].page);
    EXPECT_EQ(a.record[i].look, b.record[i].look);
  }
}

void ExpectSame(const SweepSample& a, const SweepSample& b) {
  EXPECT_EQ(a.tracker, b.tracker);
  EXPECT_EQ(a.atomic, b.atomic);
  EXPECT_EQ(a.sees_restores, b.sees_restores);
  EXPECT_EQ(a.page_size, b.page_size);
  EXPECT_EQ(a.target_seconds_per_hit, b.target_seconds_per_hit);
  EXPECT_EQ(a.ceiling_window, b.ceiling_window);
  EXPECT_EQ(a.tracked_pages, b.tracked_pages);
  EXPECT_EQ(a.huge_pages_skipped, b.huge_pages_skipped);
  EXPECT_EQ(a.gap.window_seconds, b.gap.window_seconds);
  EXPECT_EQ(a.gap.looked, b.gap.looked);
  EXPECT_EQ(a.gap.written, b.gap.written);
  EXPECT_EQ(a.target_cpu, b.target_cpu);
  EXPECT_EQ(a.duration_seconds, b.duration_seconds);
  EXPECT_EQ(a.outcome, b.outcome);
  ASSERT_EQ(a.regions.size(), b.regions.size());
  for (size_t i = 0; i < a.regions.size(); ++i) ExpectSame(a.regions[i], b.regions[i]);
  ASSERT_EQ(a.rungs.size(), b.rungs.size());
  for (size_t i = 0; i < a.rungs.size(); ++i) ExpectSame(a.rungs[i], b.rungs[i]);
}

// A well-formed file around any payload: what an attacker can make.
std::string Wrap(const std::string& payload, uint64_t declared) {
  uLongf size = compressBound(payload.size());
  std::string body(size, '\0');
  compress(reinterpret_cast<Bytef*>(body.data()), &size, reinterpret_cast<const Bytef*>(payload.data()),
           payload.size());
  body.resize(size);
  std::string bytes("MPCAP\1");
  bytes.append(reinterpret_cast<const char*>(&declared), sizeof(declared));
  bytes += body;
  const uint64_t sum = XXH3_64bits(bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  return bytes;
}

TEST(CaptureFile, RoundTripsEveryField) {
  const absl::StatusOr<Capture> capture = DecodeCapture(EncodeCapture(SmallSample(), Info()));
  ASSERT_TRUE(capture.ok()) << capture.status();
  ExpectSame(capture->sample, SmallSample());
  EXPECT_EQ(capture->info.exporter_version, "0.1.0");
  EXPECT_EQ(capture->info.kernel, "6.12.6-amd64");
  EXPECT_EQ(capture->info.comm, "redis-server");
  EXPECT_EQ(capture->info.taken_at, Info().taken_at);
}

TEST(CaptureFile, RoundTripsOddTimes) {
  for (absl::Duration odd : {absl::ZeroDuration(), -absl::Nanoseconds(3) / 4, absl::InfiniteDuration(),
                             -absl::InfiniteDuration(), absl::Hours(-1) - absl::Nanoseconds(1)}) {
    SweepSample sample;
    sample.ceiling_window = odd;
    CaptureInfo info;
    info.taken_at = absl::UnixEpoch() + odd;
    const absl::StatusOr<Capture> capture = DecodeCapture(EncodeCapture(sample, info));
    ASSERT_TRUE(capture.ok()) << capture.status();
    EXPECT_EQ(capture->sample.ceiling_window, odd);
    EXPECT_EQ(capture->info.taken_at, info.taken_at);
  }
}

TEST(CaptureFile, EveryTruncationIsRefused) {
  const std::string bytes = EncodeCapture(SmallSample(), Info());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(DecodeCapture(bytes.substr(0, size)).ok()) << size;
  EXPECT_FALSE(DecodeCapture(bytes + "x").ok());
}

TEST(CaptureFile, EveryBitFlipIsRefused) {
  const std::string bytes = EncodeCapture(SmallSample(), Info());
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string flipped = bytes;
    const size_t bit = random() % (bytes.size() * 8);
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(DecodeCapture(flipped).ok()) << bit;
  }
}

TEST(CaptureFile, DamagedPayloadsWithRightChecksumsNeverCrash) {
  // Not a flip in the file but in what it holds: the checksum does not help, the bounds do.
  const std::string bytes = EncodeCapture(SmallSample(), Info());
  uint64_t size = 0;
  std::memcpy(&size, bytes.data() + 6, sizeof(size));
  std::string payload(size, '\0');
  uLongf length = size;
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(payload.data()), &length,
                       reinterpret_cast<const Bytef*>(bytes.data() + 14), bytes.size() - 22),
            Z_OK);
  std::mt19937_64 random(4);
  for (int i = 0; i < 5000; ++i) {
    std::string odd = payload;
    for (int k = 0; k < 1 + i % 3; ++k) odd[random() % odd.size()] = static_cast<char>(random());
    if (i % 5 == 0) odd.resize(random() % odd.size());
    (void)DecodeCapture(Wrap(odd, odd.size()));
  }
}

TEST(CaptureFile, RefusesOtherVersionsWithASentence) {
  std::string bytes = EncodeCapture(SmallSample(), Info());
  bytes[5] = 2;
  const absl::Status status = DecodeCapture(bytes).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("format version 2; this program reads version 1"));
  EXPECT_THAT(std::string(DecodeCapture("PK\3\4").status().message()), HasSubstr("not a mempulse capture"));
}

TEST(CaptureFile, BombsAreRefused) {
  EXPECT_THAT(std::string(DecodeCapture(Wrap("", uint64_t{1} << 40)).status().message()),
              HasSubstr("unpacks to"));
  const std::string bomb(64 << 20, '\0');
  EXPECT_FALSE(DecodeCapture(Wrap(bomb, 100)).ok());                        // more than it says
  EXPECT_FALSE(DecodeCapture(Wrap(std::string(100, '\0'), 1 << 29)).ok());  // less
}

TEST(CaptureFile, RefusesEndlessPages) {
  SweepSample sample;
  sample.gap.written = {{0, uint64_t{1} << 60}};
  EXPECT_THAT(std::string(DecodeCapture(EncodeCapture(sample, {})).status().message()),
              HasSubstr("too many pages"));
  sample.gap.written = {{0x5000, 0x1000}};
  EXPECT_FALSE(DecodeCapture(EncodeCapture(sample, {})).ok());
}

TEST(CaptureFile, WritesAndReadsFiles) {
  const std::string path = testing::TempDir() + "/capture_file_test.mpcap";
  ASSERT_TRUE(WriteCaptureFile(path, SmallSample(), Info()).ok());
  const absl::StatusOr<Capture> capture = ReadCaptureFile(path);
  ASSERT_TRUE(capture.ok()) << capture.status();
  ExpectSame(capture->sample, SmallSample());
  std::ofstream(path, std::ios::binary) << "MPCAP";
  EXPECT_THAT(std::string(ReadCaptureFile(path).status().message()),
              HasSubstr("capture_file_test.mpcap: the capture"));
  std::remove(path.c_str());
  EXPECT_THAT(std::string(ReadCaptureFile(path).status().message()), HasSubstr(path));
  EXPECT_FALSE(WriteCaptureFile(path + "/no/such/folder", SmallSample(), Info()).ok());
}

}  // namespace
}  // namespace mempulse
