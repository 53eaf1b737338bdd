#include "experiments/report/html_sections.h"
#include "experiments/report/picture.h"

namespace zerolab {

std::string page_style() {
  return R"css(
:root{color-scheme:light dark;--paper:#ffffff;--ink:#1b1f24;--soft:#57606a;--rule:#d0d7de;
--band:#f6f8fa;--good:#00674c;--bad:#a83200;--near:#8a5a00;--absent:#e8ebef}
@media (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e6e9ed;--soft:#9aa4af;
--rule:#39424d;--band:#1c2229;--good:#4cc9a0;--bad:#ff9466;--near:#ecb94a;--absent:#2a323b}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1320px;margin:0 auto;padding:16px 20px 48px}
h1{font-size:1.5rem;margin:.4em 0 .2em}
h2{font-size:1.2rem;margin:2em 0 .5em;border-bottom:1px solid var(--rule);padding-bottom:.2em}
h3{font-size:1rem;margin:1.2em 0 .4em}
p{margin:.5em 0;max-width:75ch}
.sub{max-width:none}.sub,.note{color:var(--soft)}
.note{font-size:.85em}
.headline{font-size:1.15rem;max-width:none;padding:.7em .9em;border-left:6px solid var(--soft);
background:var(--band)}
.headline.equal{border-color:var(--good)}.headline.diverged{border-color:var(--bad)}
.headline.explained,.headline.within_noise{border-color:var(--near)}
.badge{display:inline-block;white-space:nowrap;border:1.5px solid currentColor;border-radius:1em;
padding:0 .6em;font-size:.9em;font-weight:600}
.badge.equal{color:var(--good)}.badge.diverged{color:var(--bad)}
.badge.explained,.badge.within_noise{color:var(--near)}.badge.reference{color:var(--soft)}
.good{color:var(--good)}.bad{color:var(--bad);font-weight:600}
.callout{border:1px solid var(--rule);border-left:6px solid var(--near);padding:.2em 1em .8em;
margin:1em 0}
.callout.diverged{border-left-color:var(--bad)}.callout.equal{border-left-color:var(--good)}
.callout h3{margin-top:.6em}
.notice{border-left:4px solid var(--rule);padding-left:.7em;color:var(--soft)}
.scroll{overflow-x:auto;margin:.6em 0}
table{border-collapse:separate;border-spacing:0;font-size:.92rem;min-width:100%}
caption{text-align:left;color:var(--soft);padding:.2em 0;font-size:.9em}
th,td{padding:.3em .7em;border-bottom:1px solid var(--rule);text-align:left;vertical-align:baseline;
white-space:nowrap}
thead th{vertical-align:bottom;background:var(--band);font-weight:600}
tbody th{font-weight:500}
tbody th,thead th:first-child{position:sticky;left:0}
tbody th{background:var(--paper)}
.number{text-align:right;font-variant-numeric:tabular-nums}
tr.total>*{font-weight:600;border-top:2px solid var(--rule)}
tr.aside>*{color:var(--soft)}
tr.aside td{text-align:right;white-space:normal}
code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.92em;overflow-wrap:anywhere}
figure{margin:1em 0}
figcaption{font-weight:600}
svg.plot{display:block;width:100%;height:auto;max-width:900px;min-width:520px;color:var(--ink)}
svg.picture{display:block;width:100%;height:auto;font:11px system-ui,"DejaVu Sans",sans-serif}
.picture text{fill:var(--ink)}
.picture .phase,.picture .rank{font-size:12px;font-weight:600}
.picture .unit,.picture .lane,.picture .bytes{font-size:10.5px}
.picture .unit,.picture .bytes,.picture .lane{fill:var(--soft)}
.picture .rule{stroke:var(--rule);stroke-width:.6}
.picture .phase-rule{stroke:var(--soft);stroke-width:1.1}
.picture .absent{fill:var(--absent)}
.picture .arrow{stroke:var(--ink);stroke-width:1.2}.picture .arrow-head{fill:var(--ink)}
details summary{cursor:pointer;color:var(--soft)}
.findings li{margin:.35em 0}
.place{font-weight:600}.place::after{content:":"}
.setup{display:grid;grid-template-columns:repeat(auto-fill,minmax(230px,1fr));gap:.1em 1.5em;
margin:0}
.setup div{display:flex;gap:.6em;border-bottom:1px solid var(--rule);padding:.15em 0}
.setup dt{color:var(--soft);flex:0 0 auto}
.setup dd{margin:0 0 0 auto;text-align:right;overflow-wrap:anywhere}
@media (max-width:600px){body{font-size:15px}main{padding:10px 12px 32px}
th,td{padding:.3em .5em}.headline{font-size:1.02rem}}
@media print{:root{--paper:#fff;--ink:#000;--soft:#444;--rule:#aaa;--band:#f2f2f2;--good:#00543e;
--bad:#8a2900;--near:#6b4600;--absent:#e4e4e4}
body{font-size:10pt}main{max-width:none;padding:0}.scroll{overflow:visible}
svg.plot,svg.picture{min-width:0!important}table{font-size:8pt}th,td{padding:.2em .35em}
figure,table,.callout{break-inside:avoid}h2,h3,figcaption{break-after:avoid}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css" + picture_style();
}

}  // namespace zerolab
