/**
 * Runs before the program: each SIGUSR2 turns its clock back by an hour, each SIGUSR1 sets it a day
 * ahead. Timers go on as they do.
 */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RealDate = Date;
const realNow = Date.now;
let offsetMs = 0;

const now = () => realNow() + offsetMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (_, given) =>
    given.length === 0 ? new RealDate(now()) : Reflect.construct(RealDate, given),
  get: (_, name) => name === "now" ? now : Reflect.get(RealDate, name),
});
Deno.addSignalListener("SIGUSR2", () => offsetMs -= HOUR_MS);
Deno.addSignalListener("SIGUSR1", () => offsetMs += DAY_MS);
