import type { Read } from "../../scans/read.ts";
import { BLOCK_HEAD_BYTES } from "../../store/journal_block.ts";
import { decodeKept, type KeptJournalBlock } from "../../store/journal_events.ts";

/** What a read of the journal keeps its decoded blocks in. */
export type KeptBlocksSource = Pick<Read, "scope" | "journalBlocks">;

/** The SQL of the first bytes of a row's `block`, which any other content has otherwise. */
export const BLOCK_HEAD = `substring(block FROM 1 FOR ${BLOCK_HEAD_BYTES})`;

const keyOf = (projectId: number, journalId: number) => `${projectId} ${journalId}`;

/** Returns the block of a row, if it is kept. A row whose events were erased has another block, with another head. */
export function keptOf(
  { journalBlocks, scope: { projectId } }: KeptBlocksSource,
  journalId: number,
  head: string,
): KeptJournalBlock | null {
  const kept = journalBlocks?.get(keyOf(projectId, journalId));
  return kept?.head === head ? kept : null;
}

/** Returns those `count` kept blocks of the project that end nearest to a moment, by the number of their row. */
export function keptNear(
  { journalBlocks, scope: { projectId } }: KeptBlocksSource,
  ms: number,
  count: number,
): Map<number, KeptJournalBlock> {
  const kept: [journalId: number, block: KeptJournalBlock][] = [];
  for (const [key, block] of journalBlocks?.entries() ?? []) {
    const [project, journalId] = key.split(" ").map(Number);
    if (project === projectId) kept.push([journalId!, block]);
  }
  const distance = ({ toMs }: KeptJournalBlock) => Math.abs(toMs - ms);
  return new Map(kept.sort(([, a], [, b]) => distance(a) - distance(b)).slice(0, count));
}

/** Notes that the block of a row was used, which keeps it. */
export function keep(
  { journalBlocks, scope: { projectId } }: KeptBlocksSource,
  journalId: number,
  block: KeptJournalBlock,
): void {
  journalBlocks?.set(keyOf(projectId, journalId), block);
}

/** Decodes the block of a row, and keeps it. Throws UnreadableBlock. */
export function decodeAndKeep(
  source: KeptBlocksSource,
  journalId: number,
  block: Uint8Array,
): KeptJournalBlock {
  const decoded = decodeKept(block);
  keep(source, journalId, decoded);
  return decoded;
}
