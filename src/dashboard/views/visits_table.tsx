/// <reference lib="dom" />
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { effectiveTimezone, go, rangeName } from "../location_state.ts";
import { duration, NOTHING } from "../number_format.ts";
import { PersonLink } from "../person_link.tsx";
import { EmptyNote } from "../panel.tsx";
import { readablePath } from "../../readable_path.ts";
import type { usePages } from "../resource.ts";
import { minuteLabel } from "./events_record.ts";
import {
  conversionText,
  deviceText,
  originText,
  placeText,
  programText,
  type VisitRow,
} from "./visits_replies.ts";

function startedText({ start }: VisitRow): string {
  return minuteLabel(start, effectiveTimezone.value, Date.now());
}

const PERSON: Column<VisitRow> = {
  title: "Person",
  value: ({ actor }) => actor,
  show: ({ actor, userId }) => (
    <span class="visit-text" title={userId ?? undefined}>
      <PersonLink actor={actor} userId={userId} />
    </span>
  ),
};
/** A text of a few lines; a longer one is cut off, and shown whole on hover. */
const whole = (text: string) => <span class="visit-text" title={text}>{text}</span>;
/** A path, which goes on below between its segments. */
const path = (sent: string | null) => {
  const text = readablePath(sent ?? NOTHING);
  return (
    <span class="visit-text" title={text}>
      {text.match(/[^/]*\/|[^/]+$/g)?.map((segment, i) =>
        i === 0 ? segment : [<wbr key={i} />, segment]
      )}
    </span>
  );
};

const COLUMNS: readonly Column<VisitRow>[] = [
  {
    title: "Came from",
    value: originText,
    show: (row) => whole(originText(row)),
    isMinor: true,
  },
  numberColumn("Length", ({ seconds }) => seconds, {
    definition: "From the visit's first event to its last.",
    format: duration,
  }),
  numberColumn("Pages", ({ pageviews }) => pageviews, {
    definition: "Page views of the whole visit, whatever the filters.",
  }),
  {
    title: "Goals",
    definition: "The saved goals that the visit's events reached, and what that is worth.",
    value: ({ conversions }) => conversions.map(conversionText).join("; "),
    show: ({ conversions }) => (
      <span class="visit-text" title={conversions.map(conversionText).join("; ")}>
        {conversions.map((one) => [
          <span key={one.slug} class="tag">{conversionText(one)}</span>,
          " ",
        ])}
      </span>
    ),
  },
  {
    title: "Entry page",
    value: ({ entryPath }) => entryPath,
    show: ({ entryPath }) => path(entryPath),
    isMinor: true,
  },
  {
    title: "Exit page",
    value: ({ exitPath }) => exitPath,
    show: ({ exitPath }) => path(exitPath),
    isMinor: true,
  },
  numberColumn("Events", ({ events }) => events, {
    definition: "All events of the whole visit, whatever the filters.",
    isMinor: true,
  }),
  { title: "Place", value: placeText, show: (row) => whole(placeText(row)), isMinor: true },
  {
    title: "Device",
    value: deviceText,
    show: (row) => <span class="visit-text" title={deviceText(row)}>{programText(row)}</span>,
    isMinor: true,
  },
];

interface VisitsTableProps {
  readonly of: ReturnType<typeof usePages<VisitRow>>;
  readonly caption: string;
  /** False: all are of one person. */
  readonly hasPerson?: boolean;
}

/** Visits, newest first; each opens as a story. */
export function VisitsTable({ of, caption, hasPerson = true }: VisitsTableProps) {
  const { rows, paging } = of;
  const started: Column<VisitRow> = {
    title: "Started",
    value: ({ start }) => start,
    show: (row) => <time dateTime={row.start}>{startedText(row)}</time>,
  };
  return (
    <div class="visits-table">
      <DataTable
        caption={caption}
        columns={[started, ...hasPerson ? [PERSON] : [], ...COLUMNS]}
        rows={rows}
        rowKey={({ id }) => id}
        onRow={({ id }) => go({ view: "visits", params: { visit: id } })}
        rowAction={(row) => `Show what happened in the visit of ${startedText(row)}`}
        csvName={rangeName("visits")}
        {...paging}
        empty={<EmptyNote title="No visits in this range" icon="log" />}
      />
    </div>
  );
}
