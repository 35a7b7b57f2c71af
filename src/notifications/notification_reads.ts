import type { Project } from "../auth/projects.ts";
import type { Span } from "../query/selection.ts";

/** The reads that messages are made of. */
export type NotificationReport =
  | "kpis"
  | "acquisition"
  | "pages"
  | "goals"
  | "insights"
  | "trends"
  | "vitals"
  | "funnel";

/** The members that every reply has besides its result. */
export interface ReplyFrame {
  readonly query: {
    readonly from: string;
    readonly to: string;
    readonly timezone: string;
    readonly semantics: string;
  } & Readonly<Record<string, unknown>>;
  readonly pending: number;
}

/** The reads of the API, called by the server itself, so that a message shows the same as its view. */
export interface NotificationReads {
  /** `named`: the parameters of the path, such as the slug of a funnel. Throws Problem, as the endpoint does. */
  read<T>(
    project: Project,
    report: NotificationReport,
    params: Readonly<Record<string, string>>,
    named?: Readonly<Record<string, string>>,
  ): Promise<T & ReplyFrame>;
  /**
   * Waits a while for the pending events that may be in a span. Returns whether some are still pending; if not,
   * later reads count all events stored by now. Events that were set aside do not count as pending, since they may
   * never be counted.
   */
  isBehind(project: Project, span: Span): Promise<boolean>;
}
