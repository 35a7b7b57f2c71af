import type { Project } from "../auth/projects.ts";

/** The reads that messages are made of. */
export type ToldReport =
  | "kpis"
  | "acquisition"
  | "pages"
  | "goals"
  | "insights"
  | "trends"
  | "vitals"
  | "funnel";

/** What every reply says beside its result. */
export interface ReplyFrame {
  readonly query: {
    readonly from: string;
    readonly to: string;
    readonly timezone: string;
    readonly semantics: string;
  } & Readonly<Record<string, unknown>>;
  readonly pending: number;
}

/** A span of time, as epoch milliseconds. */
export interface ReadSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The same reads that the API answers, asked by the server itself: a message tells what its view shows. */
export interface ToldReads {
  /** `named`: what its path names, such as the slug of a funnel. Throws Problem, as the endpoint does. */
  read<T>(
    project: Project,
    report: ToldReport,
    params: Readonly<Record<string, string>>,
    named?: Readonly<Record<string, string>>,
  ): Promise<T & ReplyFrame>;
  /**
   * Whether events that were stored by now, and that may lie in a span, still wait to be counted after a
   * while. Reads that are asked after it count all of them where none wait. What was set aside does not
   * wait: it may never be counted.
   */
  isBehind(project: Project, span: ReadSpan): Promise<boolean>;
}
