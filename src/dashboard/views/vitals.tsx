/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Behind } from "../behind.tsx";
import { fieldTabs, Tabs } from "../breakdown.tsx";
import { ChartBlock } from "../chart_block.tsx";
import { type ChartLine, pointsOf } from "../chart_lines.ts";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { fieldLabel, OTHER, valueLabel } from "../filter_fields.ts";
import { Icon } from "../icons.tsx";
import { type Filter, hasValue } from "../location_query.ts";
import { addFilter, go, rangeName, seriesParams, viewParam } from "../location_state.ts";
import { integer, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { type Resource, useRead } from "../resource.ts";
import { SHARE_ID } from "../share.ts";
import { VitalTile } from "./vitals_tile.tsx";
import {
  RATINGS,
  type VitalName,
  VITALS,
  type VitalsReply,
  type VitalsRow,
  vitalText,
} from "./vitals_words.ts";

const TABS = fieldTabs("path", "device", "country", "browser", "os");
const DEFINITION =
  "How fast pages load, answer and stand still for those who see them: the 75th percentile of each measurement, with the bounds of web.dev. Measured in browsers once per page load, as it is left.";
const CHART_PX = 240;
const ATTRIBUTE = "data-vitals";

type Chosen = typeof VITALS[number];

function Tiles({ reply, chosen }: { reply: VitalsReply; chosen: Chosen }) {
  return (
    <div class="tiles vitals-tiles">
      {VITALS.map((words) => (
        <VitalTile
          key={words.name}
          words={words}
          vital={reply.totals[words.name]}
          isSelected={words === chosen}
          who={SHARE_ID === null && reply.totals[words.name].poor.numerator > 0 && (
            <Poor {...{ words, reply }} poor={reply.totals[words.name].poor.numerator}>
              <Icon name="people" size={14} />
            </Poor>
          )}
          onSelect={() => go({ params: { metric: words === VITALS[0] ? null : words.name } })}
        />
      ))}
    </div>
  );
}

/** The percentile over time, between the bounds that it should stay within. */
function Trend({ reply, chosen }: { reply: VitalsReply; chosen: Chosen }) {
  const { name, title, short } = chosen;
  const format = (value: number | null) => vitalText(name, value);
  const lines = useMemo((): readonly ChartLine[] => {
    const { good, poor } = reply.bounds[name];
    const level = (value: number) => pointsOf(reply.series, () => value, reply.asOf);
    return [
      {
        name: `${short}, 75th percentile`,
        points: pointsOf(reply.series, (at) => at[name], reply.asOf),
      },
      { name: `Good up to ${vitalText(name, good)}`, points: level(good) },
      { name: `Poor beyond ${vitalText(name, poor)}`, points: level(poor) },
    ];
  }, [reply, chosen]);
  return (
    <div class="tiles-chart">
      <ChartBlock
        title={`${title} over time`}
        lines={lines}
        interval={reply.query.interval}
        format={format}
        heightPx={CHART_PX}
        csvName={rangeName(short)}
      />
    </div>
  );
}

/** Filters for people whose page views were measured. */
const MEASURED: readonly Filter[] = [hasValue("name", "$web_vitals")];

/** Filters for people with a poor value of a measurement. */
function havePoor(name: VitalName, { bounds }: VitalsReply): readonly Filter[] {
  return [...MEASURED, { field: `properties.${name}`, op: "gt", values: [bounds[name].poor] }];
}

interface PoorProps {
  readonly words: Chosen;
  readonly reply: VitalsReply;
  readonly poor: number;
  readonly where?: Filter;
  /** Of which page views, in words. */
  readonly of?: string;
  readonly children: ComponentChildren;
}

/** A link to the people for whom something was poor. */
function Poor({ words: { name, short }, reply, poor, where, of = "", children }: PoorProps) {
  return (
    <Behind
      view="people"
      filters={[...havePoor(name, reply), ...where === undefined ? [] : [where]]}
      of={`People with a poor ${short}${of}`}
      isLinked={poor > 0}
      isTheirs={false}
      isDrawing={where === undefined}
    >
      {children}
    </Behind>
  );
}

function columnsOf(reply: VitalsReply, by: string): readonly Column<VitalsRow>[] {
  const whose = (value: string | null) =>
    `, ${fieldLabel(by).toLowerCase()} ${valueLabel(by, value)}`;
  return [
    {
      title: fieldLabel(by),
      value: ({ value }) => value,
      show: ({ value }) => valueLabel(by, value),
    },
    numberColumn("Page views", ({ pageViews }) => pageViews, {
      definition: "Page views that sent a measurement.",
      show: ({ value, pageViews }) => (
        <Behind
          view="people"
          filters={[...MEASURED, hasValue(by, value)]}
          of={`People whose page views were measured${whose(value)}`}
          isLinked={value !== OTHER && pageViews > 0}
          isTheirs={false}
        >
          {integer(pageViews)}
        </Behind>
      ),
    }),
    ...VITALS.map((words, i): Column<VitalsRow> => ({
      title: words.short,
      definition: `${words.title}. ${words.definition}`,
      value: (row) => row[words.name].p75,
      show: (row) => {
        const { name } = words;
        const { p75, rating, good, poor } = row[name];
        const { value } = row;
        if (rating === null) return vitalText(name, null);
        const title = `${RATINGS[rating]}; ${percent(good.value, 0)} of ${
          integer(good.denominator)
        } good`;
        return (
          <Poor
            {...{ words, reply }}
            poor={value === OTHER ? 0 : poor.numerator}
            where={hasValue(by, value)}
            of={whose(value)}
          >
            <span class={`vitals-value vitals-${rating}`} title={title}>
              {vitalText(name, p75)}
              <span class="visually-hidden">, {RATINGS[rating]}</span>
            </span>
          </Poor>
        );
      },
      isNumber: true,
      isMinor: i > 2,
    })),
  ];
}

function Rows({ reply, by }: { reply: VitalsReply; by: string }) {
  const label = fieldLabel(by).toLowerCase();
  return (
    <DataTable
      caption={`Web vitals by ${label}`}
      columns={columnsOf(reply, by)}
      rows={reply.rows}
      rowKey={({ value }) => value ?? ""}
      bars
      csvName={rangeName(`web vitals by ${label}`)}
      isSortable
      onRow={({ value }) => value !== OTHER && addFilter(by, value)}
      rowAction={({ value }) =>
        value === OTHER
          ? "All beyond the 25 with most page views"
          : `Show only: ${fieldLabel(by)} is ${valueLabel(by, value)}`}
    />
  );
}

const EMPTY = (
  <EmptyNote title="Nothing was measured in this range" icon="vitals">
    <p>
      Pages measure themselves once the tag of <code>sdk.js</code> has the attribute{" "}
      <code>{ATTRIBUTE}</code>, which loads 3 KB more. What is measured is sent as a page is left.
    </p>
  </EmptyNote>
);

function Measured({ of, by }: { of: Resource<VitalsReply>; by: string }) {
  const { data } = of;
  const chosen = VITALS.find(({ name }) => name === viewParam("metric")) ?? VITALS[0]!;
  const isEmpty = data !== null && data.totals.pageViews === 0;
  return (
    <>
      <Panel
        title="Web vitals"
        definition={DEFINITION}
        state={of}
        skeletonRows={10}
        empty={isEmpty ? EMPTY : null}
        class="vitals-panel"
      >
        {data && (
          <>
            <Tiles reply={data} chosen={chosen} />
            <Trend reply={data} chosen={chosen} />
          </>
        )}
      </Panel>
      {!isEmpty && of.state !== "error" && (
        <Panel
          title="Where"
          definition="The 75th percentile of each measurement, by what the page views have in common."
          state={of}
          skeletonRows={9}
          actions={<Tabs label="Web vitals by" param="by" tabs={TABS} chosen={by} />}
        >
          {data && <Rows reply={data} by={by} />}
        </Panel>
      )}
    </>
  );
}

/** How fast pages are for those who see them. */
export function VitalsView() {
  const by = TABS.find(({ id }) => id === viewParam("by"))?.id ?? TABS[0]!.id;
  const vitals = useRead<VitalsReply>("/v1/vitals", { ...seriesParams(), by });
  return <Measured of={vitals} by={by} />;
}
