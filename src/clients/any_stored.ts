import { Problem } from "../problem.ts";
import type { ClientOutcome } from "./client_event.ts";

/** Throws `invalid_events` (400) if there were events and none could be stored. */
export function assertAnyStored({ accepted, rejected }: ClientOutcome): void {
  if (accepted > 0 || rejected.length === 0) return;
  throw new Problem("invalid_events", "No event of this batch can be stored; see `errors`.", {
    errors: rejected,
  });
}
