import { arrayLiteral, type Sql } from "../../db/sql.ts";
import { CAPTURE_PAGES_KEPT_DAYS, CAPTURE_VERSIONS_MAX } from "../capture_limits.ts";
import { DAY_MS } from "../../limits.ts";
import type { CaptureDevice, CaptureStatus, Verdict } from "../capture_status.ts";
import type { Screenshot } from "../browser/page_screenshot.ts";

/** Returns the expression for the digest by which paths are looked up. `path` is a column or a cast parameter. */
export const pathDigest = (path: string): string =>
  `left(encode(sha256(convert_to(${path}, 'UTF8')), 'hex'), 32)::uuid`;

/** An attempt to capture a page on a device, and its outcome. */
export interface Attempt {
  readonly projectId: number;
  readonly path: string;
  readonly device: CaptureDevice;
  /** The project's site URL at the time of the attempt. */
  readonly siteUrl: string | null;
  readonly verdict: Verdict;
  /** Null unless the verdict is `captured`. */
  readonly screenshot: Screenshot | null;
  readonly atMs: number;
  /** The id of the picture if it is new. */
  readonly newCaptureId: string;
}

/** The state of the capture of a page on a device. */
export interface CaptureState {
  readonly path: string;
  readonly device: CaptureDevice;
  readonly status: CaptureStatus;
  readonly message: string;
  readonly siteUrl: string | null;
  /** The last picture; null: there is none yet. */
  readonly image: CaptureImageFacts | null;
}

export interface CaptureImageFacts {
  readonly captureId: string;
  readonly capturedAt: Date;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly isCut: boolean;
}

/** A stored picture. */
export interface CaptureImage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** The SHA-256 of the bytes, in hexadecimal digits. */
  readonly hash: string;
}

const instant = (ms: number): string => new Date(ms).toISOString();

/** Renews the version that is identical to the new picture. */
const SEEN_AGAIN = `
UPDATE captures SET captured_at = $4::text::timestamptz
WHERE project_id = $1::int AND path_digest = ${pathDigest("$2::text")} AND device = $3::text
  AND content_hash = decode($5::text, 'hex')
RETURNING capture_id`;

const ADD_VERSION = `
INSERT INTO captures (captured_at, project_id, width_px, height_px, is_cut, path_digest, capture_id,
  device, content_type, content_hash, image)
VALUES ($4::text::timestamptz, $1::int, $7::int, $8::int, $9::bool, ${pathDigest("$2::text")},
  $6::text, $3::text, $10::text, decode($5::text, 'hex'), decode($11::text, 'base64'))
ON CONFLICT (project_id, path_digest, device, content_hash)
  DO UPDATE SET captured_at = excluded.captured_at
RETURNING capture_id`;

const DROP_OLD_VERSIONS = `
DELETE FROM captures
WHERE project_id = $1::int AND path_digest = ${pathDigest("$2::text")} AND device = $3::text
  AND capture_id NOT IN (
    SELECT capture_id FROM captures
    WHERE project_id = $1::int AND path_digest = ${pathDigest("$2::text")} AND device = $3::text
    ORDER BY captured_at DESC, capture_id LIMIT $4::int)`;

/** Stores the picture, unless one of the page's versions is identical. @returns the version's id */
async function storeScreenshot(tx: Sql, attempt: Attempt, screenshot: Screenshot): Promise<string> {
  const { projectId, path, device, newCaptureId } = attempt;
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(screenshot.bytes));
  const page = [projectId, path, device];
  const known = [...page, instant(attempt.atMs), new Uint8Array(digest).toHex()];
  const [same] = await tx.query<{ capture_id: string }>(SEEN_AGAIN, known);
  if (same !== undefined) return same.capture_id;
  const { bytes, contentType, widthPx, heightPx, isCut } = screenshot;
  const picture = [newCaptureId, widthPx, heightPx, isCut, contentType, bytes.toBase64()];
  const [added] = await tx.query<{ capture_id: string }>(ADD_VERSION, [...known, ...picture]);
  await tx.query(DROP_OLD_VERSIONS, [...page, CAPTURE_VERSIONS_MAX]);
  return added!.capture_id;
}

