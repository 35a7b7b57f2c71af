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

interface PreparedServices {
  readonly database: Database;
  /** Null: none is configured. */
  readonly replica: Pick<Replica, "check"> | null;
  readonly config: Pick<Config, "defaultProject">;
  readonly salts: Pick<Salts, "rotateLate">;
  readonly log: Log;
  readonly now: () => number;
  readonly move: Pick<MoveState, "status"> | null;
}

const NOT_PROVISIONED =
  "nothing can be stored: the default project is as it was before this start; start again once it can";

/**
 * Returns `instead` where the disk is full or the database takes no writes, and throws other errors: a server
 * that starts there answers reads, and a job rotates the salts once they can be stored.
 */
function unlessNothingIsStored<T>(error: unknown, instead: T): T {
  if (error instanceof DiskFull || error instanceof DatabaseRefuses) return instead;
  throw error;
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
 * Migrates, and provisions the default project.
 * @throws DatabaseUnavailable (try again), SchemaTooNew or SchemaMismatch
 */
export async function prepareDatabase(
  { database, replica, config, salts, log, now, move }: PreparedServices,
  purpose: ProvisionPurpose,
): Promise<Provisioned> {
  if (move?.status === "moved") return AS_IT_WAS;
  const { applied } = await migrate(database, MIGRATIONS);
  for (const name of applied) log.info("migration applied", { name });
  if (await isHalfMoved(database)) {
    throw new SchemaMismatch(
      "This database is the target of `footfall move`, which has not come to its end. Run it again " +
        "where the embedded database is, and start here after it.",
    );
  }
  if (purpose === "serve") await checkReplica(replica, log);
  await dropEmptiedTable(database).catch((error) => unlessNothingIsStored(error, undefined));
  const provisioning = purpose === "serve"
    ? provisionDefaultProject(database, config.defaultProject, now())
    : provisionForCommand(database, config.defaultProject);
  const provisioned = await provisioning
    .catch((error) => unlessNothingIsStored(error, { ...AS_IT_WAS, warning: NOT_PROVISIONED }));
  if (provisioned.warning !== null) log.warn(provisioned.warning);
  if (purpose === "serve") {
    await normaliseSiteUrls(database).catch((error) => unlessNothingIsStored(error, undefined));
  }
  await salts.rotateLate().catch((error) => unlessNothingIsStored(error, undefined));
  if (purpose === "serve") await warnUnlessWritable(database, log);
  return provisioned;
}
