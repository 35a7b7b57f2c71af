/// <reference lib="dom" />
import { useMemo } from "preact/hooks";
import { ChartBlock } from "../chart_block.tsx";
import type { ChartLine } from "../chart_lines.ts";
import { comparedName, ComparedNote } from "../compared.tsx";
import { CsvButton } from "../csv_button.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { KpiTile } from "../kpi_tile.tsx";
import { rangeName } from "../location_state.ts";
import { integer, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { type Resource, useRead } from "../resource.ts";
import { periodName, type RetentionReply, triangleCsv, triangleRows } from "./retention_cells.ts";
import { RetentionControls } from "./retention_controls.tsx";
import { type Question, readQuestion, retentionParams } from "./retention_question.ts";
import { Triangle } from "./retention_triangle.tsx";

const TEXTS = {
  people: "People in all cohorts together. Each person is in one cohort.",
  memberships:
    "People in all cohorts together. Someone who began in several periods counts in each.",
  average:
    "People who came back, of all cohorts in which this period is complete, as a share of the people in those cohorts. Large cohorts weigh more.",
};
const CHART_PX = 220;

interface PartProps {
  readonly reply: RetentionReply;
  readonly question: Question;
}

/** The size of all cohorts, and the first and the last average that is known. */
function Tiles({ reply: { cohorts, average, change, query }, question: { cohort } }: PartProps) {
  const every = query.interval;
  const people = cohorts.reduce((sum, { size }) => sum + size, 0);
  const known = average.filter(({ period, rate }) => period > 0 && rate.value !== null);
  const shown = known.length > 1 ? [known[0]!, known.at(-1)!] : known;
  return (
    <div class="tiles retention-tiles">
      <KpiTile
        label="People who began"
        definition={cohort === "first" ? TEXTS.people : TEXTS.memberships}
        value={integer(people)}
      />
      {shown.map(({ period, rate }) => (
        <KpiTile
          key={period}
          label={`Came back, ${periodName(every, period).toLowerCase()}`}
          definition={TEXTS.average}
          value={percent(rate.value)}
          change={change?.average[period]?.points}
          isRate
        />
      ))}
    </div>
  );
}

function AverageChart({ reply }: { reply: RetentionReply }) {
  const every = reply.query.interval;
  const lines = useMemo((): readonly ChartLine[] => {
    const last = reply.average.findLastIndex(({ rate }) => rate.value !== null);
    const points = (average: RetentionReply["average"]) =>
      average.slice(0, last + 1).map(({ period, rate }) => ({
        label: periodName(every, period),
        complete: true,
        value: rate.value,
      }));
    const { previous } = reply;
    const own = { name: "Average of all cohorts", points: points(reply.average) };
    if (previous === undefined) return [own];
    const before = points(previous.average);
    return [own, { name: comparedName(previous), points: before, isComparison: true }];
  }, [reply]);
  if (lines[0]!.points.length < 2) {
    return (
      <EmptyNote title={`No cohort has finished its next ${every} yet`} icon="retention">
        Choose a shorter period, or come back later.
      </EmptyNote>
    );
  }
  return (
    <ChartBlock
      title="Average share that came back"
      lines={lines}
      interval={every}
      format={(value) => percent(value, 0)}
      heightPx={CHART_PX}
      isTimeless
      csvName={rangeName("average retention")}
    />
  );
}

const EMPTY = (
  <EmptyNote title="Nobody began in this range" icon="retention">
    Choose a longer range, another start event, or fewer filters.
  </EmptyNote>
);

function Cohorts({ of, question }: { of: Resource<RetentionReply>; question: Question }) {
  const { data } = of;
  const isEmpty = data !== null && data.cohorts.every(({ size }) => size === 0);
  return (
    <>
      <Panel
        title="Cohorts"
        definition={DEFINITIONS.retention}
        state={of}
        skeletonRows={10}
        empty={isEmpty ? EMPTY : null}
        class="retention-panel"
        actions={data !== null && !isEmpty && (
          <CsvButton
            name={rangeName("retention")}
            table="Cohorts"
            content={() => triangleCsv(data)}
          />
        )}
      >
        {data && (
          <>
            <Tiles reply={data} question={question} />
            <ComparedNote previous={data.previous} />
            <Triangle
              rows={triangleRows(data)}
              every={data.query.interval}
              question={{ ...question, every: data.query.interval }}
            />
          </>
        )}
      </Panel>
      {!isEmpty && of.state !== "error" && (
        <Panel
          title="Average"
          definition={TEXTS.average}
          state={of}
          skeletonRows={8}
        >
          {data && <AverageChart reply={data} />}
        </Panel>
      )}
    </>
  );
}

/** Who came back, by the period in which they began. */
export function RetentionView() {
  const question = readQuestion();
  const retention = useRead<RetentionReply>("/v1/retention", retentionParams(question));
  return (
    <>
      <RetentionControls question={question} />
      <Cohorts of={retention} question={question} />
    </>
  );
}
