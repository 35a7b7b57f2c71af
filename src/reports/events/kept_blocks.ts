import type { Read } from "../../scans/read.ts";
import { BLOCK_HEAD_BYTES } from "../../store/journal_block.ts";
import { decodeKept, type KeptJournalBlock } from "../../store/journal_events.ts";

/** What a read of the journal keeps its decoded blocks in. */
export type KeptBlocksSource = Pick<Read, "scope" | "journalBlocks">;

/** The SQL of the first bytes of a row's `block`, which any other content has otherwise. */
export const BLOCK_HEAD = `substring(block FROM 1 FOR ${BLOCK_HEAD_BYTES})`;

/** Returns the block of a row, if it is kept. A row whose events were erased has another block, with another head. */
export function keptOf(
  { journalBlocks, scope: { projectId } }: KeptBlocksSource,
  journalId: number,
  head: string,
): KeptJournalBlock | null {
  const kept = journalBlocks?.get(projectId, journalId);
  return kept?.head === head ? kept : null;
}

/** Returns the block of a row that was fetched: the kept one, or decodes it and keeps it. Throws UnreadableBlock. */
export function decodedBlock(
  source: KeptBlocksSource,
  journalId: number,
  block: Uint8Array,
): KeptJournalBlock {
  const kept = keptOf(source, journalId, block.subarray(0, BLOCK_HEAD_BYTES).toHex());
  if (kept !== null) return kept;
  const { journalBlocks, scope: { projectId } } = source;
  const decoded = decodeKept(block);
  journalBlocks?.set(projectId, journalId, decoded);
  return decoded;
}
