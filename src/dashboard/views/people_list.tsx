/// <reference lib="dom" />
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { EmptyList } from "../empty_list.tsx";
import { effectiveTimezone, go, rangeName, sharedParams, viewParam } from "../location_state.ts";
import { dateTime, NOTHING } from "../number_format.ts";
import { Panel } from "../panel.tsx";
import { personName } from "../person_link.tsx";
import { usePages } from "../resource.ts";
import { minuteLabel } from "./events_record.ts";
import { CountedChip } from "./visits_narrowed.tsx";
import { type PeopleReply, type PersonRow, worthText } from "./visits_replies.ts";

const DEFINITION =
  "Everybody who did something in the range that fits the filters, last seen first. A person is a user, else whoever has an anonymous id, else a visitor of one day.";

const at = (instant: string | null) =>
  instant === null
    ? NOTHING
    : (
      <time dateTime={instant} title={dateTime(instant, effectiveTimezone.value)}>
        {minuteLabel(instant, effectiveTimezone.value, Date.now())}
      </time>
    );

const VALUE: Column<PersonRow> = {
  title: "Value",
  definition: "What the conversions of all goals with a value are worth, each currency by itself.",
  value: ({ value }) => value.map(({ amount, currency }) => `${amount} ${currency}`).join(" + "),
  show: ({ value }) => worthText(value),
  isNumber: true,
};

const COLUMNS: readonly Column<PersonRow>[] = [
  {
    title: "Person",
    value: ({ actor }) => actor,
    show: ({ actor, userId }) => (
      <span class={userId === null ? "muted" : ""} title={actor}>{personName(actor, userId)}</span>
    ),
  },
  {
    title: "Last seen",
    definition: "The last event in the range that fits the filters.",
    value: ({ lastSeen }) => lastSeen,
    show: ({ lastSeen }) => at(lastSeen),
  },
  {
    title: "First seen",
    definition: "The person's first event ever, whatever the range and the filters.",
    value: ({ firstSeen }) => firstSeen,
    show: ({ firstSeen }) => at(firstSeen),
    isMinor: true,
  },
  numberColumn("Visits", ({ visits }) => visits, {
    definition: "Those that started in the range.",
  }),
  numberColumn("Page views", ({ pageviews }) => pageviews, {
    definition: "In the range.",
    isMinor: true,
  }),
  numberColumn("Events", ({ events }) => events, { definition: "In the range.", isMinor: true }),
  VALUE,
];

/** Only in the list of those whom a number counts. */
const COUNTED: Column<PersonRow> = {
  title: "Counted",
  definition:
    "When the person came to count in the number that led here: reached the step, began, or came.",
  value: ({ countedAt }) => countedAt,
  show: ({ countedAt }) => at(countedAt ?? null),
};

/** People, last seen first. */
export function PeopleList() {
  const of = viewParam("of");
  const people = usePages<PersonRow, PeopleReply>("/v1/actors", {
    ...sharedParams(),
    of,
    limit: 50,
  });
  const { rows, paging } = people;
  const [person, ...others] = COLUMNS;
  // A phone has room for one time and one number.
  const columns = of === null ? COLUMNS : [
    person!,
    COUNTED,
    ...others.map((one) => ({
      ...one,
      isMinor: one === VALUE || !one.isNumber || one.isMinor === true,
    })),
  ];
  return (
    <>
      {of !== null && (
        <div class="chips">
          <CountedChip of={of} total={people.data?.total} listed="people" />
        </div>
      )}
      <Panel
        title="People"
        class="panel-dense"
        definition={DEFINITION}
        state={people}
        skeletonRows={16}
        empty={people.data !== null && rows.length === 0 && (
          <EmptyList icon="people" none="Nobody was here" noneFits="Nobody fits" narrowing={{ of }}>
            Choose a longer range.
          </EmptyList>
        )}
      >
        <DataTable
          caption="People, last seen first"
          columns={columns}
          rows={rows}
          rowKey={({ actor, userId }) => `${userId === null} ${actor}`}
          onRow={({ actor }) => go({ params: { person: actor } })}
          rowAction={({ actor }) => `Show everything about ${actor}`}
          csvName={rangeName("people")}
          {...paging}
        />
      </Panel>
    </>
  );
}
