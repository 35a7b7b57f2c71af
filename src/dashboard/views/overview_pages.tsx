/// <reference lib="dom" />
import { Behind } from "../behind.tsx";
import { hasValue } from "../location_query.ts";
import { Breakdown, Tabs } from "../breakdown.tsx";
import { type Column, numberColumn } from "../data_table.tsx";
import { ImportedMark, ImportedNote } from "../imported_days.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { OTHER, OTHER_TEXT, valueLabel } from "../filter_fields.ts";
import { addFilter, rangeName, sharedParams, viewParam } from "../location_state.ts";
import { duration, integer, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import type { PageRow, PagesReply } from "../replies.ts";
import { usePages } from "../resource.ts";
import { AcquisitionTable, importedColumns, useAcquisition } from "./overview_acquisition.tsx";

const TABS = [
  { id: "top", label: "Top" },
  { id: "entry", label: "Entry" },
  { id: "exit", label: "Exit" },
];
/** The most that one read gives: pages do not come ordered by exits, so all are needed. */
const EXIT_PAGES_MAX = 1000;

type Count = "visitors" | "pageviews" | "entries" | "exits";

const ON_PAGE: Readonly<Record<Count, string>> = {
  visitors: "People who saw",
  pageviews: "People who saw",
  entries: "Visits that began on",
  exits: "Visits that ended on",
};

/** A number of a page, linked to the people or visits that it counts. */
function PageCount({ row: { path, imported, ...counts }, of }: { row: PageRow; of: Count }) {
  const isOfVisits = of === "entries" || of === "exits";
  const filters = isOfVisits
    ? [hasValue(of === "entries" ? "entryPath" : "exitPath", path)]
    : [hasValue("name", "page_view"), hasValue("path", path)];
  return (
    <Behind
      view={isOfVisits ? "visits" : "people"}
      filters={filters}
      of={`${ON_PAGE[of]} ${valueLabel("path", path)}`}
      isLinked={path !== OTHER && !imported && (counts[of] ?? 0) > 0}
      isTheirs={of !== "pageviews"}
    >
      {integer(counts[of])}
    </Behind>
  );
}

function countColumn(title: string, of: Count, definition: string): Column<PageRow> {
  return numberColumn(title, (row) => row[of], {
    definition,
    show: (row) => <PageCount row={row} of={of} />,
  });
}

const PATH: Column<PageRow> = {
  title: "Page",
  value: ({ path }) => path,
  show: ({ path, imported }) => (
    <span title={path}>
      {valueLabel("path", path)}
      {imported && <ImportedMark />}
    </span>
  ),
};
const VISITORS = countColumn("Visitors", "visitors", DEFINITIONS.visitors);
const VIEWS = countColumn("Views", "pageviews", DEFINITIONS.pageviews);
const ENTRIES = countColumn("Entries", "entries", DEFINITIONS.entries);
const EXITS = countColumn("Exits", "exits", DEFINITIONS.exits);
const COLUMNS: readonly Column<PageRow>[] = [
  PATH,
  VISITORS,
  VIEWS,
  { ...ENTRIES, isMinor: true },
  { ...EXITS, isMinor: true },
  numberColumn("Bounce rate", ({ bounceRate }) => bounceRate.value, {
    definition: DEFINITIONS.pageBounceRate,
    show: ({ path, imported, bounceRate }) => (
      <Behind
        view="visits"
        filters={[hasValue("entryPath", path)]}
        number={{ read: "kpis", place: { count: "bounces" } }}
        of={`Visits that began on ${valueLabel("path", path)} and bounced`}
        isLinked={path !== OTHER && !imported && bounceRate.numerator > 0}
        isTheirs={false}
      >
        {percent(bounceRate.value)}
      </Behind>
    ),
    isMinor: true,
  }),
  numberColumn("Time on page", ({ medianSecondsOnPage }) => medianSecondsOnPage, {
    definition: DEFINITIONS.secondsOnPage,
    format: duration,
  }),
  numberColumn("Scroll depth", ({ medianScrollDepth }) => medianScrollDepth, {
    definition: DEFINITIONS.scrollDepth,
    format: (value) => percent(value, 0),
    isMinor: true,
  }),
];

function PagesTable({ of, isExit }: { of: ReturnType<typeof usePageRows>; isExit: boolean }) {
  const rows = isExit
    ? of.rows.filter(({ exits }) => (exits ?? 0) > 0)
      .toSorted((a, b) => (b.exits ?? 0) - (a.exits ?? 0))
    : of.rows;
  return (
    <Breakdown
      caption={isExit ? "Pages on which visits end" : "Pages by visitors"}
      brief={isExit ? [PATH, EXITS, VISITORS] : [PATH, VISITORS, VIEWS]}
      columns={[...COLUMNS, ...importedColumns(rows)]}
      note={of.data && <ImportedNote query={of.data.query} />}
      rows={rows}
      rowKey={({ path }) => path}
      bars={isExit ? EXITS.title : VISITORS.title}
      csvName={rangeName("pages")}
      onRow={({ path }) => path !== OTHER && addFilter(isExit ? "exitPath" : "path", path)}
      rowAction={({ path }) =>
        path === OTHER
          ? OTHER_TEXT
          : `Show only: ${isExit ? "Exit page" : "Page"} is ${valueLabel("path", path)}`}
      {...of.paging}
    />
  );
}

function usePageRows(isAsked: boolean, limit: number | null) {
  return usePages<PageRow, PagesReply>(isAsked ? "/v1/pages" : null, { ...sharedParams(), limit });
}

/** Pages by visitors, and those on which visits begin and end. */
export function PagesPanel() {
  const tab = TABS.find(({ id }) => id === viewParam("pages"))?.id ?? "top";
  const pages = usePageRows(tab !== "entry", tab === "exit" ? EXIT_PAGES_MAX : null);
  const entries = useAcquisition(tab === "entry" ? "entryPath" : null);
  const shown = tab === "entry" ? entries : pages;
  const isEmpty = shown.data !== null && shown.rows.length === 0;
  return (
    <Panel
      title="Pages"
      definition={DEFINITIONS.pages}
      state={shown}
      skeletonRows={9}
      class="overview-split"
      actions={<Tabs label="Pages by" param="pages" tabs={TABS} chosen={tab} />}
      empty={isEmpty ? <EmptyNote title="No page views in this range" /> : null}
    >
      {tab === "entry"
        ? <AcquisitionTable by="entryPath" of={entries} />
        : <PagesTable of={pages} isExit={tab === "exit"} />}
    </Panel>
  );
}
