#include "store/html_page.h"

#include "store/utf8_text.h"

namespace aotifuzz {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1c1e21; --back: #fff; --faint: #68707a; --line: #d4d8dd; --bad: #b3261e;
  --warn: #8a5a00; --good: #1e6b34; --card: #f6f7f9; --accent: #1a5fb4; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6ea; --back: #15171a; --faint: #9aa3ad; --line: #363b42;
  --bad: #ff8a80; --warn: #f0b44c; --good: #7bd88f; --card: #1e2125; --accent: #8ab4f8; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 2rem auto;
  max-width: 62rem; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; } a { color: var(--accent); } .faint { color: var(--faint); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0;
  border-bottom: 1px solid var(--line); } td.n, th.n { text-align: right; white-space: nowrap; }
details { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .8rem; margin: .5rem 0; }
summary { cursor: pointer; } pre { overflow-x: auto; font-size: 13px; } .bad { color: var(--bad); } .warn { color: var(--warn); }
.good { color: var(--good); } .charts { display: flex; flex-wrap: wrap; gap: 1rem; }
.chart text { fill: var(--faint); font: 12px system-ui, sans-serif; } .chart .end { text-anchor: end; }
.chart line { stroke: var(--line); } .chart polyline { fill: none; stroke: var(--accent); stroke-width: 1.6; }
)";

}  // namespace

std::string html_text(std::string_view raw) { return xml_escaped(clean_utf8(raw)); }

std::string html_page(std::string_view title, std::string_view body) {
  std::string out =
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>";
  out += html_text(title);
  out += "</title>\n<style>";
  out += kStyle;
  out += "</style>\n</head>\n<body>\n";
  out += body;
  return out + "</body>\n</html>\n";
}

}  // namespace aotifuzz
