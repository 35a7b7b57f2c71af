import { chartWords, type Message, type Section, shownFigure, shownValue } from "./message.ts";

const MARGIN = "  ";

function figureLines({ figures }: Section): string[] {
  return figures.map((figure) => `${MARGIN}${figure.name}: ${shownFigure(figure)}`);
}

function sectionText(section: Section): string {
  const { name, when, lead, chart, rankings, findings, definition, url } = section;
  const lists = rankings.map(({ title, rows }) =>
    [title, ...rows.map((row) => `${MARGIN}${row.name}: ${shownValue(row.value, "count")}`)]
      .join("\n")
  );
  return [
    `${name}\n${when}`,
    lead,
    figureLines(section).join("\n"),
    chart === null ? "" : chartWords(chart),
    findings.join("\n"),
    ...lists,
    `Open it: ${url}`,
    `What the numbers mean: ${definition}`,
  ].filter((part) => part !== "").join("\n\n");
}

/** Writes a message as plain text. `unsubscribeUrl`: the reader's own link. */
export function mailText({ title, sections }: Message, unsubscribeUrl: string): string {
  const ending =
    `You get this because your address stands in “${title}”.\nUnsubscribe: ${unsubscribeUrl}`;
  return `${[title, ...sections.map(sectionText), ending].join("\n\n")}\n`;
}
