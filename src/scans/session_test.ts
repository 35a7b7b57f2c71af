/** Which sessions pass, by where they came from, began and ended: 1 at the place of each id. Null: all do. */
export interface SessionPasses {
  readonly traffics: Uint8Array | null;
  /** Sessions without a path have that of id 0. */
  readonly entryPaths: Uint8Array | null;
  readonly exitPaths: Uint8Array | null;
  /** Whether what is in no session passes: it is nothing of what is wanted, and nothing of what is not. */
  readonly passesNone: boolean;
}

/** Tests sessions. */
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
