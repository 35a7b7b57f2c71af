import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import { hasCopy } from "../../http/known_copy.ts";
import { replyOf } from "../../http/reply_body.ts";
import type { Exchange } from "../../http/router.ts";
import { Problem } from "../../problem.ts";
import { findImage } from "./capture_store.ts";

const CAPTURE_ID = /^cap_[A-Za-z0-9]{20}$/;
const ETAG_DIGITS = 32;

/** Returns the address of a capture's picture. */
export function imageUrl(basePath: string, project: Pick<Project, "id">, captureId: string) {
  return `${basePath}/v1/heatmaps/captures/${captureId}?project=${project.id}`;
}

export function isCaptureId(text: string): boolean {
  return CAPTURE_ID.test(text);
}

export function noSuchPicture(): Problem {
  return new Problem("not_found", "There is no such capture; replaced ones are forgotten.");
}

/** `GET /v1/heatmaps/captures/:id`: the picture of a capture. Throws `not_found`. */
export async function getCaptureImage(
  sql: Sql,
  { projectId }: Project,
  { request, params }: Pick<Exchange<unknown>, "request" | "params">,
): Promise<Response> {
  const id = params.id ?? "";
  const image = isCaptureId(id) ? await findImage(sql, projectId, id) : null;
  if (image === null) throw noSuchPicture();
  const etag = `"${image.hash.slice(0, ETAG_DIGITS)}"`;
  const headers = {
    // The bytes behind an id never change.
    "Cache-Control": "private, max-age=31536000, immutable",
    "ETag": etag,
    "Vary": "Authorization",
    "Content-Type": image.contentType,
    // The bytes show an untrusted page.
    "Content-Security-Policy": "default-src 'none'",
  };
  if (hasCopy(request, etag)) return new Response(null, { status: 304, headers });
  if (request.method !== "HEAD") return replyOf(image.bytes, { headers });
  return new Response(null, {
    headers: { ...headers, "Content-Length": String(image.bytes.length) },
  });
}
