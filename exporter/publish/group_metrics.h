#pragma once

#include "exporter/publish/family_book.h"
#include "exporter/publish/group_summary.h"
#include "exporter/publish/region_slots.h"
#include "exporter/round/round_report.h"

namespace mempulse {

// Everything about one target group. Without an answer from any process the families of pages are left out;
// health, errors and the reasons for refusals are always there. `slots` belong to the group; `regions` is the
// number of places.
void AddGroupMetrics(const GroupReport& group, const GroupSummary& summary, int regions, RegionSlots* slots,
                     FamilyBook* book);

}  // namespace mempulse
