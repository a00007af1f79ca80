#include "exporter/ctl/interrupt_watch.h"

#include <ctime>

namespace mempulse {

InterruptWatch::InterruptWatch() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::jthread([this](const std::stop_token& over) {
    const timespec pause{0, 50'000'000};
    while (!over.stop_requested()) {
      if (sigtimedwait(&signals_, nullptr, &pause) > 0) stop_.request_stop();
    }
  });
}

}  // namespace mempulse
