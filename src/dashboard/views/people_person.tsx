/// <reference lib="dom" />
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { effectiveTimezone, sharedParams } from "../location_state.ts";
import { counted, dateTime, integer, NOTHING } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { usePages, useRead } from "../resource.ts";
import { ViewLink } from "../view_link.tsx";
import { EventsTable } from "./events_table.tsx";
import { Facts } from "./visits_facts.tsx";
import {
  deviceText,
  type PersonHead,
  type PersonReply,
  placeText,
  type VisitRow,
  worthText,
} from "./visits_replies.ts";
import { VisitsTable } from "./visits_table.tsx";

/** Only the latest events: the view of events lists all. */
const EVENTS_SHOWN = 50;

const at = (instant: string | null) =>
  instant === null
    ? NOTHING
    : <time dateTime={instant}>{dateTime(instant, effectiveTimezone.value)}</time>;

function PersonFacts({ person }: { person: PersonHead }) {
  const { actor, userId, anonymousIds, firstSeen, lastSeen, visits, pageviews, events, value } =
    person;
  return (
    <Facts
      facts={[
        ["User", userId],
        ["Id", userId === null ? actor : null],
        [
          "Ids without sign-in",
          userId === null || anonymousIds.length === 0 ? null : anonymousIds.join(", "),
        ],
        ["First seen ever", at(firstSeen)],
        ["Last seen", at(lastSeen)],
        ["Visits", integer(visits)],
        ["What happened", `${counted(pageviews, "page view")}, ${counted(events, "event")}`],
        ["Value", value.length === 0 ? null : worthText(value)],
      ]}
    />
  );
}

interface Seen {
  readonly visits: number;
  readonly lastSeen: string;
}

/** Columns of what visits had, such as a device, with how many had it. */
function seenColumns<Row extends Seen>(
  title: string,
  text: (row: Row) => string,
): readonly Column<Row>[] {
  return [
    { title, value: text },
    numberColumn("Visits", ({ visits }) => visits),
    {
      title: "Last seen",
      value: ({ lastSeen }) => lastSeen,
      show: ({ lastSeen }) => at(lastSeen),
    },
  ];
}

const DEVICES = seenColumns<PersonHead["devices"][number]>("Device", deviceText);
const PLACES = seenColumns<PersonHead["places"][number]>("Place", placeText);

function PersonVisits({ id }: { id: string }) {
  const visits = usePages<VisitRow>("/v1/visits", { ...sharedParams(), actor: id });
  return (
    <Panel title="Visits" state={visits}>
      <VisitsTable of={visits} caption="Visits of this person, newest first" hasPerson={false} />
    </Panel>
  );
}

/** One person: what is known, where and on what, the visits, and the latest events. */
export function PersonPage({ id }: { id: string }) {
  const path = `/v1/actors/${encodeURIComponent(id)}/timeline`;
  const person = useRead<PersonReply>(path, { ...sharedParams(), limit: EVENTS_SHOWN });
  const { data } = person;
  const noEvents = <EmptyNote title="No events in this range" icon="events" />;
  return (
    <>
      <p>
        <ViewLink to={{ params: { person: null } }}>← All people</ViewLink>
      </p>
      <Panel title="Person" state={person} skeletonRows={4}>
        {data && <PersonFacts person={data.person} />}
      </Panel>
      <PersonVisits id={id} />
      <div class="person-split">
        <Panel title="Devices" state={person} definition="Of the visits in the range.">
          {data && <DataTable caption="Devices" columns={DEVICES} rows={data.person.devices} />}
        </Panel>
        <Panel title="Places" state={person} definition="Of the visits in the range.">
          {data && <DataTable caption="Places" columns={PLACES} rows={data.person.places} />}
        </Panel>
      </div>
      <Panel
        title="Latest events"
        definition="Those in the range that fit the filters, newest first, of visits and beside them."
        state={person}
        empty={data !== null && data.events.length === 0 ? noEvents : null}
      >
        {data && <EventsTable events={data.events} onOpen={() => {}} />}
        {data !== null && data.nextCursor !== null && (
          <p class="muted">
            The latest {integer(data.events.length)}; the visits above list the others.
          </p>
        )}
      </Panel>
    </>
  );
}
