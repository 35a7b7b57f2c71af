/// <reference lib="dom" />
import type { RefObject } from "preact";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { counted, integer } from "../number_format.ts";
import type { Counted, Refusal } from "../../importers/import_summary.ts";
import type { MappingNote } from "../../importers/source.ts";
import type { FileImport } from "./settings_import_reply.ts";

const NAMES: readonly Column<Counted>[] = [
  { title: "Event", value: ({ what }) => what },
  numberColumn("Times", ({ count }) => count),
];

const REFUSALS: readonly Column<Refusal>[] = [
  { title: "Line", value: ({ line }) => line, isNumber: true },
  { title: "Why", value: ({ message }) => message, show: ({ message }) => wrapped(message) },
  { title: "File", value: ({ file }) => file, show: ({ file }) => wrapped(file), isMinor: true },
];

const wrapped = (text: string) => <span class="import-cell">{text}</span>;
/** Text of the manual without its Markdown. */
const plain = (text: string) => text.replaceAll("`", "").replaceAll("*", "");

const NOTES: readonly Column<MappingNote>[] = [
  { title: "There", value: ({ theirs }) => theirs, show: ({ theirs }) => wrapped(plain(theirs)) },
  {
    title: "Here",
    value: ({ ours }) => ours,
    show: ({ ours }) => wrapped(ours === null ? "not imported" : plain(ours)),
  },
  {
    title: "How",
    value: ({ how }) => how,
    show: ({ how }) => wrapped(plain(how ?? "")),
    isMinor: true,
  },
];

function daysText({ days }: FileImport): string {
  if (days === null) return "";
  return days.first === days.last ? ` of ${days.first}` : ` from ${days.first} to ${days.last}`;
}

/** What would be imported, or was, in one sentence. */
function summaryText(found: FileImport): string {
  const stored = found.known === 0 ? "" : ` ${integer(found.known)} of them were stored before.`;
  const what = `${counted(found.events, "event")}${daysText(found)}`;
  if (!found.dryRun) return `Imported: ${what}.${stored}`;
  if (found.events === 0) return `This is a file of ${found.title}, without an event to import.`;
  return `This is a file of ${found.title} with ${what}.${stored} Nothing is stored yet.`;
}

function LeftOut({ leftOut }: FileImport) {
  if (leftOut.length === 0) return null;
  const list = leftOut.map(({ what, count }) => `${integer(count)} ${what}`).join(", ");
  return <p class="muted">Left out: {list}.</p>;
}

interface FoundProps {
  readonly found: FileImport;
  readonly summary: RefObject<HTMLParagraphElement | null>;
}

/** The outcome of a dry run or an import. */
export function Found({ found, summary }: FoundProps) {
  const { refused, refusals, names, notes, sample } = found;
  return (
    <div class="settings-found">
      <p ref={summary} tabIndex={-1} role="status">
        <strong>{summaryText(found)}</strong>
      </p>
      <LeftOut {...found} />
      {names.length > 0 && <DataTable caption="Events by name" columns={NAMES} rows={names} />}
      {refused > 0 && (
        <DataTable
          caption={`${integer(refused)} refused${
            refused > refusals.length ? `, the first ${refusals.length}` : ""
          }`}
          isCaptionShown
          columns={REFUSALS}
          rows={refusals}
        />
      )}
      {found.dryRun && (
        <>
          <details>
            <summary>What becomes of what</summary>
            <DataTable caption="What becomes of what" columns={NOTES} rows={notes} />
          </details>
          {sample.length > 0 && (
            <details>
              <summary>Sample</summary>
              <pre class="code" tabIndex={0}>{JSON.stringify(sample, null, 2)}</pre>
            </details>
          )}
        </>
      )}
    </div>
  );
}
