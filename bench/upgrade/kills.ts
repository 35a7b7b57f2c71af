/** When a trial kills the program: the first time as it starts, then in the middle of the move. */
import { pause, type Program } from "./program.ts";
import type { UpgradeData } from "./upgrade_data.ts";

const START_MS_MIN = 300;
const START_MS_MAX = 4_000;
const LOOK_MS = 25;
/** On the embedded engine: the first run's time behind its start, and by what the next one's may differ. */
const FIRST_RUN_MS = 500;
const RUN_GROWTH_MAX = 4;
/** Kills that fell elsewhere are repeated, so often at most. */
const TRIES_PER_KILL = 3;

export class Kills {
  /** What each found. */
  readonly told: string[] = [];
  /** Kills that came when some events had been moved, and not all of them compared. */
  inside = 0;
  readonly #data: UpgradeData;
  #runMs = FIRST_RUN_MS;
  #shareBefore = 0;

  constructor(data: UpgradeData, readonly wanted: number) {
    this.#data = data;
  }

  get areOver(): boolean {
    return this.inside >= this.wanted || this.#shareBefore === 1 ||
      this.told.length > TRIES_PER_KILL * this.wanted;
  }

  /** Resolves when the program is to be killed. */
  async due(server: Program): Promise<void> {
    if (this.told.length === 0) {
      return await pause(START_MS_MIN + Math.random() * (START_MS_MAX - START_MS_MIN));
    }
    await server.ready();
    // Nobody else can look into the embedded database while the program runs.
    if (this.#data.place.databaseUrl === null) return await pause(this.#runMs);
    const goal = this.#shareBefore + (0.5 + Math.random() / 2) * this.#step();
    let share = this.#shareBefore;
    while (share < goal) {
      await pause(LOOK_MS);
      share = this.#data.shareDone(await this.#data.left());
    }
  }

  /** Looks at what a kill has left. @returns how it is told */
  async note(): Promise<string> {
    const left = await this.#data.left();
    const share = this.#data.shareDone(left);
    const gained = share - this.#shareBefore;
    const factor = gained > 0 ? this.#step() / gained : RUN_GROWTH_MAX;
    this.#runMs *= Math.min(RUN_GROWTH_MAX, Math.max(1 / RUN_GROWTH_MAX, factor));
    this.#shareBefore = share;
    if (share > 0 && share < 1) this.inside++;
    const place = left === null
      ? "done"
      : left.isBegun
      ? `${left.moving} to move, ${left.stored} to drop`
      : "not begun";
    this.told.push(`${(100 * share).toFixed(0)} % (${place})`);
    return this.told.at(-1)!;
  }

  /** What is to be done until the next kill, so that all of them find something to do. */
  #step(): number {
    return (1 - this.#shareBefore) / (this.wanted - this.inside + 1);
  }
}
