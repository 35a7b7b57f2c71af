import { type Prepared, prepareDatabase } from "./prepare_database.ts";
import { guarded } from "./guarded_access.ts";
import { MoveState } from "../archive/move_state.ts";
import { createMail } from "../mail/mail.ts";
import { createKeyDirectory } from "../auth/keys.ts";
import { withSiteKeys } from "../auth/site_keys.ts";
import { makeLink } from "../auth/people/links.ts";
import { ownerExists } from "../auth/people/people.ts";
import type { ProvisionPurpose } from "../auth/default_project.ts";
import { randomText } from "../auth/random_text.ts";
import { watchRevocations } from "../auth/revocation_watch.ts";
import {
  type CaptureSchedule,
  createCaptureSchedule,
} from "../screenshots/queue/capture_schedule.ts";
import { type Captures, createCaptures } from "../screenshots/queue/captures.ts";
import { createLazyPageCamera } from "../screenshots/queue/lazy_page_camera.ts";
import type { PageCamera } from "../screenshots/browser/page_screenshot.ts";
import type { Config } from "../config/config.ts";
import { DISK_STATUSES, diskMessage, type DiskReading, type DiskSpace } from "../db/disk_space.ts";
import { openReadDatabase, openReplicaChecks, openWriteDatabase } from "../db/open.ts";
import type { Database } from "../db/sql.ts";
import { SegmentCache } from "../timelines/segment_cache.ts";
import { BodyBudget } from "../http/body_budget.ts";
import { createClientAddress } from "../http/client_address.ts";
import { createMetricsAccess } from "../http/metrics_access.ts";
import { createCors } from "../http/cors.ts";
import type { Log } from "../http/log.ts";
import { RateLimit } from "../http/rate_limit.ts";
import { createRouter } from "../http/router.ts";
import { type Geo, openGeo } from "../ingest/geo.ts";
import { createSalts } from "../ingest/salts.ts";
import { createAgentReader } from "../ingest/user_agent.ts";
import { createVisitorHasher } from "../ingest/visitor_hash.ts";
import { Writer } from "../ingest/writer.ts";
import { createAccess, createPeerOf } from "./access_services.ts";
import type { DocumentedRoute } from "./documented_route.ts";
import { InFlight } from "./in_flight.ts";
import { scheduleJobs } from "./jobs.ts";
import { SHUTDOWN_NOTIFICATIONS_MS_MAX } from "../notifications/notification_limits.ts";
import { CAPTURE_PATIENCE_MS } from "../screenshots/capture_limits.ts";
import {
  BODIES_IN_FLIGHT_BYTES_MAX,
  FLUSHES_AT_ONCE_EMBEDDED,
  FLUSHES_AT_ONCE_POSTGRES,
  KEYS_CACHED_MAX,
  RETRY_AFTER_S,
  SHUTDOWN_CAPTURES_MS_MAX,
  SHUTDOWN_GRACE_MS,
  SHUTDOWN_PROJECTION_MS_MAX,
} from "../limits.ts";
import { type DiskGauges, Metrics } from "./metrics.ts";
import { LIVE } from "../reports/live/live.ts";
import { LiveFeed } from "../reports/live/live_feed.ts";
import { getReport } from "../reports/answer/report_endpoint.ts";
import { warmUpReads } from "./warm_up.ts";
import { createScanPool } from "./scan_workers.ts";
import { createRoutes, type Services } from "./routes.ts";
import { createNotifications } from "../notifications/notifications.ts";
import { createNotificationReads } from "./notification_reads.ts";
import { EarlierEvents } from "../upgrade/earlier_events.ts";
import { erasePerson, movePerson } from "../upgrade/earlier_people.ts";
import { ProjectionThread } from "../projection/projection_thread.ts";
import { createReplica } from "../reports/answer/replica.ts";

export interface App {
  /** Answers one request. `peer` is the address of the socket's peer. */
  fetch(request: Request, peer: string | null): Promise<Response>;
  /**
   * Migrates the database and provisions the default project; a command makes it only if there is no project.
   * Throws DatabaseUnavailable (try again), SchemaTooNew or SchemaMismatch.
   */
  prepare(purpose: ProvisionPurpose): Promise<Prepared>;
  /** A token that may do everything; valid only in this process, until it ends. */
  readonly controlToken: string;
  /** All routes, with the access that each needs. */
  readonly routes: readonly Pick<DocumentedRoute, "method" | "path" | "access">[];
  /** Whether people sign in here; false if an identity provider issues the tokens. */
  readonly signsIn: boolean;
  /** Makes a set-up link. @returns the text after `#setup=`; null if there is an owner already */
  makeSetUpLink(): Promise<string | null>;
  /** Sends the digests and alerts that are due; a job does this every minute. */
  runDue(): Promise<void>;
  /** Starts the recurring jobs, which run until `stop`. */
  startJobs(): void;
  /**
   * Starts taking the requested captures, until `stop`. For commands only, as a server's `startJobs` does it too.
   * On PostgreSQL it waits first, because servers that may run there should take the requests.
   */
  startCaptures(): void;
  /** Refuses new requests, answers running ones, flushes, and closes the database. */
  stop(): Promise<void>;
  readonly engine: Database["engine"];
}

