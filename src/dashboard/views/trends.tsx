/// <reference lib="dom" />
import { useMemo } from "preact/hooks";
import { EmptyNote, Panel } from "../panel.tsx";
import { useRead } from "../resource.ts";
import { linesOf, type TrendsReply } from "./trends_lines.ts";
import { missingChoice, readQuestion, trendsParams } from "./trends_question.ts";
import { TrendsForm } from "./trends_form.tsx";
import { TrendsResult } from "./trends_result.tsx";

const EMPTY = (
  <EmptyNote title="Nothing to count in this range" icon="trends">
    No such event happened, or none that holds the number. Choose a longer range, another event, or
    fewer filters.
  </EmptyNote>
);

/** Any events over time: how often, by how many, or what a property of them comes to. */
export function TrendsView() {
  const question = readQuestion();
  const missing = missingChoice(question);
  const trends = useRead<TrendsReply>(
    missing === null ? "/v1/trends" : null,
    trendsParams(question),
  );
  const { data } = trends;
  const lines = useMemo(() => data === null ? [] : linesOf(data), [data]);
  const isEmpty = data !== null &&
    lines.every(({ points }) => points.every(({ value }) => value === null || value === 0));
  return (
    <>
      <TrendsForm question={question} />
      <Panel
        title={question.measure.label}
        definition={question.measure.definition}
        state={missing === null ? trends : undefined}
        skeletonRows={12}
        empty={isEmpty ? EMPTY : null}
        class="trends-panel"
      >
        {missing !== null && <EmptyNote title={missing} icon="trends" />}
        {data !== null && missing === null && (
          <TrendsResult reply={data} isLoading={trends.state === "loading"} lines={lines} />
        )}
      </Panel>
    </>
  );
}
