/** Checks that the goals, funnels and segments that alerts and digests name exist. */

import { listProjects } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";
import { invalidBody, type ProblemPart } from "../problem.ts";
import { listFunnels } from "../reports/funnels/saved_funnels.ts";
import { listGoals } from "../reports/saved/goal_definitions.ts";
import { listSegments } from "../reports/saved/segment_definitions.ts";
import type { AlertDefinition } from "./alert_definition.ts";
import type { AlertQuestion } from "./alert_question.ts";
import type { DigestDefinition } from "./digest_definition.ts";

type Kind = "goal" | "funnel" | "segment";

/** A slug that a definition names, and the field that names it. */
export interface NamedSlug {
  readonly kind: Kind;
  readonly slug: string;
  readonly field: string;
}

function named(kind: Kind, slug: string | null | undefined, place: string): NamedSlug[] {
  return slug === null || slug === undefined ? [] : [{ kind, slug, field: `${place}.${kind}` }];
}

function namedByQuestion({ goal, funnel, segment }: AlertQuestion, place: string): NamedSlug[] {
  return [
    ...named("goal", goal, place),
    ...named("funnel", funnel, place),
    ...named("segment", segment, place),
  ];
}

/** Returns the slugs that an alert names. */
export function namedByAlert({ on }: AlertDefinition): NamedSlug[] {
  if (on.kind === "silence") return [];
  return on.kind === "finding"
    ? named("segment", on.segment, "on")
    : namedByQuestion(on.question, "on.question");
}

/** Returns the slugs that a digest names. */
export function namedByDigest({ segment, questions }: DigestDefinition): NamedSlug[] {
  return [
    ...segment === null ? [] : [{ kind: "segment", slug: segment, field: "segment" } as const],
    ...questions.flatMap((question, i) => namedByQuestion(question, `questions.${i}`)),
  ];
}

async function slugsOf(sql: Sql, projectId: number, kind: Kind): Promise<ReadonlySet<string>> {
  const list = { goal: listGoals, funnel: listFunnels, segment: listSegments }[kind];
  const all: readonly { readonly slug: string }[] = await list(sql, projectId);
  return new Set(all.map(({ slug }) => slug));
}

/**
 * Throws `invalid_body` with every field that names what one of these projects does not have.
 * @param projects public ids
 */
export async function assertNamed(
  sql: Sql,
  wanted: readonly NamedSlug[],
  projects: readonly string[],
): Promise<void> {
  if (wanted.length === 0) return;
  const errors = new Map<string, ProblemPart>();
  for (const { projectId, name } of await listProjects(sql, projects)) {
    for (const kind of new Set(wanted.map((each) => each.kind))) {
      const known = await slugsOf(sql, projectId, kind);
      for (const { slug, field } of wanted.filter((each) => each.kind === kind)) {
        if (known.has(slug)) continue;
        const message = `${name} has no ${kind} of this slug.`;
        errors.set(field, { field, code: "invalid_value", message });
      }
    }
  }
  if (errors.size > 0) throw invalidBody([...errors.values()]);
}
