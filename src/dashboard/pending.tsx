/// <reference lib="dom" />
import { signal } from "@preact/signals";
import { counted } from "./number_format.ts";

/** How many events each read of the view lacks, because they are not counted yet. */
const pending = signal<ReadonlyMap<string, number>>(new Map());

/** How long until a read that lacks events is repeated. */
export const PENDING_RELOAD_MS = 3_000;

function change(edit: (reads: Map<string, number>) => void): void {
  const reads = new Map(pending.peek());
  edit(reads);
  pending.value = reads;
}

/** Notes how many events the reply to a read lacks. @returns whether there are any */
export function notePending(read: string, reply: unknown): boolean {
  const events = (reply as { readonly pending?: number } | null)?.pending ?? 0;
  if (events > 0 || pending.peek().has(read)) change((reads) => reads.set(read, events));
  return events > 0;
}

/** Forgets a read that is no longer shown. */
export function clearPending(read: string): void {
  if (pending.peek().has(read)) change((reads) => reads.delete(read));
}

/** Says how many events are still being counted; empty if none are. */
export function PendingNote() {
  const events = Math.max(0, ...pending.value.values());
  return (
    <p class="pending-note" role="status">
      {events > 0 && `${counted(events, "event")} still being counted`}
    </p>
  );
}
