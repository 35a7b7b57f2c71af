import { z } from "zod";
import { ClientGone } from "../http/client_gone.ts";
import { originMatches } from "../http/cors.ts";
import { readJson } from "../http/json_body.ts";
import { Problem } from "../problem.ts";
import { ASSISTANT_LINK_LENGTH_MAX } from "./assistant_limits.ts";
import { type ReadReply, type ToolResult, toolResult } from "./tool_result.ts";
import type { ToolCall } from "./mcp_message.ts";
import { addressOf, type Tool, toolNamed } from "./tools.ts";
import { viewAddress, viewOf } from "../reports/answer/view_address.ts";

/** What the endpoint works with. */
export interface AssistantServices {
  /** Returns the tools, which are made with the first request. */
  readonly tools: () => readonly Tool[];
  /** Answers `GET <address>` as over HTTP: with its access check, its time limit and its problems. */
  readonly read: (address: string, asked: AssistantRequest) => Promise<Response>;
  /** Returns the dashboard's address, without a slash at the end. */
  readonly ownUrl: (asked: AssistantRequest) => string;
  /** Origins whose pages may ask, in addition to those of this machine; `*` does not count. */
  readonly origins: readonly string[];
  readonly version: string;
}

/** A request as it came in. */
export interface AssistantRequest {
  readonly request: Request;
  readonly peer: string | null;
  readonly requestId: string;
}

/** One message of the protocol, JSON-RPC 2.0. */
export const McpMessage = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
}).meta({ id: "McpMessage", description: "One message of the Model Context Protocol" });

const THIS_MACHINE = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/**
 * Throws `foreign_origin` (403) for a page whose origin is not allowed. `Host` is not trusted, since anybody's
 * name may lead to this server. Programs send no origin.
 */
function refuseForeign(request: Request, origins: readonly string[]): void {
  const origin = request.headers.get("origin");
  if (origin === null || THIS_MACHINE.test(origin)) return;
  if (originMatches(origin, origins.filter((allowed) => allowed !== "*"))) return;
  throw new Problem(
    "foreign_origin",
    "Pages may ask this where CORS_ALLOWED_ORIGINS or PUBLIC_URL names their origin; * does not count.",
  );
}

/** Returns the address of the dashboard that shows what a read returned. */
function linkOf(base: string, address: string, { body }: ReadReply): string {
  const [path = "", search = ""] = address.split("?", 2);
  const query = typeof body.query === "object" ? body.query as Record<string, unknown> : {};
  const link = `${base}/?${viewAddress(path, new URLSearchParams(search), query ?? {})}`;
  return link.length <= ASSISTANT_LINK_LENGTH_MAX ? link : `${base}/?view=${viewOf(path)}`;
}

/** Performs the read of a tool call. Throws Problem if the call is invalid. */
async function callRead(
  services: AssistantServices,
  asked: AssistantRequest,
  call: ToolCall,
): Promise<ToolResult> {
  const tool = toolNamed(services.tools(), call.name);
  const address = addressOf(tool, call.arguments ?? {});
  const response = await services.read(address, asked);
  const reply = { status: response.status, body: await response.json() };
  return toolResult(tool, reply, linkOf(services.ownUrl(asked), address, reply));
}

/** Rejects once the client no longer waits for the answer. */
function abandoned({ signal }: Request): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(new ClientGone());
    signal.addEventListener("abort", () => reject(new ClientGone()), { once: true });
  });
}

/**
 * Makes the handler of `POST /mcp`: the Model Context Protocol without sessions, each request by itself. The
 * protocol's implementation is loaded with the first request.
 * @throws Problem `foreign_origin`, `invalid_body`, and what reading a small JSON body throws.
 */
export function createMcpEndpoint(
  services: AssistantServices,
): (asked: AssistantRequest) => Promise<Response> {
  const { version, origins } = services;
  return async (asked) => {
    refuseForeign(asked.request, origins);
    const message = await readJson(asked.request, z.unknown());
    if (Array.isArray(message)) {
      throw new Problem("invalid_body", "Send one message at a time.");
    }
    const { answerMessage } = await import("./mcp_message.ts");
    const answering = answerMessage(asked.request, message, {
      tools: services.tools(),
      version,
      call: (call) => callRead(services, asked, call),
    });
    const response = await Promise.race([answering, abandoned(asked.request)]);
    response.headers.set("Cache-Control", "no-store");
    return response;
  };
}
