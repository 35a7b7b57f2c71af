/// <reference lib="dom" />
import { signal } from "@preact/signals";
import { counted } from "./number_format.ts";

/** How many events each read of the view leaves out, because they are not counted yet. */
const pending = signal<ReadonlyMap<string, number>>(new Map());

/** When a read that left out events is sent again. */
export const PENDING_RELOAD_MS = 3_000;

function change(edit: (reads: Map<string, number>) => void): void {
  const reads = new Map(pending.peek());
  edit(reads);
  pending.value = reads;
}

/** Notes how many events the reply to a read leaves out. @returns whether there are any */
export function notePending(read: string, reply: unknown): boolean {
  const told = (reply as { readonly pending?: number } | null)?.pending ?? 0;
  if (told > 0 || pending.peek().has(read)) change((reads) => reads.set(read, told));
  return told > 0;
}

/** The read is shown no more. */
export function clearPending(read: string): void {
  if (pending.peek().has(read)) change((reads) => reads.delete(read));
}

/** Says that figures are about to grow; nothing where all is counted. */
export function PendingNote() {
  const events = Math.max(0, ...pending.value.values());
  return (
    <p class="pending-note" role="status">
      {events > 0 && `${counted(events, "event")} still being counted`}
    </p>
  );
}
