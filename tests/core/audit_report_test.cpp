#include "core/audit_report.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

AuditLine line(AuditWord word) {
  AuditLine out;
  out.word = word;
  return out;
}

TEST(AuditReport, AnItemIsItsWorstLine) {
  AuditItem item;
  EXPECT_EQ(item.word(), AuditWord::kOk);
  item.lines = {line(AuditWord::kUnreached), line(AuditWord::kTooStrict)};
  EXPECT_EQ(item.word(), AuditWord::kTooStrict);
  item.lines.push_back(line(AuditWord::kUnsafe));
  EXPECT_EQ(item.word(), AuditWord::kUnsafe);
}

TEST(AuditReport, CountsLinesAndItemsThatAreOk) {
  AuditReport report;
  report.items.resize(3);
  report.items[0].lines = {line(AuditWord::kUnsafe), line(AuditWord::kUnsafe), line(AuditWord::kTooStrict)};
  report.items[1].lines = {line(AuditWord::kUnreached)};
  EXPECT_EQ(report.count(AuditWord::kUnsafe), 2);
  EXPECT_EQ(report.count(AuditWord::kTooStrict), 1);
  EXPECT_EQ(report.count(AuditWord::kUnreached), 1);
  EXPECT_EQ(report.count(AuditWord::kOk), 1);
}

}  // namespace
}  // namespace aotifuzz
