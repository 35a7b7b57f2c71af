/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Icon } from "../icons.tsx";
import { effectiveTimezone, sharedParams } from "../location_state.ts";
import { counted, dateTime, duration, integer } from "../number_format.ts";
import { Panel } from "../panel.tsx";
import { PersonLink } from "../person_link.tsx";
import { readablePath } from "../../readable_path.ts";
import { usePages, useRead } from "../resource.ts";
import { ViewLink } from "../view_link.tsx";
import { Facts } from "./visits_facts.tsx";
import {
  conversionText,
  deviceText,
  originText,
  placeText,
  type VisitReply,
  type VisitRow,
  type WholeVisit,
} from "./visits_replies.ts";
import { PagePictures, Pictures } from "./visits_click_picture.tsx";
import { StoryLine } from "./visits_story_line.tsx";
import { VisitsTable } from "./visits_table.tsx";

/** Events that are read at first, and at most: longer visits are a machine's. */
const EVENTS_AT_FIRST = 200;
const EVENTS_MAX = 1000;

function campaignText({ medium, campaign, term, content }: WholeVisit): string | null {
  const parts = [medium, campaign, term, content].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(" · ");
}

function VisitFacts({ visit }: { visit: WholeVisit }) {
  const { actor, userId, start, seconds, pageviews, events, conversions } = visit;
  return (
    <Facts
      facts={[
        ["Person", <PersonLink key="person" actor={actor} userId={userId} />],
        [
          "Started",
          <time key="time" dateTime={start}>{dateTime(start, effectiveTimezone.value)}</time>,
        ],
        ["Length", duration(seconds)],
        ["What happened", `${counted(pageviews, "page view")}, ${counted(events, "event")}`],
        ["Came from", originText(visit)],
        ["Campaign", campaignText(visit)],
        ["Referrer", visit.referrer],
        ["Entry page", visit.entryPath && readablePath(visit.entryPath)],
        ["Exit page", visit.exitPath && readablePath(visit.exitPath)],
        ["Place", placeText(visit)],
        ["Device", deviceText(visit)],
        ["Goals", conversions.length === 0 ? null : conversions.map(conversionText).join("; ")],
      ]}
    />
  );
}

/** The person's other visits. */
function OtherVisits({ visit: { id, actor, userId } }: { visit: WholeVisit }) {
  const visits = usePages<VisitRow>("/v1/visits", { ...sharedParams(), filters: null, actor });
  const without = (rows: readonly VisitRow[]) => rows.filter((row) => row.id !== id);
  const rows = without(visits.rows);
  const isKnown = visits.data !== null;
  return (
    <Panel
      title="Other visits of this person"
      definition="In the range above, whatever the filters."
      state={visits}
      actions={
        <ViewLink class="button" to={{ view: "people", params: { person: actor } }}>
          <Icon name="person" />{" "}
          <span class="visit-person">{userId === null ? "The person" : userId}</span>
        </ViewLink>
      }
      empty={isKnown && rows.length === 0 ? <p class="muted">None in this range.</p> : null}
    >
      <VisitsTable
        of={{
          ...visits,
          rows,
          paging: {
            ...visits.paging,
            allRows: async (progress) => without(await visits.paging.allRows(progress)),
          },
        }}
        caption="Other visits of this person"
        hasPerson={false}
      />
    </Panel>
  );
}

function Story({ reply, onMore }: { reply: VisitReply; onMore: (() => void) | null }) {
  const { events, visit } = reply;
  const pictures = useMemo(() => new PagePictures(), [visit.id]);
  useEffect(() => () => pictures.close(), [pictures]);
  const goalTitles = new Map(visit.conversions.map(({ slug, title }) => [slug, title]));
  return (
    <Pictures.Provider value={pictures}>
      <ol class="story">
        {events.map((event, i) => (
          <StoryLine
            key={event.eventId}
            event={event}
            goalTitles={goalTitles}
            secondsSince={i === 0 ? null : events[i - 1]!.secondsToNext}
          />
        ))}
      </ol>
      {reply.nextCursor !== null && (
        <div class="table-foot">
          {onMore && <Button onClick={onMore}>Show later events</Button>}
          <span class="muted">
            The first {integer(events.length)} of {counted(visit.events, "event")}
          </span>
        </div>
      )}
    </Pictures.Provider>
  );
}

/** One visit: where it came from, what happened in it and when, and what else the person did. */
export function VisitStory({ id }: { id: string }) {
  const [limit, setLimit] = useState(EVENTS_AT_FIRST);
  const path = `/v1/visits/${encodeURIComponent(id)}`;
  const visit = useRead<VisitReply>(path, { limit });
  const { data } = visit;
  return (
    <>
      <p>
        <ViewLink to={{ params: { visit: null } }}>← All visits</ViewLink>
      </p>
      <Panel title="Visit" state={visit} skeletonRows={5}>
        {data && <VisitFacts visit={data.visit} />}
      </Panel>
      <Panel
        title="What happened"
        definition="Every event of the visit in its order, with the time that passed, how long each page was looked at, and the goals that were reached."
        state={visit}
        skeletonRows={12}
      >
        {data && (
          <Story
            reply={data}
            onMore={limit < EVENTS_MAX ? () => setLimit(EVENTS_MAX) : null}
          />
        )}
      </Panel>
      {data && <OtherVisits visit={data.visit} />}
    </>
  );
}
