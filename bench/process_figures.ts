/** What Linux tells of processes and of the machine. */

/** Linux counts processor time in these on every architecture that Deno runs on (USER_HZ). */
const TICKS_PER_SECOND = 100;

/** `of`: a process, or a thread of one as `<pid>/task/<id>`. */
function statFields(of: number | string): string[] {
  const stat = Deno.readTextFileSync(`/proc/${of}/stat`);
  // The program's name stands in brackets and may hold spaces; after it comes field 3.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function seconds(fields: readonly string[], ...numbers: number[]): number {
  return numbers.reduce((sum, n) => sum + Number(fields[n - 3]), 0) / TICKS_PER_SECOND;
}

/** Processor time that a process has used so far, all its threads together. */
export function processCpuSeconds(pid: number | "self"): number {
  return seconds(statFields(pid), 14, 15);
}

/** The same of its main thread alone. */
export function mainThreadCpuSeconds(pid: number): number {
  return seconds(statFields(`${pid}/task/${pid}`), 14, 15);
}

/** Processor time of a process and its children, those that have ended included. */
export function treeCpuSeconds(pid: number): number {
  let sum = seconds(statFields(pid), 14, 15, 16, 17);
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = statFields(Number(name));
      if (Number(fields[1]) === pid) sum += seconds(fields, 14, 15);
    } catch {
      // It has ended meanwhile, and now counts among its parent's.
    }
  }
  return sum;
}

/** The most memory that a process has had resident, in bytes. */
export function peakMemoryBytes(pid: number): number {
  return statusBytes(pid, "VmHWM");
}

/** The memory that a process has resident, in bytes. */
export function residentMemoryBytes(pid: number): number {
  return statusBytes(pid, "VmRSS");
}

function statusBytes(pid: number, field: "VmHWM" | "VmRSS"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
}

/** One line that names what the figures were measured on. */
export function machineLine(databaseVersion: string): string {
  const model = /^model name\s*:\s*(.*)$/m.exec(Deno.readTextFileSync("/proc/cpuinfo"))?.[1];
  const memoryGib = Math.round(Deno.systemMemoryInfo().total / 2 ** 30);
  return `${model ?? Deno.build.arch}, ${navigator.hardwareConcurrency} cores, ${memoryGib} GiB; ` +
    `PostgreSQL ${databaseVersion}, Deno ${Deno.version.deno}`;
}

/** How many processes wanted to run, on average over the last minute. */
export function loadLastMinute(): number {
  return Deno.loadavg()[0] ?? NaN;
}
