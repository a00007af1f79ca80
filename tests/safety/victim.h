#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/pages/attach_userfaultfd.h"
#include "collectors/targets/target.h"

namespace mempulse {

// What a victim tells the test, in memory that both share.
struct VictimReport {
  std::atomic<bool> ready{false};
  std::atomic<bool> finish{false};       // set by the test: end now
  std::atomic<uint64_t> rounds{0};       // of whatever the victim does over and over
  std::atomic<uint64_t> errors{0};       // wrong sums, calls that failed
  std::atomic<uint64_t> interrupted{0};  // EINTR seen
  std::atomic<uint64_t> signals{0};
  std::atomic<int64_t> result{0};
  std::atomic<int64_t> error_number{0};
  std::atomic<int64_t> elapsed_micros{0};
  std::atomic<uint64_t> values[16] = {};
};

// A child process that runs `life` and exits 0 when it returns. Killed and reaped on destruction.
class Victim {
 public:
  explicit Victim(const std::function<void(VictimReport*)>& life);
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  ~Victim();

  pid_t pid() const { return pid_; }
  VictimReport& report() { return *report_; }

  // Fails the test when the victim is not ready within 10 s.
  void WaitReady();
  // True when the victim went through `rounds` more rounds within 10 s.
  bool Progresses(uint64_t rounds = 3);
  // Waits for the end; the status of waitpid.
  int WaitEnd();
  bool Alive() const;

 private:
  pid_t pid_ = 0;
  bool reaped_ = false;
  VictimReport* report_ = nullptr;
};

// The pid as a target, now.
absl::StatusOr<Target> TargetOf(const Host& host, pid_t pid);
// One attach with the defaults.
absl::StatusOr<AttachResult> AttachTo(pid_t pid);
// Descriptors of the process that are userfaultfds.
int CountUserfaultfds(pid_t pid);
// A line "KEY:\tVALUE" of /proc/PID/status; empty when missing.
std::string StatusField(pid_t pid, const std::string& key);

// Whether any mapping of the process is registered for write protection.
bool HasProtectedMapping(pid_t pid);

// Nothing that was done to the victim is left: it works on, untraced, its signals unblocked, without a
// userfaultfd.
void ExpectUntouched(Victim* victim);
int64_t NowMicros();
void SleepMicros(int64_t micros);
// Polls every millisecond; false after ten seconds.
bool Eventually(const std::function<bool()>& condition);

}  // namespace mempulse
