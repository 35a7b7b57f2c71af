import type { Project } from "../auth/projects.ts";
import { counted } from "../number_words.ts";
import type { CheckResult } from "./alert_check.ts";
import { type Message, plainLine, rangeWords } from "./message.ts";
import { viewLink } from "./view_link.ts";

/** An alert, and the result of its check. */
interface CheckedAlert {
  readonly slug: string;
  readonly title: string;
  readonly project: Project;
  readonly result: CheckResult;
  readonly address: string;
}

/** Returns a message with one section: the result of a check, with a leading sentence. */
function messageOf(
  { slug, title, project, result, address }: CheckedAlert,
  said: Pick<Message, "kind" | "isTest"> & { readonly lead: string; readonly prefix: string },
  others: readonly string[],
): Message {
  const { span: { fromMs, toMs, timezone }, figures, definition, place } = result;
  const { kind, isTest, lead, prefix } = said;
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

/** Returns the message of a check. `leads`: sentences on new occurrences; in a test, on all. */
export function alertMessage(
  { leads, isTest, ...alert }: CheckedAlert & {
    readonly leads: readonly string[];
    readonly isTest: boolean;
  },
): Message {
  const [lead = alert.result.state, ...others] = leads;
  const prefix = isTest ? "Test: " : "";
  return messageOf(alert, { kind: "alert", isTest, lead, prefix }, others);
}

/** Returns a duration in minutes, hours or days. */
function lastedWords(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  const [amount, unit] = minutes < 120
    ? [minutes, "minute"]
    : minutes < 48 * 60
    ? [Math.round(minutes / 60), "hour"]
    : [Math.round(minutes / (24 * 60)), "day"];
  return counted(amount, unit);
}

/** Returns the message that an alert's condition has ended. `over`: the result of the check, in a sentence. */
export function recoveryMessage(
  { over, lastedMs, ...alert }: CheckedAlert & { readonly over: string; readonly lastedMs: number },
): Message {
  const lead = `Back to normal: ${over}`;
  return messageOf(alert, { kind: "recovery", isTest: false, lead, prefix: "" }, [
    `It held for ${lastedWords(lastedMs)}.`,
  ]);
}
