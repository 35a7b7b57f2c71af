/** What Linux tells of the browser's processes, found by the folder that they all name. */
const TICKS_PER_SECOND = 100;

interface Figures {
  readonly bytes: number;
  readonly cpuSeconds: number;
}

function figuresOf(pid: number | "self"): Figures {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const smaps = Deno.readTextFileSync(`/proc/${pid}/smaps_rollup`);
  // Proportional: pages that processes share count once in all.
  const kib = Number(/^Pss:\s+(\d+) kB$/m.exec(smaps)?.[1] ?? 0);
  return {
    bytes: kib * 1024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  };
}

/** The browser that has its profile below `folder`, and this process as the server. */
export class BrowserTree {
  peakBrowserBytes = 0;
  peakServerBytes = 0;
  /** Processor time by process: those that have ended keep the last that was seen. */
  readonly #cpu = new Map<number, number>();

  constructor(readonly folder: string) {}

  /** Looks at all of them. @returns bytes resident in all */
  sample(): number {
    let browserBytes = 0;
    for (const { name } of Deno.readDirSync("/proc")) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || pid === Deno.pid) continue;
      try {
        if (!Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(this.folder)) continue;
        const { bytes, cpuSeconds } = figuresOf(pid);
        browserBytes += bytes;
        this.#cpu.set(pid, cpuSeconds);
      } catch {
        // It has ended meanwhile.
      }
    }
    const serverBytes = figuresOf("self").bytes;
    this.peakBrowserBytes = Math.max(this.peakBrowserBytes, browserBytes);
    this.peakServerBytes = Math.max(this.peakServerBytes, serverBytes);
    return browserBytes + serverBytes;
  }

  /** Processor time so far of the browser's processes that were seen, and of this one. */
  cpuSeconds(): number {
    this.sample();
    return [...this.#cpu.values()].reduce((sum, seconds) => sum + seconds, 0) +
      figuresOf("self").cpuSeconds;
  }
}
