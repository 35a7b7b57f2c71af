/** Which sessions pass, by traffic, entry and exit path: 1 at the place of each id that passes; null: all do. */
export interface SessionPasses {
  readonly traffics: Uint8Array | null;
  /** Id 0 stands for sessions without a path. */
  readonly entryPaths: Uint8Array | null;
  readonly exitPaths: Uint8Array | null;
  /** Whether events in no session pass, as they do if every filter is negative. */
  readonly passesNone: boolean;
}

export class SessionTest implements SessionPasses {
  readonly traffics: Uint8Array | null;
  readonly entryPaths: Uint8Array | null;
  readonly exitPaths: Uint8Array | null;
  readonly passesNone: boolean;

  constructor({ traffics, entryPaths, exitPaths, passesNone }: SessionPasses) {
    this.traffics = traffics;
    this.entryPaths = entryPaths;
    this.exitPaths = exitPaths;
    this.passesNone = passesNone;
  }

  /** Whether a session of this traffic, and with these paths (0: none), passes. */
  passes(traffic: number, entryPath: number, exitPath: number): boolean {
    return (this.traffics === null || this.traffics[traffic] === 1) &&
      (this.entryPaths === null || this.entryPaths[entryPath] === 1) &&
      (this.exitPaths === null || this.exitPaths[exitPath] === 1);
  }
}
