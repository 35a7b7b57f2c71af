/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { CsvButton, type CsvContent } from "../csv_button.tsx";
import { type Column, csvOf } from "../data_table.tsx";
import { Button } from "../button.tsx";
import { effectiveTimezone, go, rangeName, sharedParams } from "../location_state.ts";
import { counted, dateTime, integer } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { useRead } from "../resource.ts";
import { FindingView } from "./insights_finding.tsx";
import type { ChangeFound, Finding, InsightsReply } from "./insights_words.ts";

const METHOD =
  "Visitors, visits, page views, events, bounce rate and the conversions of goals are compared in total and for each channel, source, campaign, entry page, country, device and browser: with the period before, and with the mean of the same weekdays in up to four weeks before. A change is shown if it goes the same way in both, is at least a fifth and at least ten, and chance would hardly bring it: of all findings, at most one in twenty is expected to be chance after all. Changes that the same visits explain are one finding, named by the narrowest value that explains most of it; the others stand below it.";
/** Findings shown at first; those with the highest score come first. */
const SHOWN_FIRST = 10;
/** More than a reply ever has. */
const LIMIT = 100;

/** A change of the finding with this number, counted from 1. */
interface NumberedChange extends ChangeFound {
  readonly number: number;
}

const CSV_COLUMNS: readonly Column<NumberedChange>[] = [
  { title: "Finding", value: ({ number }) => number },
  { title: "Sentence", value: ({ text }) => text },
  { title: "Kind", value: ({ kind }) => kind },
  { title: "Metric", value: ({ metric }) => metric },
  { title: "Goal", value: ({ goal }) => goal },
  { title: "Dimension", value: ({ dimension }) => dimension },
  { title: "Value", value: ({ value }) => value },
  { title: "Current", value: ({ current }) => current },
  { title: "Previous", value: ({ previous }) => previous },
  { title: "Change", value: ({ change }) => change },
  { title: "Contribution", value: ({ contribution }) => contribution },
  { title: "p-value", value: ({ pValue }) => pValue },
  { title: "Adjusted p-value", value: ({ adjustedPValue }) => adjustedPValue },
  { title: "Read", value: ({ drilldown }) => drilldown },
];

function findingsCsv(findings: readonly Finding[]): CsvContent {
  const changes = findings.flatMap((finding, i) =>
    [finding, ...finding.evidence].map((change) => ({ ...change, number: i + 1 }))
  );
  return csvOf(CSV_COLUMNS, changes);
}

/** The period compared with, in words. */
function previousText({ previous }: InsightsReply): string {
  if (previous === null) return "";
  const zone = effectiveTimezone.value;
  return `${dateTime(previous.from, zone)} to ${dateTime(previous.to, zone)}`;
}

function TooShort() {
  return (
    <EmptyNote title="There is not enough history to compare with" icon="insights">
      <p>
        A change can be told from chance once the project has recorded the whole period before the
        range, and two weeks before it at least. A shorter range needs less history.
      </p>
      <p>
        <Button icon="calendar" kind="primary" onClick={() => go({ range: { preset: "7d" } })}>
          Look at the last 7 days
        </Button>
      </p>
    </EmptyNote>
  );
}

function emptyOf(reply: InsightsReply) {
  if (reply.findings.length > 0) return null;
  if (reply.previous === null) return <TooShort />;
  return (
    <EmptyNote title="Nothing changed beyond chance" icon="insights">
      Compared with {previousText(reply)}, and with the same weekdays in{" "}
      {counted(reply.weeks, "week")} before.{" "}
      {counted(reply.tested, "comparison")}: nothing moved enough to be told from the usual ups and
      downs.
    </EmptyNote>
  );
}

function Findings({ reply }: { reply: InsightsReply }) {
  const [isAll, setAll] = useState(false);
  const { findings, changes, tested } = reply;
  const shown = isAll ? findings : findings.slice(0, SHOWN_FIRST);
  const hidden = findings.length - shown.length;
  return (
    <>
      <p class="muted insights-summary">
        Compared with {previousText(reply)}, and with the same weekdays in{" "}
        {counted(reply.weeks, "week")} before. {counted(tested, "comparison")},{" "}
        {counted(changes, "change")}, {counted(findings.length, "finding")}.
      </p>
      <ul class="insights-list">
        {shown.map((finding) => (
          <FindingView
            key={`${finding.metric} ${finding.goal} ${finding.drilldown}`}
            finding={finding}
            tested={tested}
          />
        ))}
      </ul>
      {hidden > 0 && (
        <Button class="insights-more" onClick={() => setAll(true)}>
          Show {integer(hidden)} more
        </Button>
      )}
    </>
  );
}

/** The significant changes in the range, with their causes. */
export function InsightsView() {
  const insights = useRead<InsightsReply>("/v1/insights", { ...sharedParams(), limit: LIMIT });
  const { data } = insights;
  const hasFindings = data !== null && data.findings.length > 0;
  return (
    <Panel
      title="What changed"
      definition={METHOD}
      state={insights}
      skeletonRows={12}
      empty={data === null ? null : emptyOf(data)}
      class="insights-panel"
      actions={hasFindings && (
        <CsvButton
          name={rangeName("insights")}
          table="What changed"
          content={() => findingsCsv(data.findings)}
        />
      )}
    >
      {data && <Findings reply={data} />}
    </Panel>
  );
}
