/// <reference lib="dom" />
import { Icon } from "../icons.tsx";
import { addDays, dateIn } from "../location_query.ts";
import { effectiveTimezone, filters, go, hrefFor } from "../location_state.ts";
import { dateTime } from "../number_format.ts";
import { EmptyNote } from "../panel.tsx";
import { useRead } from "../resource.ts";

/** Reads reach back ten years at most. */
const YEARS_BACK_DAYS = 9 * 365;

interface LatestReply {
  readonly events: readonly { readonly timestamp: string }[];
}

function Welcome() {
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
export function useStart(isEmpty: boolean) {
  const today = dateIn(effectiveTimezone.value, Date.now());
  const { data } = useRead<LatestReply>(
    isEmpty && filters.value.length === 0 ? "/v1/events" : null,
    { from: addDays(today, -YEARS_BACK_DAYS), bots: "include", limit: 1 },
  );
  const latest = data?.events[0]?.timestamp ?? null;
  return {
    /** The project holds nothing at all. */
    welcome: isEmpty && data !== null && latest === null ? <Welcome /> : null,
    hint: isEmpty && latest !== null ? <Elsewhere latest={latest} /> : null,
  };
}
