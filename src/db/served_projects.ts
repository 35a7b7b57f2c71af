import { arrayLiteral } from "./sql.ts";

/** The most projects that are remembered. */
const PROJECTS_MAX = 1_000;

/**
 * The projects that this process has served last. Of several that wait, the one that was served longest ago is next,
 * however much work others have.
 */
export class ServedProjects {
  readonly #ids = new Set<number>();

  note(projectId: number): void {
    this.#ids.delete(projectId);
    this.#ids.add(projectId);
    if (this.#ids.size > PROJECTS_MAX) this.#ids.delete(this.#ids.values().next().value!);
  }

  /** Returns an expression to order by: how many rows of a query of project ids have the row's `project_id`. */
  static underWay(query: string): string {
    return `cardinality(array_positions(ARRAY(${query}), project_id))`;
  }

  /** Returns an expression to order by: the turn of `project_id`. `param`: the parameter for `literal`, such as `$1`. */
  static turn(param: string): string {
    return `coalesce(array_position(${param}::text::int[], project_id), 0)`;
  }

  get literal(): string {
    return arrayLiteral([...this.#ids]);
  }
}
