/**
 * Writes a message as HTML for mail programs: with tables, inline styles, one column that fits a phone, and dark
 * colours for readers who prefer them. Every text is escaped.
 */

import {
  chartWords,
  type Figure,
  type Message,
  type Section,
  shownChange,
  shownValue,
} from "./message.ts";

const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Arial,sans-serif";
const TEXT = `${FONT};color:#1f2328`;
const MUTED = `${FONT};color:#59636e`;
const CHART_WIDTH_PX = 550;
export const CHART_HEIGHT_PX = 120;

/** For mail programs that support dark colours; others use the inline light ones. */
const DARK = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .ff-page { background: #0d1117 !important; }
  .ff-card { background: #161b22 !important; border-color: #30363d !important; }
  .ff-text { color: #e6edf3 !important; }
  .ff-muted { color: #9da7b3 !important; }
  .ff-line { border-color: #30363d !important; }
  .ff-link { color: #6cb6ff !important; }
}
@media (max-width: 480px) {
  .ff-pad { padding: 16px !important; }
  .ff-number { font-size: 20px !important; }
}`;

/** Escapes text for HTML elements and attributes. */
export function escaped(text: string): string {
  return text.replace(/[&"'<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function figureRow(figure: Figure): string {
  const change = shownChange(figure) ?? "";
  return `<tr>
<td class="ff-text ff-line" style="${TEXT};padding:8px 0;border-bottom:1px solid #d1d9e0;font-size:15px">${
    escaped(figure.name)
  }</td>
<td class="ff-text ff-line ff-number" align="right" style="${TEXT};padding:8px 0 8px 12px;border-bottom:1px solid #d1d9e0;font-size:20px;font-weight:600;white-space:nowrap">${
    escaped(shownValue(figure.value, figure.unit, figure.currency))
  }</td>
<td class="ff-muted ff-line" align="right" style="${MUTED};padding:8px 0 8px 12px;border-bottom:1px solid #d1d9e0;font-size:14px;white-space:nowrap">${
    escaped(change)
  }</td>
</tr>`;
}

const TABLE = `role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`;

function chartPart({ chart }: Section, cid: string | null): string {
  if (chart === null || cid === null) return "";
  return `<p class="ff-muted" style="${MUTED};font-size:13px;margin:20px 0 4px">${
    escaped(chart.title)
  }</p>
<img src="cid:${cid}" width="${CHART_WIDTH_PX}" alt="${
    escaped(chartWords(chart))
  }" style="display:block;width:100%;max-width:${CHART_WIDTH_PX}px;height:auto;border:0">
<table ${TABLE} style="max-width:${CHART_WIDTH_PX}px"><tr>
<td class="ff-muted" style="${MUTED};font-size:12px">${escaped(chart.first)}</td>
<td class="ff-muted" align="right" style="${MUTED};font-size:12px">${escaped(chart.last)}</td>
</tr></table>`;
}

function rankingsPart({ rankings }: Section): string {
  return rankings.map(({ title, counted, rows }) =>
    `<table ${TABLE} style="margin-top:20px"><tr>
<th class="ff-muted" align="left" style="${MUTED};font-size:13px;font-weight:400;padding-bottom:4px">${
      escaped(title)
    }</th>
<th class="ff-muted" align="right" style="${MUTED};font-size:13px;font-weight:400;padding-bottom:4px">${
      escaped(counted)
    }</th></tr>
${
      rows.map(({ name, value }) =>
        `<tr><td class="ff-text" style="${TEXT};font-size:14px;padding:3px 0;word-break:break-word">${
          escaped(name)
        }</td>
<td class="ff-text" align="right" style="${TEXT};font-size:14px;padding:3px 0 3px 12px;white-space:nowrap">${
          escaped(shownValue(value, "count"))
        }</td></tr>`
      ).join("\n")
    }
</table>`
  ).join("\n");
}

function findingsPart({ findings }: Section): string {
  return findings.map((finding) =>
    `<p class="ff-text" style="${TEXT};font-size:14px;line-height:20px;margin:12px 0 0">${
      escaped(finding)
    }</p>`
  ).join("\n");
}

function sectionPart(section: Section, cid: string | null): string {
  const { name, when, lead, figures, url, definition } = section;
  return `<table ${TABLE} class="ff-card" style="background:#ffffff;border:1px solid #d1d9e0;border-radius:8px;margin-bottom:16px"><tr><td class="ff-pad" style="padding:24px">
<h2 class="ff-text" style="${TEXT};font-size:18px;line-height:24px;margin:0">${escaped(name)}</h2>
<p class="ff-muted" style="${MUTED};font-size:13px;line-height:18px;margin:2px 0 12px">${
    escaped(when)
  }</p>
<p class="ff-text" style="${TEXT};font-size:17px;line-height:24px;font-weight:600;margin:0 0 12px">${
    escaped(lead)
  }</p>
${figures.length === 0 ? "" : `<table ${TABLE}>${figures.map(figureRow).join("\n")}</table>`}
${chartPart(section, cid)}
${findingsPart(section)}
${rankingsPart(section)}
<p style="margin:20px 0 0"><a class="ff-link" href="${
    escaped(url)
  }" style="${FONT};font-size:15px;color:#0969da">Open in Footfall</a></p>
<p class="ff-muted" style="${MUTED};font-size:12px;line-height:17px;margin:16px 0 0">${
    escaped(definition)
  }</p>
</td></tr></table>`;
}

/** Returns the content id of a section's chart; null: it has no chart. */
export function chartCid({ chart }: Section, index: number): string | null {
  return chart === null ? null : `chart-${index}@footfall`;
}

/** A message as an HTML document. */
export function mailHtml({ title, subject, sections }: Message, unsubscribeUrl: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escaped(subject)}</title>
<style>${DARK}</style>
</head>
<body class="ff-page" style="margin:0;padding:0;background:#f6f8fa">
<table ${TABLE} class="ff-page" style="background:#f6f8fa"><tr><td align="center" style="padding:16px 8px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px"><tr><td>
<h1 class="ff-text" style="${TEXT};font-size:22px;line-height:28px;margin:8px 8px 16px">${
    escaped(title)
  }</h1>
${sections.map((section, i) => sectionPart(section, chartCid(section, i))).join("\n")}
<p class="ff-muted" style="${MUTED};font-size:12px;line-height:17px;margin:8px">You get this because your address stands in “${
    escaped(title)
  }”. <a class="ff-link" href="${escaped(unsubscribeUrl)}" style="color:#0969da">Unsubscribe</a></p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
}
