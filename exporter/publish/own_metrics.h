#pragma once

#include "exporter/publish/family_book.h"
#include "exporter/publish/own_state.h"
#include "exporter/publish/snapshot.h"
#include "exporter/round/round_report.h"

namespace mempulse {

// The exporter's rounds, configuration and build; probes of the mechanisms on memory of its own.
void AddRoundMetrics(const RoundReport& report, const BuildInfo& build, FamilyBook* book);

// Its web server and its process.
void AddOwnMetrics(const OwnState& own, FamilyBook* book);

}  // namespace mempulse
