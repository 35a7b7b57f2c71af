import type { Project } from "../auth/projects.ts";
import { datesOf, type Look } from "./alert_check.ts";
import { type Message, plainLine, rangeWords } from "./message.ts";
import { viewLink } from "./view_link.ts";

/** What an alert tells of a look. `leads`: what is new; of a test what was looked at. */
export function alertMessage(
  { slug, title, project, look, leads, address, isTest }: {
    readonly slug: string;
    readonly title: string;
    readonly project: Project;
    readonly look: Look;
    readonly leads: readonly string[];
    readonly address: string;
    readonly isTest: boolean;
  },
): Message {
  const { span, figures, definition, view, filters } = look;
  const { fromMs, toMs, timezone } = span;
  const [lead = look.state, ...others] = leads;
  const name = plainLine(project.name);
  return {
    kind: "alert",
    slug,
    title,
    subject: `${isTest ? "Test: " : ""}${name}: ${plainLine(lead, 150)}`,
    isTest,
    sections: [{
      project: project.id,
      name,
      range: { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), timezone },
      when: rangeWords(fromMs, toMs, timezone),
      lead,
      figures,
      chart: null,
      rankings: [],
      findings: others,
      definition,
      url: viewLink(address, {
        view,
        project: project.id,
        ...datesOf(span),
        timezone: null,
        filters,
      }),
    }],
  };
}
