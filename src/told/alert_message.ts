import type { Project } from "../auth/projects.ts";
import { counted } from "../number_words.ts";
import type { Look } from "./alert_check.ts";
import { type Message, plainLine, rangeWords } from "./message.ts";
import { viewLink } from "./view_link.ts";

interface AlertTold {
  readonly slug: string;
  readonly title: string;
  readonly project: Project;
  readonly look: Look;
  readonly address: string;
}

/** A message of one section: what an alert looked at, led by a sentence. */
function messageOf(
  { slug, title, project, look, address }: AlertTold,
  told: Pick<Message, "kind" | "isTest"> & { readonly lead: string; readonly prefix: string },
  others: readonly string[],
): Message {
  const { span: { fromMs, toMs, timezone }, figures, definition, place } = look;
  const { kind, isTest, lead, prefix } = told;
  const name = plainLine(project.name);
  return {
    kind,
    slug,
    title,
    subject: `${prefix}${name}: ${plainLine(lead, 150)}`,
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
      url: viewLink(address, place),
    }],
  };
}

/** What an alert tells of a look. `leads`: what is new; of a test what was looked at. */
export function alertMessage(
  { leads, isTest, ...told }: AlertTold & {
    readonly leads: readonly string[];
    readonly isTest: boolean;
  },
): Message {
  const [lead = told.look.state, ...others] = leads;
  const prefix = isTest ? "Test: " : "";
  return messageOf(told, { kind: "alert", isTest, lead, prefix }, others);
}

/** How long something held, as people say it: in minutes, hours or days. */
function lastedWords(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  const [amount, unit] = minutes < 120
    ? [minutes, "minute"]
    : minutes < 48 * 60
    ? [Math.round(minutes / 60), "hour"]
    : [Math.round(minutes / (24 * 60)), "day"];
  return counted(amount, unit);
}

/** That what an alert told of is over. `over`: what was looked at, in a sentence. */
export function recoveryMessage(
  { over, lastedMs, ...told }: AlertTold & { readonly over: string; readonly lastedMs: number },
): Message {
  const lead = `Back to normal: ${over}`;
  return messageOf(told, { kind: "recovery", isTest: false, lead, prefix: "" }, [
    `It held for ${lastedWords(lastedMs)}.`,
  ]);
}
