import { arrayLiteral } from "./sql.ts";

/** The most projects that are remembered. */
const PROJECTS_MAX = 1_000;

/**
 * Which projects were served last, by this process: of several that wait, the one that was served longest ago has
 * its turn, however many others have work.
 */
export class ServedProjects {
  readonly #ids = new Set<number>();

  note(projectId: number): void {
    this.#ids.delete(projectId);
    this.#ids.add(projectId);
    if (this.#ids.size > PROJECTS_MAX) this.#ids.delete(this.#ids.values().next().value!);
  }

  /** What to order by: how many of the projects that a query returns are the row's `project_id`. */
  static underWay(query: string): string {
    return `cardinality(array_positions(ARRAY(${query}), project_id))`;
  }

  /** What to order by: `project_id` by its turn. `param`: the parameter that is `literal`, such as `$1`. */
  static turn(param: string): string {
    return `coalesce(array_position(${param}::text::int[], project_id), 0)`;
  }

  get literal(): string {
    return arrayLiteral([...this.#ids]);
  }
}
