#ifndef MEMPULSE_PRELOAD_ATTACH_OFFER_H_
#define MEMPULSE_PRELOAD_ATTACH_OFFER_H_

#include <stdint.h>

// What the preload library says to the exporter: one SOCK_SEQPACKET message of this form with one descriptor,
// a userfaultfd of the sender's own memory with nothing negotiated. C and C++; native byte order, since both
// ends are on one machine. Nothing is ever answered.

#define MEMPULSE_OFFER_MAGIC "mempulse"  // without its final zero
#define MEMPULSE_OFFER_VERSION 1u
#define MEMPULSE_OFFER_DEFAULT_SOCKET "/run/mempulse/attach.sock"

enum { kMempulseOfferAtStart = 1, kMempulseOfferAfterFork = 2 };

struct MempulseOffer {
  char magic[8];
  uint32_t version;
  uint32_t occasion;  // one of the two above; only told, never trusted
};

#endif  // MEMPULSE_PRELOAD_ATTACH_OFFER_H_
