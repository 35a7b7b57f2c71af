/** A range of a job: of timelines, or of blocks, of the segment with this place. `to` is exclusive. */
export interface TaskRange {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

/** One thread's share of a job. */
export interface PoolWork {
  run(range: TaskRange): void;
  result(): unknown;
}

/** Work that a pool divides among its threads. */
export interface PoolJob<Order> {
  /** Makes the order, which all tasks share: it is sent to each worker once. Not called for work in place. */
  readonly orderSent: () => Order;
  /** All that there is to do, in ranges of about `CUT_EVENTS` events at most. */
  readonly ranges: readonly TaskRange[];
  /** About how many events these are: a few are not worth sending to workers. */
  readonly events: number;
  /** Opens the job on this thread. */
  readonly open: () => PoolWork;
  readonly merge: (a: unknown, b: unknown) => unknown;
}

/** Joins neighbouring ranges of a segment, at most `countMax` into one. */
export function* joinedRanges(
  ranges: readonly TaskRange[],
  countMax: number,
): Generator<TaskRange> {
  for (let i = 0; i < ranges.length;) {
    const { segment, from } = ranges[i]!;
    let end = i + 1;
    while (end < ranges.length && end < i + countMax && ranges[end]!.segment === segment) end++;
    yield { segment, from, to: ranges[end - 1]!.to };
    i = end;
  }
}

/**
 * Takes the first range of the next task; the rest stays a task. Null: there is none.
 * @param endOf where each range ends, by its segment and start
 */
export function nextPiece(
  tasks: TaskRange[],
  endOf: ReadonlyMap<string, number>,
): TaskRange | null {
  const task = tasks.pop();
  if (task === undefined) return null;
  const to = Math.min(task.to, endOf.get(`${task.segment} ${task.from}`) ?? task.to);
  if (to < task.to) tasks.push({ ...task, from: to });
  return { ...task, to };
}

/** Cuts a range into pieces of at most `lengthMax` timelines. */
export function* piecesOf(
  { segment, from, to }: TaskRange,
  lengthMax: number,
): Generator<TaskRange> {
  for (let at = from; at < to; at += lengthMax) {
    yield { segment, from: at, to: Math.min(to, at + lengthMax) };
  }
}
