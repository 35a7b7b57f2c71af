import { pause } from "../../tests/support/server_process.ts";
import type { Attack, Field } from "./ground.ts";

async function killAgainAndAgain({ short, restart, progress }: Field): Promise<string> {
  const kills = short ? 5 : 100;
  let startMs = 0;
  for (let i = 1; i <= kills; i++) {
    // So that the users, who try again after 0.2 s, have some acknowledged in between.
    await pause(300 + Math.random() * 1_200);
    const killedAt = performance.now();
    await restart();
    startMs = Math.max(startMs, performance.now() - killedAt);
    if (i % 10 === 0) progress(`${i} kills`);
  }
  return `${kills} kills; the slowest start took ${(startMs / 1000).toFixed(1)} s`;
}

/** `kill -9` at any moment, again and again. */
export const KILL_LOOP: Attack = {
  name: "kill_loop",
  engines: ["embedded", "postgres"],
  run: killAgainAndAgain,
};
