#include "exporter/publish/snapshot.h"

#include <utility>

namespace mempulse {

void SnapshotBoard::Publish(std::shared_ptr<const Snapshot> snapshot) {
  {
    absl::MutexLock lock(&mutex_);
    snapshot_.swap(snapshot);
  }
  // The old one, when this was its last owner, is freed here: outside the lock.
}

std::shared_ptr<const Snapshot> SnapshotBoard::Take() const {
  absl::MutexLock lock(&mutex_);
  return snapshot_;
}

}  // namespace mempulse
