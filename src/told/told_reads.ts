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

/** The same reads that the API answers, asked by the server itself: a message tells what its view shows. */
export interface ToldReads {
  /** `named`: what its path names, such as the slug of a funnel. Throws Problem, as the endpoint does. */
  read<T>(
    project: Project,
    report: ToldReport,
    params: Readonly<Record<string, string>>,
    named?: Readonly<Record<string, string>>,
  ): Promise<T & ReplyFrame>;
}
