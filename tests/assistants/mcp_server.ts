import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import assert from "node:assert/strict";
import { type Json, readReply, type Reply, TestApp } from "../support/app.ts";

/** An app behind a socket of its own, as assistants reach it. */
export class McpServer {
  readonly app: TestApp;
  #served: Deno.HttpServer<Deno.NetAddr> | null = null;

  constructor(env: Record<string, string> = {}) {
    this.app = new TestApp(env);
  }

  async start(): Promise<this> {
    await this.app.start();
    this.#served = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request, { remoteAddr }) => this.app.app.fetch(request, remoteAddr.hostname),
    );
    return this;
  }

  async stop(): Promise<void> {
    await this.#served?.shutdown();
    await this.app.stop();
  }

  get url(): string {
    assert.ok(this.#served, "the server is not started");
    return `http://127.0.0.1:${this.#served.addr.port}`;
  }

  /** The official client, connected; `work` talks by it. */
  async withClient<T>(token: string, work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ name: "tests", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(`${this.url}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    });
    // The transport's own type allows less than its interface asks for under this strictness.
    await client.connect(transport as Parameters<Client["connect"]>[0]);
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }

  /** A request to /mcp as any program may write it. */
  async send(
    token: string | null,
    body: unknown,
    headers: Record<string, string> = {},
    method = "POST",
  ): Promise<Reply> {
    const written = typeof body === "string" ? body : JSON.stringify(body);
    return await readReply(
      await fetch(`${this.url}/mcp`, {
        method,
        headers: {
          "Content-Type": "application/json",
          "Accept": "application/json, text/event-stream",
          ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(method === "POST" ? { body: written } : {}),
      }),
    );
  }
}

/** A message of the protocol. */
export function message(method: string, params: Json = {}): Json {
  return { jsonrpc: "2.0", id: 1, method, params };
}

/** A call of a tool, as a message. */
export function callMessage(name: string, given: Json = {}): Json {
  return message("tools/call", { name, arguments: given });
}

// Tests look into answers of every shape.
// deno-lint-ignore no-explicit-any
export type Told = any;

/** What a tool answers: the text and the structure say the same. */
export async function call(client: Client, name: string, given: Json = {}): Promise<Told> {
  const result = await client.callTool({ name, arguments: given }) as CallToolResult;
  const [text] = result.content;
  assert.ok(text?.type === "text" && result.content.length === 1);
  assert.deepEqual(JSON.parse(text.text), result.structuredContent);
  assert.equal(result.isError ?? false, "code" in result.structuredContent!, text.text);
  return result.structuredContent;
}

/** A tool as a client is told of it. */
export interface ToldTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly properties: Readonly<Record<string, Json>>;
    readonly required: readonly string[];
  };
  readonly annotations: Readonly<Record<string, unknown>>;
}

/** All tools there are. */
export async function toolsOf(client: Client): Promise<readonly ToldTool[]> {
  const { tools, nextCursor } = await client.listTools();
  assert.equal(nextCursor, undefined);
  return tools as unknown as readonly ToldTool[];
}
