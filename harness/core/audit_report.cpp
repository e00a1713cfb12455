#include "core/audit_report.h"

#include <algorithm>

namespace aotifuzz {

std::string_view audit_subject_name(AuditSubject subject) {
  switch (subject) {
    case AuditSubject::kContract:
      return "contract";
    case AuditSubject::kSize:
      return "size";
    case AuditSubject::kRelation:
      return "relation";
    case AuditSubject::kLayout:
      return "layout";
    case AuditSubject::kPlacement:
      return "placement";
    case AuditSubject::kIndexing:
      return "indexing";
    case AuditSubject::kOverlap:
      return "overlap";
    case AuditSubject::kDtype:
      return "dtype";
    case AuditSubject::kRank:
      return "rank";
    case AuditSubject::kCount:
      return "number of inputs";
    case AuditSubject::kDevice:
      return "device";
    case AuditSubject::kStorage:
      return "storage";
    case AuditSubject::kScalar:
      return "scalar";
    case AuditSubject::kValues:
      return "values";
  }
  return "";
}

std::string_view audit_word_name(AuditWord word) {
  switch (word) {
    case AuditWord::kUnsafe:
      return "unsafe";
    case AuditWord::kUnjudged:
      return "unjudged";
    case AuditWord::kTooStrict:
      return "too strict";
    case AuditWord::kUnreached:
      return "unreached";
    case AuditWord::kOk:
      return "ok";
  }
  return "";
}

AuditWord AuditItem::word() const {
  AuditWord worst = AuditWord::kOk;
  for (const AuditLine& line : lines) worst = std::min(worst, line.word);
  return worst;
}

int AuditReport::count(AuditWord word) const {
  int out = 0;
  for (const AuditItem& item : items) {
    if (word == AuditWord::kOk) out += item.word() == AuditWord::kOk;
    for (const AuditLine& line : item.lines) out += word != AuditWord::kOk && line.word == word;
  }
  return out;
}

}  // namespace aotifuzz
