/// <reference lib="dom" />
import { useEffect } from "preact/hooks";
import { changeColumn } from "../change_column.tsx";
import { pointsOf } from "../chart_lines.ts";
import { sparklineColumn } from "../sparkline_column.tsx";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { SelectField, TextField } from "../field.tsx";
import { currentDates, go, inProject, rangeName, timezone, viewParam } from "../location_state.ts";
import { counted, integer } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { useRead } from "../resource.ts";
import { ViewLink } from "../view_link.tsx";
import { useTypedText } from "../typed_text.ts";
import type { Site, SitesReply } from "./sites_reply.ts";

/** The search begins after a pause in typing of this length. */
const PAUSE_MS = 300;
/** How often the numbers are read again, for who is there now. */
const FRESH_MS = 60_000;
const PATH = "/v1/overview";

const SORTS = [
  { value: "visitors", label: "Most visitors" },
  { value: "now", label: "Most there now" },
  { value: "change", label: "Largest rise" },
  { value: "name", label: "By name" },
];

/** The column of the rows' bars, by the order. */
const BARS: Readonly<Record<string, string>> = {
  visitors: "Visitors",
  now: "Now",
  change: "Change",
  name: "Visitors",
};

const CHANGE =
  "Visitors against as many days before. A range that is not over is compared with the equally long part.";
const SITES =
  "Every project that you may see, each by the days of its own time zone. A click opens the project.";

function hostOf({ siteUrl }: Site): string {
  return siteUrl === null ? "" : URL.parse(siteUrl)?.host ?? siteUrl;
}

const NOW = JSON.stringify({ read: "live", place: { minutes: 5 } });

interface WhoProps {
  readonly site: Site;
  readonly count: number | null;
  /** Those who are there now; absent: all of the range. */
  readonly isNow?: boolean;
}

/** A number of a site, linked to its people. */
function Who({ site: { id, name }, count, isNow = false }: WhoProps) {
  const shown = integer(count);
  if (!count) return <>{shown}</>;
  return (
    <ViewLink
      class="behind behind-count"
      to={inProject(id, { view: "people", params: { of: isNow ? NOW : null } })}
      title={`Who are these? ${isNow ? "Visitors now" : "Visitors"} of ${name}`}
    >
      {shown}
    </ViewLink>
  );
}

const COLUMNS: readonly Column<Site>[] = [
  {
    title: "Site",
    value: ({ name }) => name,
    show: (site) => (
      <span class="sites-name">
        <span>{site.name}</span>
        <span class="muted">{hostOf(site)}</span>
      </span>
    ),
  },
  numberColumn("Now", ({ now }) => now, {
    definition: DEFINITIONS.live,
    show: (site) => (
      <span class={site.now > 0 ? "sites-now-some" : "muted"}>
        <Who site={site} count={site.now} isNow />
      </span>
    ),
  }),
  numberColumn("Visitors", ({ visitors }) => visitors, {
    definition: DEFINITIONS.visitors,
    show: (site) => (
      <strong>
        <Who site={site} count={site.visitors} />
      </strong>
    ),
  }),
  changeColumn("Change", ({ change }) => change, { definition: CHANGE }),
];

const course = (asOf: string): Column<Site> =>
  sparklineColumn(
    "Over time",
    ({ series }) => pointsOf(series, ({ visitors }) => visitors ?? 0, asOf),
    { widthPx: 140, heightPx: 30 },
  );

/** The text of the search, which takes effect a moment after the last letter. */
function SearchField() {
  const shown = viewParam("q") ?? "";
  const [text, setText] = useTypedText(shown);
  useEffect(() => {
    if (text === shown) return;
    const timer = setTimeout(() => go({ params: { q: text } }, { replace: true }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextField
      label="Search sites"
      isLabelHidden
      value={text}
      placeholder="Search"
      maxLength={200}
      onChange={setText}
    />
  );
}

function open({ id }: Site): void {
  go(inProject(id, { view: "overview", params: { q: null, sort: null } }));
}

function useSites(sort: string) {
  const sites = useRead<SitesReply>(PATH, {
    ...currentDates(),
    timezone: timezone.value,
    sort: sort === SORTS[0]!.value ? null : sort,
    q: viewParam("q"),
  }, { isFollowed: true });
  const { reload } = sites;
  useEffect(() => {
    const timer = setInterval(() => document.hidden || reload(), FRESH_MS);
    return () => clearInterval(timer);
  }, [reload]);
  return sites;
}

/** Every project at a glance: who is there now, who came, and whether that is more than before. */
export function SitesView() {
  const chosen = viewParam("sort");
  const sort = SORTS.find(({ value }) => value === chosen)?.value ?? SORTS[0]!.value;
  const sites = useSites(sort);
  const { data } = sites;
  const rows = data?.projects ?? [];
  return (
    <Panel
      title="All sites"
      definition={SITES}
      state={sites}
      skeletonRows={8}
      actions={
        <div class="sites-actions">
          <SearchField />
          <SelectField
            label="Order"
            isLabelHidden
            value={sort}
            choices={SORTS}
            onChange={(value) => go({ params: { sort: value === SORTS[0]!.value ? null : value } })}
          />
        </div>
      }
      empty={data !== null && rows.length === 0 && (
        <EmptyNote title="No site is called that" icon="sites">
          Names, ids and addresses of sites are searched.
        </EmptyNote>
      )}
    >
      <DataTable
        caption="All sites"
        columns={[...COLUMNS, ...data === null ? [] : [course(data.asOf)]]}
        rows={rows}
        rowKey={({ id }) => id}
        bars={BARS[sort]!}
        onRow={open}
        rowAction={({ name }) => `Open ${name}`}
        csvName={rangeName("sites")}
      />
      {data !== null && data.total > rows.length && (
        <p class="muted">
          {counted(rows.length, "site")} of {integer(data.total)}. Search to find the others.
        </p>
      )}
    </Panel>
  );
}