/** Stores the outcome of an attempt, and its picture; without one, the last picture stays. */
export async function storeAttempt(tx: Sql, attempt: Attempt): Promise<void> {
  const { projectId, path, device, siteUrl, verdict, screenshot, atMs } = attempt;
  const captureId = screenshot === null ? null : await storeScreenshot(tx, attempt, screenshot);
  await tx.query(
    `INSERT INTO capture_pages AS p (attempted_at, project_id, path_digest, device, path, status,
      message, site_url, capture_id)
    VALUES ($4::text::timestamptz, $1::int, ${pathDigest("$2::text")}, $3::text, $2::text, $5::text,
      $6::text, $7::text, $8::text)
    ON CONFLICT (project_id, path_digest, device) DO UPDATE
    SET attempted_at = excluded.attempted_at, status = excluded.status, message = excluded.message,
      site_url = excluded.site_url, capture_id = coalesce(excluded.capture_id, p.capture_id)`,
    [
      ...[projectId, path, device, instant(atMs)],
      ...[verdict.status, verdict.message, siteUrl, captureId],
    ],
  );
}

interface StateRow
  extends Pick<CaptureState, "path" | "device" | "status" | "message">, Record<string, unknown> {
  readonly site_url: string | null;
  readonly capture_id: string | null;
  readonly captured_at: Date;
  readonly width_px: number;
  readonly height_px: number;
  readonly is_cut: boolean;
}

function imageOf(row: StateRow): CaptureImageFacts | null {
  return row.capture_id === null ? null : {
    captureId: row.capture_id,
    capturedAt: row.captured_at,
    widthPx: row.width_px,
    heightPx: row.height_px,
    isCut: row.is_cut,
  };
}

/** Returns the states of the captures of these paths on all devices on which they were attempted. */
export async function captureStates(
  sql: Sql,
  projectId: number,
  paths: readonly string[],
): Promise<CaptureState[]> {
  if (paths.length === 0) return [];
  const rows = await sql.query<StateRow>(
    `SELECT p.path, p.device, p.status, p.message, p.site_url, c.capture_id, c.captured_at,
      c.width_px, c.height_px, c.is_cut
    FROM capture_pages p
    LEFT JOIN captures c ON c.project_id = p.project_id AND c.capture_id = p.capture_id
    WHERE p.project_id = (SELECT $1::int) AND p.path_digest = ANY (ARRAY(
      SELECT ${pathDigest("path")} FROM unnest($2::text::text[]) AS path))`,
    [projectId, arrayLiteral(paths)],
  );
  return rows.map((row) => ({
    path: row.path,
    device: row.device,
    status: row.status,
    message: row.message,
    siteUrl: row.site_url,
    image: imageOf(row),
  }));
}

/** Returns the path of the page that a picture shows; null: the project has no picture with this id. */
export async function pageOfImage(
  sql: Sql,
  projectId: number,
  captureId: string,
): Promise<string | null> {
  const [row] = await sql.query<{ path: string }>(
    `SELECT p.path FROM captures c JOIN capture_pages p USING (project_id, path_digest, device)
    WHERE project_id = $1::int AND c.capture_id = $2::text`,
    [projectId, captureId],
  );
  return row?.path ?? null;
}

/** Returns a picture of the project by its id; null: there is none. */
export async function findImage(
  sql: Sql,
  projectId: number,
  captureId: string,
): Promise<CaptureImage | null> {
  // Base64 is decoded much faster than hexadecimal digits.
  const [row] = await sql.query<{ image: string; content_type: string; hash: string }>(
    `SELECT encode(image, 'base64') AS image, content_type, encode(content_hash, 'hex') AS hash
    FROM captures WHERE project_id = $1::int AND capture_id = $2::text`,
    [projectId, captureId],
  );
  return row === undefined ? null : {
    bytes: Uint8Array.fromBase64(row.image),
    contentType: row.content_type,
    hash: row.hash,
  };
}

/** Deletes pages that have not been attempted for long, and their pictures. @returns the number of pages */
export async function deleteStalePages(sql: Sql, nowMs: number): Promise<number> {
  return await sql.transaction(async (tx) => {
    const before = instant(nowMs - CAPTURE_PAGES_KEPT_DAYS * DAY_MS);
    const gone = await tx.query(
      `WITH stale AS (
        DELETE FROM capture_pages WHERE attempted_at < $1::text::timestamptz
        RETURNING project_id, path_digest, device
      ), pictures AS (
        DELETE FROM captures c USING stale s
        WHERE c.project_id = s.project_id AND c.path_digest = s.path_digest AND c.device = s.device
      )
      SELECT FROM stale`,
      [before],
    );
    return gone.length;
  });
}
