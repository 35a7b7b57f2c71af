import type { MoveState } from "../archive/move_state.ts";
import { isHalfMoved } from "../archive/move_target.ts";
import {
  AS_IT_WAS,
  provisionDefaultProject,
  type Provisioned,
  provisionForCommand,
  type ProvisionPurpose,
} from "../auth/default_project.ts";
import { normaliseSiteUrls } from "../auth/stored_site_urls.ts";
import type { Config } from "../config.ts";
import { migrate, SchemaMismatch } from "../db/migrate.ts";
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

/** What a start has done, as far as the database takes writes. */
export interface Prepared extends Provisioned {
  /** Why some of it is left for later, which a server tries again; null: nothing is. */
  readonly refusal: string | null;
}

/** A server whose database takes no writes, such as in the midst of a failover, answers reads. */
async function warnUnlessWritable(database: Database, log: Log): Promise<void> {
  await assertWritable(database).catch((error) => {
    if (!(error instanceof DatabaseRefuses)) throw error;
    log.warn("no events can be taken in", { reason: error.message });
  });
}

/** Throws SchemaMismatch where reads would be of another installation. A replica that is away may come. */
async function checkReplica(replica: Pick<Replica, "check"> | null, log: Log): Promise<void> {
  await replica?.check().catch((error) => {
    if (error instanceof ForeignReplica) throw new SchemaMismatch(`${error.message}.`);
    if (!(error instanceof ReplicaUnavailable)) throw error;
    log.warn("reads are refused until the replica answers", { reason: error.message });
  });
}

/**
 * Writes what a start has to: above all it provisions the default project. What is refused, since the disk is
 * full or the database takes no writes, is left, and does not keep the rest from being written.
 */
export async function writeAtStart(
  { database, config, salts, log, now }: WritingServices,
  purpose: ProvisionPurpose,
): Promise<Prepared> {
  let refusal: string | null = null;
  const unlessRefused = (error: unknown) => {
    if (!(error instanceof DiskFull || error instanceof DatabaseRefuses)) throw error;
    refusal ??= error.message;
    return null;
  };
  await dropEmptiedTable(database).catch(unlessRefused);
  const provisioning = purpose === "serve"
    ? provisionDefaultProject(database, config.defaultProject, now())
    : provisionForCommand(database, config.defaultProject);
  const provisioned = await provisioning.catch(unlessRefused) ?? AS_IT_WAS;
  if (provisioned.warning !== null) log.warn(provisioned.warning);
  if (purpose === "serve") await normaliseSiteUrls(database).catch(unlessRefused);
  await salts.rotateLate().catch(unlessRefused);
  return { ...provisioned, refusal };
}

/**
 * Migrates, and writes what a start has to.
 * @throws DatabaseUnavailable (try again), SchemaTooNew or SchemaMismatch
 */
export async function prepareDatabase(
  { replica, move, ...services }: PreparedServices,
  purpose: ProvisionPurpose,
): Promise<Prepared> {
  const { database, log } = services;
  if (move?.status === "moved") return { ...AS_IT_WAS, refusal: null };
  const { applied } = await migrate(database, MIGRATIONS);
  for (const name of applied) log.info("migration applied", { name });
  if (await isHalfMoved(database)) {
    throw new SchemaMismatch(
      "This database is the target of `footfall move`, which has not come to its end. Run it again " +
        "where the embedded database is, and start here after it.",
    );
  }
  if (purpose === "serve") await checkReplica(replica, log);
  const prepared = await writeAtStart(services, purpose);
  if (prepared.refusal !== null) {
    log.warn(
      "not all that a start writes is stored, such as the default project: a server goes on trying",
      {
        reason: prepared.refusal,
      },
    );
  }
  if (purpose === "serve") await warnUnlessWritable(database, log);
  return prepared;
}
