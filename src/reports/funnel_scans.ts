import type { EventMatch } from "../selection/filters.ts";
import {
  anyFactConditions,
  factConditions,
  type Scope,
  type Span,
} from "../selection/selection.ts";
import type { SqlParams } from "../selection/sql_params.ts";
import { withoutUnnamed } from "../selection/technical.ts";
import { type FunnelDefinition, windowMsOf } from "./funnel_definition.ts";

/** A funnel, and where and when it is looked for. */
export interface FunnelQuestion {
  readonly definition: FunnelDefinition;
  readonly scope: Scope;
  /** The range: who enters in it, enters the funnel. */
  readonly span: Span;
  readonly asOfMs: number;
}

/** From the first possible entry to where the window of the last one ends. */
export function reachOf({ definition, span }: FunnelQuestion): Span {
  return { fromMs: span.fromMs, toMs: span.toMs + windowMsOf(definition) };
}

/**
 * Conditions on facts (alias f) for what a funnel looks at. Values are added to the parameters when a
 * condition is first asked for, and once: it may stand in a statement as often as needed.
 */
export class FunnelScans {
  readonly #known = new Map<string, string>();
  readonly #reach: Span;

  constructor(readonly params: SqlParams, readonly question: FunnelQuestion) {
    this.#reach = reachOf(question);
  }

  /** Of the first step, in the range. */
  get entry(): string {
    return this.#conditions("entry", this.question.span, this.question.definition.steps[0]);
  }

  /** Of step k, the first being 1, in all the time that an attempt may take. */
  step(k: number): string {
    return this.#conditions(`step ${k}`, this.#reach, this.question.definition.steps[k - 1]);
  }

  /** Of each exclusion, in all that time. */
  get excluded(): string[] {
    return this.question.definition.exclude.map((match, i) =>
      this.#conditions(`excluded ${i}`, this.#reach, match)
    );
  }

  /** Of any event, in all that time: of technical ones, those that a step names. */
  get any(): string {
    const { scope, definition: { steps } } = this.question;
    const looked = { ...scope, filters: withoutUnnamed(scope.filters, steps) };
    return this.#remembered("any", () => anyFactConditions(this.params, looked, this.#reach));
  }

  #conditions(key: string, span: Span, match?: EventMatch): string {
    const { params, question: { scope } } = this;
    return this.#remembered(key, () => factConditions(params, scope, span, match));
  }

  #remembered(key: string, make: () => string): string {
    let conditions = this.#known.get(key);
    if (conditions === undefined) this.#known.set(key, conditions = make());
    return conditions;
  }
}
