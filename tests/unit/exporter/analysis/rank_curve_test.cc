#include "exporter/analysis/rank_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/analysis/baseline.h"

namespace mempulse {
namespace {

RateClaim Claim(double hertz, double weight = 1) { return {hertz, hertz * 0.9, hertz * 1.1, weight}; }

TEST(RankCurveTest, FastestFirst) {
  const RankCurve curve = RankCurve::FromClaims({Claim(5), Claim(200), Claim(50)});
  EXPECT_EQ(curve.pages(), 3u);
  EXPECT_FLOAT_EQ(curve.At(1).hertz, 200);
  EXPECT_FLOAT_EQ(curve.At(3).hertz, 5);
  EXPECT_FLOAT_EQ(curve.At(4).hertz, 0) << "beyond the last page nothing is known";
  EXPECT_FLOAT_EQ(curve.At(0).hertz, 0);
}

TEST(RankCurveTest, APageStandsForAsManyRanksAsItWeighs) {
  const RankCurve curve = RankCurve::FromClaims({Claim(200, 2.5), Claim(50, 2.5), Claim(7, 0), Claim(5, 1)});
  EXPECT_EQ(curve.pages(), 6u);
  EXPECT_FLOAT_EQ(curve.At(2).hertz, 200);
  EXPECT_FLOAT_EQ(curve.At(4).hertz, 50);
  EXPECT_FLOAT_EQ(curve.At(6).hertz, 5);
}

TEST(RankCurveTest, LargeCurvesAreThinnedAndStayOnTheFastSide) {
  std::vector<RateClaim> claims;
  claims.reserve(100'000);
  for (int page = 0; page < 100'000; ++page) claims.push_back(Claim(100'000 - page));
  const RankCurve curve = RankCurve::FromClaims(claims);
  EXPECT_EQ(curve.pages(), 100'000u);
  EXPECT_LT(curve.points().size(), 600u);
  for (const uint64_t rank : {1u, 255u, 256u, 300u, 5000u, 99'999u, 100'000u}) {
    const double truth = 100'001.0 - rank;
    EXPECT_GE(curve.At(rank).hertz, truth * 0.9999) << rank;
    if (rank < 50'000) {
      EXPECT_LE(curve.At(rank).hertz, truth * 1.03) << rank;
    }
  }
}

TEST(RankCurveTest, NoPages) {
  EXPECT_EQ(RankCurve::FromClaims({}), RankCurve());
  EXPECT_TRUE(ComparedRanks(0).empty());
}

TEST(CurveEnvelopeTest, HoldsTheFastestOfAllRunsAndOfTheOthers) {
  const RankCurve slow = RankCurve::FromClaims({Claim(100), Claim(10)});
  const RankCurve fast = RankCurve::FromClaims({Claim(300), Claim(9), Claim(8)});
  const std::vector<const RankCurve*> curves = {&slow, &fast};
  const CurveEnvelope envelope(curves);
  EXPECT_EQ(envelope.pages(), 3u);
  EXPECT_FLOAT_EQ(static_cast<float>(envelope.HighestAt(1, 2)), 330);
  EXPECT_FLOAT_EQ(static_cast<float>(envelope.HighestAt(1, 2, 1)), 110) << "without the fast run";
  EXPECT_FLOAT_EQ(static_cast<float>(envelope.HighestAt(2, 2, 1)), 11)
      << "the fast run does not hold this rank";
  EXPECT_FLOAT_EQ(static_cast<float>(envelope.HighestAt(3, 2, 1)), 2)
      << "quiet where no other run has a page";
  EXPECT_FLOAT_EQ(static_cast<float>(envelope.HighestAt(4, 2)), 2);
}

}  // namespace
}  // namespace mempulse
