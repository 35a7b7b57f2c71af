import type { MoveState } from "../archive/move_state.ts";
import { isHalfMoved } from "../archive/move_target.ts";
import {
  provisionDefaultProject,
  type Provisioned,
  provisionForCommand,
  type ProvisionPurpose,
  UNCHANGED,
} from "../auth/default_project.ts";
import { normaliseSiteUrls } from "../auth/stored_site_urls.ts";
import type { Config } from "../config/config.ts";
import { LOCK_PATIENCE, type LockWait, migrate, SchemaMismatch, waitWords } from "../db/migrate.ts";
import { MIGRATIONS } from "../db/migrations.ts";
import {
  type Database,
  DatabaseRefuses,
  DiskFull,
  ForeignReplica,
  ReplicaUnavailable,
} from "../db/sql.ts";
import { assertWritable } from "../db/writable.ts";
import type { Log } from "../http/log.ts";
import type { Salts } from "../ingest/salts.ts";
import type { Replica } from "../reports/answer/replica.ts";
import { dropEmptiedTable } from "../upgrade/earlier_projects.ts";
import { isMistake } from "../start_mistake.ts";

interface WritingServices {
  readonly database: Database;
  readonly config: Pick<Config, "defaultProject">;
  readonly salts: Pick<Salts, "rotateLate">;
  readonly log: Log;
  readonly now: () => number;
}

interface PreparedServices extends WritingServices {
  /** Null: none is configured. */
  readonly replica: Pick<Replica, "check"> | null;
  readonly move: Pick<MoveState, "status"> | null;
}

/** What a start has written. */
export interface Prepared extends Provisioned {
  /** What could not be written; null: nothing. */
  readonly left: Left | null;
}

/** The parts that a start must write and could not. */
export interface Left {
  /** Their names, for the log. */
  readonly what: string;
  /** Why the first of them could not be written. */
  readonly reason: string;
  /** Tries to write only these parts again. Throws errors for which `isMistake` is true. */
  write(): Promise<Prepared>;
}

interface Part {
  readonly what: string;
  readonly write: () => Promise<Provisioned | undefined>;
}

/** Warns if the database refuses writes, such as during a failover; the server still answers reads. */
async function warnUnlessWritable(database: Database, log: Log): Promise<void> {
  await assertWritable(database).catch((error) => {
    if (!(error instanceof DatabaseRefuses)) throw error;
    log.warn("the database refuses what the server has to write", { reason: error.message });
  });
}

/** Throws SchemaMismatch if the replica is of another installation; only warns if it is unavailable. */
async function checkReplica(replica: Pick<Replica, "check"> | null, log: Log): Promise<void> {
  await replica?.check().catch((error) => {
    if (error instanceof ForeignReplica) throw new SchemaMismatch(`${error.message}.`);
    if (!(error instanceof ReplicaUnavailable)) throw error;
    log.warn("reads are refused until the replica answers", { reason: error.message });
  });
}

/** Writes each part. Those that fail with an error for which `mayLeave` is true are left for a later attempt. */
async function writeParts(
  parts: readonly Part[],
  mayLeave: (error: unknown) => boolean,
): Promise<Prepared> {
  let provisioned = UNCHANGED;
  let reason = "";
  const left: Part[] = [];
  for (const part of parts) {
    try {
      provisioned = await part.write() ?? provisioned;
    } catch (error) {
      // Nor does another error fail the start once a project is made: its new keys must be printed, and the
      // next start would not know them.
      const isLeft = mayLeave(error) || provisioned !== UNCHANGED && !isMistake(error);
      if (!isLeft) throw error;
      reason ||= error instanceof Error ? error.message : String(error);
      left.push(part);
    }
  }
  if (left.length === 0) return { ...provisioned, left: null };
  const what = left.map((part) => part.what).join(", ");
  const write = () => writeParts(left, (error) => !isMistake(error));
  return { ...provisioned, left: { what, reason, write } };
}

/** Writes what a start must write. What a full disk or a read-only database refuses is left. */
async function writeAtStart(
  { database, config, salts, log, now }: WritingServices,
  purpose: ProvisionPurpose,
): Promise<Prepared> {
  const provision = async () => {
    const provisioned = purpose === "serve"
      ? await provisionDefaultProject(database, config.defaultProject, now())
      : await provisionForCommand(database, config.defaultProject);
    if (provisioned.warning !== null) log.warn(provisioned.warning);
    return provisioned;
  };
  const siteUrls = {
    what: "site URLs",
    write: async () => void await normaliseSiteUrls(database),
  };
  const parts: readonly Part[] = [
    { what: "an upgrade's end", write: async () => void await dropEmptiedTable(database) },
    { what: "the default project", write: provision },
    ...(purpose === "serve" ? [siteUrls] : []),
    { what: "the deletion of old salts", write: async () => void await salts.rotateLate() },
  ];
  const isRefusal = (error: unknown) =>
    error instanceof DiskFull || error instanceof DatabaseRefuses;
  return await writeParts(parts, isRefusal);
}

/**
 * Migrates, and writes what a start must write.
 * @throws DatabaseUnavailable (try again), SchemaTooNew or SchemaMismatch
 */
export async function prepareDatabase(
  { replica, move, ...services }: PreparedServices,
  purpose: ProvisionPurpose,
): Promise<Prepared> {
  const { database, log } = services;
  if (move?.status === "moved") return { ...UNCHANGED, left: null };
  const onWait = (wait: LockWait) => log.warn(...waitWords(wait));
  const { applied } = await migrate(database, MIGRATIONS, { ...LOCK_PATIENCE, onWait });
  for (const name of applied) log.info("migration applied", { name });
  if (await isHalfMoved(database)) {
    throw new SchemaMismatch(
      "This database is the target of `footfall move`, which has not come to its end. Run it again " +
        "where the embedded database is, and start here after it.",
    );
  }
  if (purpose === "serve") await checkReplica(replica, log);
  const prepared = await writeAtStart(services, purpose);
  if (purpose === "command") return prepared;
  if (prepared.left !== null) {
    const { what: left, reason } = prepared.left;
    log.warn("not all that a start writes is stored: the server goes on trying", { left, reason });
  }
  await warnUnlessWritable(database, log);
  return prepared;
}
