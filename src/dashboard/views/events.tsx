/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { EmptyList } from "../empty_list.tsx";
import { CheckField } from "../field.tsx";
import { Button } from "../button.tsx";
import { dateIn } from "../location_query.ts";
import { bots, currentDates, effectiveTimezone, go, sharedParams } from "../location_state.ts";
import { counted, integer } from "../number_format.ts";
import { Panel } from "../panel.tsx";
import { Refused, useKeptFocus } from "../request_state.tsx";
import { ExportButton } from "./events_export.tsx";
import { EventsTable } from "./events_table.tsx";
import { type Tail, useTail } from "./events_tail.ts";

const DEFINITION =
  "Everything that was recorded in the range, one line for each event, newest first. Those that come in are put on top as they arrive.";

/** Whether an element at the top of the list is visible. */
function useAtTop() {
  const mark = useRef<HTMLDivElement>(null);
  const [isAtTop, setAtTop] = useState(true);
  useEffect(() => {
    const seen = new IntersectionObserver((entries) =>
      setAtTop(entries.at(-1)?.isIntersecting ?? true)
    );
    seen.observe(mark.current!);
    return () => seen.disconnect();
  }, []);
  return { mark, isAtTop };
}

interface LiveStateProps {
  readonly tail: Tail;
  readonly isLive: boolean;
  readonly isPaused: boolean;
}

/** Whether new events are followed, in a word. */
function LiveState({ tail, isLive, isPaused }: LiveStateProps) {
  const { problem } = tail;
  const text = !isLive
    ? "The range is over"
    : isPaused
    ? "Paused"
    : problem !== null
    ? "Reconnecting…"
    : "Live";
  const isOn = isLive && !isPaused && problem === null;
  return (
    <span class="live-line events-live muted small" role="status" title={problem?.detail}>
      <span class={isOn ? "live-dot live-dot-on" : "live-dot"} /> {text}
    </span>
  );
}

/** The button that shows the waiting events, if there are any. */
function NewEvents({ tail, onShow }: { tail: Tail; onShow: () => void }) {
  const { waiting, isOverfull } = tail;
  return (
    <div class="events-new" role="status">
      {waiting > 0 && (
        <Button icon="up" kind="primary" onClick={onShow}>
          {integer(waiting)}
          {isOverfull ? "+" : ""} new
          <span class="visually-hidden">{waiting === 1 ? "event" : "events"}, show them</span>
        </Button>
      )}
    </div>
  );
}

function NoEvents() {
  return (
    <EmptyList icon="events" none="No events" noneFits="No event fits">
      Choose a longer range, or send the first event: the settings have the snippet.
    </EmptyList>
  );
}

/** The list of recorded events, which new ones join as they arrive. */
export function EventsView() {
  const [isPaused, setPaused] = useState(false);
  const [isAnyOpen, setAnyOpen] = useState(false);
  const { mark, isAtTop } = useAtTop();
  const isLive = currentDates().to >= dateIn(effectiveTimezone.value, Date.now());
  const tail = useTail(sharedParams(), { isHeld: isPaused || !isAtTop || isAnyOpen, isLive });
  const { first, events, hasMore, isLoadingMore, moreProblem } = tail;
  const foot = useRef<HTMLDivElement>(null);
  useKeptFocus(isLoadingMore, foot);
  const show = () => {
    tail.show();
    if (!isAtTop) mark.current?.scrollIntoView({ block: "center" });
  };
  const actions = (
    <>
      <LiveState {...{ tail, isLive, isPaused }} />
      <CheckField
        label="Show bots"
        isChecked={bots.value !== "exclude"}
        onChange={(isShown) => go({ bots: isShown ? "include" : "exclude" })}
      />
      {isLive && (
        <Button
          icon={isPaused ? "play" : "pause"}
          onClick={() => setPaused(!isPaused)}
        >
          {isPaused ? "Resume" : "Pause"}
        </Button>
      )}
      <ExportButton />
    </>
  );
  return (
    <>
      <div ref={mark} class="events-mark" />
      <Panel
        title="Events"
        definition={DEFINITION}
        actions={actions}
        state={first}
        skeletonRows={16}
        empty={first.data !== null && events.length === 0 ? <NoEvents /> : null}
      >
        <NewEvents tail={tail} onShow={show} />
        <EventsTable events={events} onOpen={setAnyOpen} />
        <div ref={foot} tabIndex={-1}>
          {hasMore && (
            <div class="table-foot">
              <Button disabled={isLoadingMore} onClick={tail.more}>
                {isLoadingMore ? "Loading…" : "Show older events"}
              </Button>
              <span class="muted">{counted(events.length, "event")} shown</span>
              <Refused problem={moreProblem} />
            </div>
          )}
        </div>
      </Panel>
    </>
  );
}