/** Replacements for parts that the app would make itself. */
export interface Substitutes {
  readonly pageCamera?: PageCamera;
  /** The database to write to, if its opening has already begun. */
  readonly opening?: Promise<Database>;
  readonly now?: () => number;
}

interface State {
  prepared: boolean;
  draining: boolean;
}

const pause = (ms: number) =>
  new Promise<void>((resolve) => Deno.unrefTimer(setTimeout(resolve, ms)));

/** Logs the state of the disk now, if it is not good, and whenever it changes. Returns its metrics. */
function watchDisk(disk: DiskSpace | undefined, log: Log): { disk?: DiskGauges } {
  if (disk === undefined) return {};
  const say = (reading: DiskReading) => {
    const { status, freeBytes, totalBytes } = reading;
    log[status === "ok" ? "info" : "warn"](diskMessage(reading), { freeBytes, totalBytes });
  };
  disk.onChange(say);
  if (disk.reading.status !== "ok") say(disk.reading);
  const level = () => DISK_STATUSES.indexOf(disk.reading.status);
  return { disk: { freeBytes: () => disk.reading.freeBytes, level } };
}

const randomBytes = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));

async function openBoth(
  config: Config,
  log: Log,
  opening = openWriteDatabase(config, log),
): Promise<[Geo, Database]> {
  try {
    return await Promise.all([openGeo(config.geoDatabase), opening]);
  } catch (error) {
    await opening.then((database) => database.close(), () => {});
    throw error;
  }
}

function rateLimitOf({ rateLimitEventsPerSecond: perSecond }: Config): RateLimit | null {
  return perSecond === null
    ? null
    : new RateLimit(perSecond, KEYS_CACHED_MAX, () => performance.now());
}

async function openMove(
  { dataDir }: Config,
  database: Database,
  log: Log,
): Promise<MoveState | null> {
  return database.engine === "embedded" ? await MoveState.open(dataDir, database, log) : null;
}

type Made = Omit<Services, "captureJobs" | "captureReading" | "notifications"> & {
  readonly projection: ProjectionThread;
  readonly replicaChecks: Database | null;
};

async function createServices(
  config: Config,
  log: Log,
  state: State,
  controlToken: string,
  { opening, now = Date.now }: Substitutes,
): Promise<Made> {
  const [geo, database] = await openBoth(config, log, opening);
  const salts = createSalts(database, now, randomBytes);
  const budget = new BodyBudget(BODIES_IN_FLIGHT_BYTES_MAX, RETRY_AFTER_S);
  const writer: Writer = new Writer(database, {
    flushesAtOnce: database.engine === "postgres"
      ? FLUSHES_AT_ONCE_POSTGRES
      : FLUSHES_AT_ONCE_EMBEDDED,
    observe: (flush) => metrics.flush(flush),
  });
  const metrics = new Metrics({
    queueDepth: () => writer.depth,
    bodyBytes: () => budget.bytesInAll,
    ...watchDisk(database.disk, log),
  });
  const clientAddress = createClientAddress(config.trustedProxies);
  const readAgent = createAgentReader();
  const parts = { config, sql: database, now, controlToken, clientAddress, geo, readAgent };
  const access = createAccess(parts);
  const reads = await openReadDatabase(config, database, log);
  const projection = new ProjectionThread(database, config.databaseUrl, {
    log,
    observeFailure: (cause) => metrics.projectionFailure(cause),
    isStopping: () => state.draining,
  });
  const segments = new SegmentCache(config.readCacheBytes);
  const pool = createScanPool(config.scanWorkers);
  const replicaChecks = await openReplicaChecks(config);
  const replica = replicaChecks && createReplica(database, replicaChecks);
  const { readTimeoutMs } = config;
  const reading = { reads, replica, projection, segments, pool, readTimeoutMs };
  return {
    config,
    log,
    database,
    state,
    move: await openMove(config, database, log),
    salts,
    budget,
    writer,
    metrics,
    ...access,
    peerOf: createPeerOf(access.authorize),
    keys: withSiteKeys(createKeyDirectory(database, { now, log }), database, { now, log }),
    mail: config.mail === null ? null : createMail(config.mail, log),
    enrichment: {
      readAgent,
      geo,
      hasher: createVisitorHasher((day) => salts.saltFor(day)),
    },
    rateLimit: rateLimitOf(config),
    ...reading,
    replicaChecks,
    movePerson: (projectId, id) => movePerson(database, projectId, id),
    erase: (...asked) => erasePerson(database, ...asked),
    live: new LiveFeed({ read: (asked) => getReport({ ...reading, now }, LIVE, asked), log, now }),
    clientAddress,
    mayReadMetrics: createMetricsAccess(config.trustedProxies, config.metricsToken),
    now,
  };
}

/** Makes the service that sends digests and alerts. */
function notificationsOf(services: Made, stopping: AbortSignal) {
  const { config: { publicUrl, readTimeoutMs }, database: sql, move } = services;
  const reads = createNotificationReads({ ...services, readTimeoutMs }, stopping);
  const maySend = () => move?.storesNothing !== true;
  return createNotifications({ ...services, sql, reads, publicUrl, randomText, maySend }, stopping);
}

