/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useEffect, useRef } from "preact/hooks";
import { commandText } from "../command.ts";
import { Icon } from "../icons.tsx";
import { addDays, dateIn, READ_DAYS_MAX } from "../location_query.ts";
import {
  bots,
  currentDates,
  effectiveTimezone,
  filters,
  go,
  inProject,
  project,
  segment,
  sharedParams,
} from "../location_state.ts";
import { counted, dateTime } from "../number_format.ts";
import { EmptyNote } from "../panel.tsx";
import { hasMany } from "../project_search.tsx";
import type { KpisReply } from "../replies.ts";
import { reloadAll, type Resource, useRead } from "../resource.ts";
import { refreshSession, session } from "../session.ts";
import { ViewLink } from "../view_link.tsx";

const LOOKOUT_MS = 2_000;
const OTHERS_SHOWN_MAX = 4;

interface LatestReply {
  readonly events: readonly { readonly timestamp: string }[];
}

/** Calls `look` every few seconds while it is wanted and the page is visible. */
function useLookout(look: () => void, isWanted: boolean): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    if (!isWanted) return;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, LOOKOUT_MS);
    return () => clearInterval(timer);
  }, [isWanted]);
}

/** The other projects: somebody who has just filled the demo shop looks for it here. */
function OtherProjects() {
  const others = session.value?.projects.filter(({ id }) => id !== project.value) ?? [];
  if (others.length === 0) {
    return (
      <p class="muted">
        Only looking around? <code>{commandText("seed")}</code>{" "}
        fills a demo shop, which then appears here.
      </p>
    );
  }
  return (
    <p class="overview-others">
      <span class="muted">Or look at</span>
      {others.slice(0, OTHERS_SHOWN_MAX).map(({ id, name }) => (
        <Button
          key={id}
          onClick={() => go(inProject(id))}
        >
          {name}
        </Button>
      ))}
    </p>
  );
}

function Welcome() {
  // Another project may have been created meanwhile. After a failure the next look tries again.
  useLookout(() => void refreshSession().catch(() => {}), !hasMany.value);
  return (
    <div class="panel">
      <EmptyNote title="Waiting for the first event" icon="overview">
        <p>
          Nothing has been recorded in this project yet. Put one line into your pages, and the
          numbers come here by themselves.
        </p>
        <p>
          <ViewLink class="button button-primary" to={{ view: "settings" }}>
            Install the snippet
          </ViewLink>
        </p>
        <OtherProjects />
      </EmptyNote>
    </div>
  );
}

function Elsewhere({ latest }: { latest: string }) {
  const day = dateIn(effectiveTimezone.value, Date.parse(latest));
  return (
    <div class="panel overview-elsewhere" role="status">
      <Icon name="calendar" size={20} />
      <p>
        No events in this range. The latest was on {dateTime(latest, effectiveTimezone.value)}.
      </p>
      <Button onClick={() => go({ range: { from: addDays(day, -29), to: day } })}>
        Show those 30 days
      </Button>
    </div>
  );
}

/** Shown if all events of the range are excluded as those of bots. */
function BotsAlone({ events }: { events: number }) {
  return (
    <div class="panel overview-elsewhere" role="status">
      <Icon name="events" size={20} />
      <p>{counted(events, "event")}, {events === 1 ? "from a bot" : "all from bots"}.</p>
      <Button onClick={() => go({ bots: "include" })}>Show bots</Button>
    </div>
  );
}

/** Reloads everything once a range that was empty has events. */
function useFirstEvent(isEmpty: boolean): void {
  const wasEmpty = useRef(isEmpty);
  useEffect(() => {
    if (wasEmpty.current && !isEmpty) reloadAll();
    wasEmpty.current = isEmpty;
  }, [isEmpty]);
}

/** What is shown for a range without events: that there are none at all, or when the latest was. */
export function useStart(kpis: Resource<KpisReply>) {
  // Also during a reload, so that the page that waits for the first event does not flicker.
  const isEmpty = kpis.data?.totals.events === 0;
  // Filters, a segment or "bots only" may select nothing although the project has events.
  const isOfAll = filters.value.length === 0 && segment.value === null && bots.value !== "only";
  const today = dateIn(effectiveTimezone.value, Date.now());
  const stored = useRead<LatestReply>(
    isEmpty && isOfAll ? "/v1/events" : null,
    { from: addDays(today, -READ_DAYS_MAX), bots: "include", limit: 1 },
  );
  const { data } = stored;
  const latest = data?.events[0]?.timestamp ?? null;
  const ofBots = useRead<KpisReply>(
    isEmpty && latest !== null && bots.value === "exclude" ? "/v1/kpis" : null,
    { ...sharedParams(), bots: "only" },
  );
  const isOver = currentDates().to < today;
  useLookout(() => {
    // A read that takes longer than the pause is not started again.
    for (const each of [kpis, stored, ofBots]) if (each.state !== "loading") each.reload();
  }, isEmpty && isOfAll && (latest === null || !isOver));
  useFirstEvent(isEmpty);
  const botEvents = bots.value === "exclude" ? ofBots.data?.totals.events ?? null : 0;
  const hint = latest === null || botEvents === null
    ? null
    : botEvents > 0
    ? <BotsAlone events={botEvents} />
    : <Elsewhere latest={latest} />;
  return {
    /** Shown if the project has no events at all. */
    welcome: isEmpty && data !== null && latest === null ? <Welcome /> : null,
    hint: isEmpty ? hint : null,
  };
}
