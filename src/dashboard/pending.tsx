/// <reference lib="dom" />
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { integer } from "./number_format.ts";

/** Events that the reads of the view leave out, because they are not counted yet. */
const pending = signal(0);

/** When a read that left out events is sent again. */
export const PENDING_RELOAD_MS = 3_000;

/** Notes how many events a reply leaves out. @returns whether there are any */
export function notePending(reply: unknown): boolean {
  const told = (reply as { readonly pending?: number } | null)?.pending;
  if (told === undefined) return false;
  pending.value = told;
  return told > 0;
}

/** Says that figures are about to grow; nothing where all is counted. `of`: the view, with its project. */
export function PendingNote({ of }: { of: string }) {
  useEffect(() => {
    pending.value = 0;
  }, [of]);
  const events = pending.value;
  return (
    <p class="pending-note" role="status">
      {events > 0 && `${integer(events)} ${events === 1 ? "event" : "events"} still being counted`}
    </p>
  );
}
