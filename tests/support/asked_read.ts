import type { Answer, Report } from "../../src/reports/answer/report.ts";
import type { Read } from "../../src/scans/read.ts";

/** A read, and the parameters from which a report takes its own. */
export interface AskedRead extends Read {
  readonly query: URLSearchParams;
  readonly params?: Readonly<Record<string, string>>;
}

/** What the report answers, once its own parameters are read as the endpoint reads them. */
export async function answerAsked(
  report: Report,
  { query, params = {}, ...read }: AskedRead,
): Promise<Answer> {
  const question = report.ask(query, params);
  question.refuse?.(read);
  const { comparison = () => read.comparison } = question;
  return await question.answer({ ...read, comparison: comparison(read) });
}
