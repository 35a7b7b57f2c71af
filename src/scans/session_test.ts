import type { ScannedSession } from "./session_scan.ts";

/** Which sessions pass, by traffic, entry and exit path: 1 at the place of each id that passes; null: all do. */
export interface SessionPasses {
  readonly traffics: Uint8Array | null;
  /** Id 0 stands for sessions without a path. */
  readonly entryPaths: Uint8Array | null;
  readonly exitPaths: Uint8Array | null;
  /** Whether events in no session pass, as they do if every filter is negative. */
  readonly passesNone: boolean;
}

/** Whether a session passes; what is in no session (traffic 0) does not. */
export function passesSession(
  { traffics, entryPaths, exitPaths }: SessionPasses,
  session: Pick<ScannedSession, "hasOwn" | "traffic" | "entryPath" | "exitPath">,
): boolean {
  return session.hasOwn && (traffics === null || traffics[session.traffic] === 1) &&
    (entryPaths === null || entryPaths[session.entryPath] === 1) &&
    (exitPaths === null || exitPaths[session.exitPath] === 1);
}