function watchStreams({ epochs, live, longReplies }: Services, stopping: AbortSignal): void {
  for (const streams of [live, longReplies]) watchRevocations(epochs, streams, stopping);
}

/** Adds the services that take captures of pages, and those that read them. */
function withCaptures(
  services: Omit<Services, "captureJobs" | "captureReading">,
  schedule: CaptureSchedule,
  substitute: PageCamera | undefined,
  stopping: AbortSignal,
): { services: Services; captures: Captures } {
  const { config, log, now, metrics } = services;
  const pageCamera = substitute ?? createLazyPageCamera({ config, log, now });
  const captures = createCaptures({
    ...services,
    pageCamera,
    schedule,
    basePath: config.basePath,
    randomText,
    observe: (status) => metrics.capture(status),
    stopping,
  });
  const captureReading = { basePath: config.basePath, nextRunMs: schedule.nextMs };
  return { services: { ...services, captureJobs: captures.jobs, captureReading }, captures };
}

async function makeSetUpLink({ database, now }: Services): Promise<string | null> {
  if (await ownerExists(database)) return null;
  return (await makeLink(database, { kind: "owner", personId: null, nowMs: now() })).secret;
}

function routed(services: Services, state: State, routes: readonly DocumentedRoute[]) {
  const { config, log, metrics } = services;
  return createRouter(routes, {
    basePath: config.basePath,
    cors: createCors(config.corsAllowedOrigins),
    log,
    authorize: guarded(services.authorize, state, services),
    observe: (route, method, status, seconds) => metrics.request(route, method, status, seconds),
  });
}

/** Requests that waited for the start are answered before reads are warmed up. */
const WARM_UP_AFTER_MS = 500;

async function warmUp(services: Services, inFlight: InFlight, stopping: AbortSignal) {
  await pause(WARM_UP_AFTER_MS);
  if (stopping.aborted) return;
  const { readTimeoutMs } = services.config;
  // A read that fails fails again, and is told, when somebody asks.
  await inFlight.track(warmUpReads({ ...services, readTimeoutMs }, stopping).catch(() => null));
}

/**
 * Builds the app: the composition root, where every service is made once. It opens the embedded database;
 * PostgreSQL may still be down. Throws FolderInUse.
 */
export async function createApp(
  config: Config,
  log: Log,
  substitutes: Substitutes = {},
): Promise<App> {
  const controlToken = `control_${randomText(40)}`;
  const state: State = { prepared: false, draining: false };
  const jobs = new AbortController();
  const made = await createServices(config, log, state, controlToken, substitutes);
  const { services, captures } = withCaptures(
    { ...made, notifications: notificationsOf(made, jobs.signal) },
    createCaptureSchedule(config.captureSchedule),
    substitutes.pageCamera,
    jobs.signal,
  );
  const { database, reads, writer, budget } = services;
  const { projection, replicaChecks } = made;
  services.move?.onPause(() => services.notifications.sent());
  const inFlight = new InFlight();
  let projecting: Promise<unknown> | null = null;
  let capturing: Promise<void> | null = null;
  const routes = createRoutes(services);
  const handle = routed(services, state, routes);

  return {
    engine: database.engine,
    controlToken,
    routes,
    fetch: (request, peer) => inFlight.track(handle(request, peer)),
    async prepare(purpose) {
      const prepared = await prepareDatabase(services, purpose);
      state.prepared = true;
      return prepared;
    },
    signsIn: services.tokens.canIssue,
    makeSetUpLink: () => makeSetUpLink(services),
    runDue: () => services.notifications.runDue(),
    startJobs() {
      if (services.move?.status === "moved") return;
      services.move?.onMoved(() => jobs.abort());
      watchStreams(services, jobs.signal);
      scheduleJobs({ ...services, captures }, jobs.signal);
      capturing = captures.run(0);
      void warmUp(services, inFlight, jobs.signal);
      const earlier = new EarlierEvents(database, log).run(jobs.signal);
      projecting = Promise.all([projection.run(jobs.signal), earlier]);
    },
    startCaptures() {
      capturing ??= captures.run(database.engine === "postgres" ? CAPTURE_PATIENCE_MS : 0);
    },
    async stop() {
      state.draining = true;
      jobs.abort();
      services.move?.close();
      await services.live.close();
      const closing = setTimeout(() => budget.close(), SHUTDOWN_GRACE_MS);
      await inFlight.idle();
      clearTimeout(closing);
      await writer.drain();
      // Events that an unfinished transaction does not commit are projected after the next start.
      await Promise.race([projecting, pause(SHUTDOWN_PROJECTION_MS_MAX)]);
      await projection.close();
      await Promise.race([services.notifications.idle(), pause(SHUTDOWN_NOTIFICATIONS_MS_MAX)]);
      await Promise.race([capturing, pause(SHUTDOWN_CAPTURES_MS_MAX)]);
      services.pool.close();
      for (const each of new Set([reads, replicaChecks, database])) await each?.close();
    },
  };
}
