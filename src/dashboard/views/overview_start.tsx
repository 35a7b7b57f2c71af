/// <reference lib="dom" />
import { useEffect, useRef } from "preact/hooks";
import { commandText } from "../command.ts";
import { Icon } from "../icons.tsx";
import { addDays, dateIn } from "../location_query.ts";
import { effectiveTimezone, filters, go, hrefFor, project } from "../location_state.ts";
import { dateTime } from "../number_format.ts";
import { EmptyNote } from "../panel.tsx";
import type { KpisReply } from "../replies.ts";
import { type Resource, useRead } from "../resource.ts";
import { refreshSession, session } from "../session.ts";

/** Reads reach back ten years at most. */
const YEARS_BACK_DAYS = 9 * 365;
const LOOKOUT_MS = 4_000;
const OTHERS_SHOWN_MAX = 4;

interface LatestReply {
  readonly events: readonly { readonly timestamp: string }[];
}

/** Calls `look` every few seconds, while somebody looks too. */
function useLookout(look: () => void): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, LOOKOUT_MS);
    return () => clearInterval(timer);
  }, []);
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
        <button
          key={id}
          type="button"
          class="button"
          onClick={() => go({ project: id })}
        >
          {name}
        </button>
      ))}
    </p>
  );
}

function Welcome({ onLook }: { onLook: () => void }) {
  useLookout(() => {
    onLook();
    // A project that has been made meanwhile. Failing that, the next look tries again.
    refreshSession().catch(() => {});
  });
  return (
    <div class="panel">
      <EmptyNote title="Waiting for the first event" icon="overview">
        <p>
          Nothing has been recorded in this project yet. Put one line into your pages, and the
          numbers come here by themselves.
        </p>
        <p>
          <a
            class="button button-primary"
            href={hrefFor({ view: "settings" })}
            onClick={(event) => {
              event.preventDefault();
              go({ view: "settings" });
            }}
          >
            Install the snippet
          </a>
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
      <button
        type="button"
        class="button"
        onClick={() => go({ range: { from: addDays(day, -29), to: day } })}
      >
        Show those 30 days
      </button>
    </div>
  );
}

/** What is told where the range holds no event: that there is none at all, or where the latest is. */
export function useStart(kpis: Resource<KpisReply>) {
  // Also while it is read anew: what waits for the first event does not flicker.
  const isEmpty = kpis.data?.totals.events === 0;
  const today = dateIn(effectiveTimezone.value, Date.now());
  const { data, reload } = useRead<LatestReply>(
    isEmpty && filters.value.length === 0 ? "/v1/events" : null,
    { from: addDays(today, -YEARS_BACK_DAYS), bots: "include", limit: 1 },
  );
  const latest = data?.events[0]?.timestamp ?? null;
  const look = () => {
    kpis.reload();
    reload();
  };
  return {
    /** The project holds nothing at all. */
    welcome: isEmpty && data !== null && latest === null ? <Welcome onLook={look} /> : null,
    hint: isEmpty && latest !== null ? <Elsewhere latest={latest} /> : null,
  };
}
