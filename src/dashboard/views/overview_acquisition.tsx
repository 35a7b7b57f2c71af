/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Behind } from "../behind.tsx";
import { hasValue } from "../location_query.ts";
import { Breakdown, type Tab, Tabs } from "../breakdown.tsx";
import { type Column, numberColumn } from "../data_table.tsx";
import { ImportedMark, ImportedNote, UntoldNote } from "../imported_days.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { fieldLabel, OTHER, OTHER_TEXT, valueLabel } from "../filter_fields.ts";
import { addFilter, rangeName, sharedParams, viewParam } from "../location_state.ts";
import { integer, money, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import type { AcquisitionReply, AcquisitionRow } from "../replies.ts";
import { usePages } from "../resource.ts";
import { showsView } from "../share.ts";

/** Fields of whole visits: a filter on one selects a row's visits. Other fields belong to single events. */
const OF_VISITS = ["channel", "source", "medium", "campaign", "term", "content", "entryPath"];

type Count = "visitors" | "newVisitors" | "sessions" | "conversions";

const COUNTED: Readonly<Record<Count, string>> = {
  visitors: "Visitors",
  newVisitors: "New visitors",
  sessions: "Visits",
  conversions: "Who converted",
};

interface RowCountProps {
  readonly by: string;
  readonly row: AcquisitionRow;
  readonly of: Count;
  /** The goal whose conversions the row has; null: none. */
  readonly goal: string | null;
}

/** A number of a row, linked to the people or visits that it counts. */
export function RowCount({ by, row, of, goal }: RowCountProps) {
  const { value, imported } = row;
  const count = row[of] ?? null;
  const which = of === "sessions" && OF_VISITS.includes(by) ? { filters: [hasValue(by, value)] } : {
    number: {
      read: "acquisition" as const,
      by,
      ...goal === null || of !== "conversions" ? {} : { goal },
      place: { value, count: of },
    },
  };
  return (
    <Behind
      view={of === "sessions" ? "visits" : "people"}
      {...which}
      of={`${COUNTED[of]} with ${fieldLabel(by).toLowerCase()} ${valueLabel(by, value)}`}
      isLinked={value !== OTHER && !imported && (count ?? 0) > 0}
    >
      {integer(count)}
    </Behind>
  );
}

function visitorsColumn(by: string): Column<AcquisitionRow> {
  return numberColumn("Visitors", ({ visitors }) => visitors, {
    definition: DEFINITIONS.visitors,
    show: (row) => <RowCount by={by} row={row} of="visitors" goal={viewParam("goal")} />,
  });
}

function valueColumn(by: string): Column<AcquisitionRow> {
  return {
    title: fieldLabel(by),
    value: ({ value }) => value,
    show: ({ value, imported }) => (
      <span title={value ?? undefined}>
        {valueLabel(by, value)}
        {imported && <ImportedMark />}
      </span>
    ),
  };
}

/** Which rows have imported sums, for the CSV, in which no mark shows it. */
export function importedColumns<Row extends { readonly imported?: true | undefined }>(
  rows: readonly Row[],
): Column<Row>[] {
  if (!rows.some(({ imported }) => imported)) return [];
  return [{
    title: "Imported",
    value: ({ imported }) => imported === true,
    show: ({ imported }) => imported ? "in part or whole" : "no",
    isMinor: true,
  }];
}

/** What the conversions of the chosen goal are worth; no columns if it has no value. */
export function worthColumns({ goalValue }: AcquisitionRow): Column<AcquisitionRow>[] {
  const currency = goalValue?.currency ?? null;
  if (currency === null) return [];
  return [{
    title: "Value",
    definition: DEFINITIONS.goalValue,
    value: ({ goalValue }) => goalValue?.amount,
    show: ({ goalValue }) => money(goalValue?.amount, currency),
    isNumber: true,
  }, { title: "Currency", value: () => currency, isExportOnly: true }];
}

/** Of the chosen goal. */
const conversionColumns = (by: string): readonly Column<AcquisitionRow>[] => [
  numberColumn("Conversions", ({ conversions }) => conversions, {
    definition: DEFINITIONS.uniqueConversions,
    show: (row) => <RowCount by={by} row={row} of="conversions" goal={viewParam("goal")} />,
  }),
  numberColumn("Rate", ({ conversionRate }) => conversionRate?.value, {
    definition: DEFINITIONS.conversionRate,
    format: percent,
  }),
];

function briefColumns(by: string, total: AcquisitionRow): Column<AcquisitionRow>[] {
  if (total.conversions !== undefined) {
    const [worth] = worthColumns(total);
    if (worth === undefined) return [valueColumn(by), ...conversionColumns(by), visitorsColumn(by)];
    // A phone has no room for the rate beside it.
    const narrowed = conversionColumns(by)
      .map((one, i) => i === 0 ? one : { ...one, isMinor: true });
    return [valueColumn(by), ...narrowed, worth];
  }
  const share = ({ visitors }: AcquisitionRow) =>
    visitors === null || !total.visitors ? null : visitors / total.visitors;
  return [
    valueColumn(by),
    visitorsColumn(by),
    numberColumn("Share", share, {
      definition: DEFINITIONS.share,
      show: (row) => percent(share(row), 0),
    }),
  ];
}

function allColumns(
  by: string,
  total: AcquisitionRow,
  rows: readonly AcquisitionRow[],
): Column<AcquisitionRow>[] {
  return [
    valueColumn(by),
    visitorsColumn(by),
    ...total.conversions === undefined ? [] : [...conversionColumns(by), ...worthColumns(total)],
    numberColumn("New visitors", ({ newVisitors }) => newVisitors, {
      definition: DEFINITIONS.newVisitors,
      show: (row) => <RowCount by={by} row={row} of="newVisitors" goal={viewParam("goal")} />,
      isMinor: true,
    }),
    numberColumn("Visits", ({ sessions }) => sessions, {
      definition: DEFINITIONS.sessions,
      show: (row) => <RowCount by={by} row={row} of="sessions" goal={viewParam("goal")} />,
    }),
    numberColumn("Page views", ({ pageviews }) => pageviews, {
      definition: DEFINITIONS.pageviews,
      isMinor: true,
    }),
    numberColumn("Bounce rate", ({ bounceRate }) => bounceRate.value, {
      definition: DEFINITIONS.bounceRate,
      format: percent,
    }),
    ...by === "channel"
      ? [{ title: "Rule", value: ({ rule }: AcquisitionRow) => rule, isMinor: true }]
      : [],
    ...importedColumns(rows),
  ];
}

/** What is shown instead of a table in which no visit has a value; null: the table is. */
function emptyNote(by: string, rows: readonly AcquisitionRow[]): ComponentChildren {
  if (rows.length === 0) return <EmptyNote title="No visits in this range" />;
  if (rows.some(({ value }) => value !== null)) return null;
  if (by === "region" || by === "city") {
    return (
      <EmptyNote title={`No ${by === "city" ? "cities" : "regions"} are known`}>
        The built-in database knows countries. Set <code>GEO_DATABASE</code> to a city database.
      </EmptyNote>
    );
  }
  const words: Readonly<Record<string, string>> = {
    campaign: "utm_campaign",
    term: "utm_term",
    content: "utm_content",
    medium: "utm_medium",
  };
  return words[by] === undefined ? null : (
    <EmptyNote title="No visit has one">
      Links to your site carry it as <code>{words[by]}</code>.
    </EmptyNote>
  );
}

/** The rows of one split. */
export function AcquisitionTable(
  { by, of }: { by: string; of: ReturnType<typeof useAcquisition> },
) {
  const { data, rows, paging } = of;
  if (data === null) return null;
  const table = (
    <Breakdown
      caption={`Visitors by ${fieldLabel(by).toLowerCase()}`}
      brief={briefColumns(by, data.total)}
      columns={allColumns(by, data.total, rows)}
      note={<ImportedNote query={data.query} />}
      rows={rows}
      rowKey={({ value }) => value ?? ""}
      bars
      csvName={rangeName(`visitors by ${fieldLabel(by).toLowerCase()}`)}
      onRow={({ value }) => value !== OTHER && addFilter(by, value)}
      rowAction={({ value }) =>
        value === OTHER ? OTHER_TEXT : `Show only: ${fieldLabel(by)} is ${valueLabel(by, value)}`}
      {...paging}
    />
  );
  return (
    <>
      {table}
      <UntoldNote query={data.query} />
    </>
  );
}

/** The figures of `GET /v1/acquisition` split by a field; null: they are not read. */
export function useAcquisition(by: string | null) {
  const path = by === null ? null : "/v1/acquisition";
  return usePages<AcquisitionRow, AcquisitionReply>(path, {
    ...sharedParams(),
    by,
    goal: showsView("goals") ? viewParam("goal") : null,
  });
}

interface SplitPanelProps {
  readonly title: string;
  readonly definition: string;
  readonly param: string;
  readonly tabs: readonly Tab[];
}

/** Visitors split by one of several fields. */
export function SplitPanel({ title, definition, param, tabs }: SplitPanelProps) {
  const by = tabs.find(({ id }) => id === viewParam(param))?.id ?? tabs[0]!.id;
  const split = useAcquisition(by);
  return (
    <Panel
      title={title}
      definition={definition}
      state={split}
      skeletonRows={9}
      class="overview-split"
      actions={<Tabs label={`${title} by`} param={param} tabs={tabs} chosen={by} />}
      empty={split.data && emptyNote(by, split.rows)}
    >
      <AcquisitionTable by={by} of={split} />
    </Panel>
  );
}
