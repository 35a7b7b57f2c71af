import { Problem } from "../../problem.ts";
import { DAMAGE_ADVICE, damageOf } from "../../store/damage.ts";

/** Returns the error of a damaged segment or block as a Problem, any other error as it is. */
export function damageTold(error: unknown): unknown {
  const why = damageOf(error);
  if (why === null) return error;
  const detail = `${why}. ${DAMAGE_ADVICE} ` +
    "`footfall export --skip-damaged` writes everything else, and names what it leaves out.";
  return new Problem("damaged_events", detail, { cause: error });
}
