import {
  CART,
  CATEGORIES,
  HOME,
  PRODUCTS,
  SHOP_ORIGIN,
  SHOP_PORT,
  VIRAL_ARTICLE,
} from "../demo/shop.ts";
import { createShop, SHOP_MARK } from "../demo/site/shop_site.ts";
import { headOf } from "../http/direct_client.ts";
import { awaitJob, type JobReply, JOBS_PATH } from "./capture.ts";
import type { Call } from "./command.ts";
import { callApi, type Connection } from "./connection.ts";

/** Pages of the shop whose heat maps have a picture from the start. */
const PICTURED = [HOME, CATEGORIES[0]!, PRODUCTS[0]!.page, PRODUCTS[2]!.page, VIRAL_ARTICLE, CART]
  .map(({ path }) => path);

/** The outcome of taking the demo's pictures, for the person at the terminal. */
export interface Pictures {
  readonly taken: number;
  /** Why some pictures are missing; null: none is missing. */
  readonly reason: string | null;
}

/** Serves the shop for its pictures; null: `footfall demo` or another program has its port. */
function openShop(): Deno.HttpServer | null {
  const tag = { server: "", apiKey: "", showsArrivals: false };
  try {
    return Deno.serve(
      { hostname: "127.0.0.1", port: SHOP_PORT, onListen: () => {} },
      createShop(tag, null),
    );
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return null;
    throw error;
  }
}

/** Has the server take pictures of the shop's pages, so that its heat maps show what was clicked on. */
export async function takeDemoPictures(
  call: Call,
  connection: Connection,
  project: string,
): Promise<Pictures> {
  const shop = openShop();
  try {
    if (!(await headOf(SHOP_ORIGIN))?.headers.has(SHOP_MARK)) {
      return { taken: 0, reason: `Port ${SHOP_PORT} is taken by another program.` };
    }
    const { job: queued } = await callApi<JobReply>(connection, "POST", JOBS_PATH, {
      project,
      paths: PICTURED,
    });
    const { captures } = await awaitJob(call, connection, queued);
    const failed = captures.find(({ status }) => status !== "captured");
    return {
      taken: captures.filter(({ status }) => status === "captured").length,
      reason: failed?.message ?? null,
    };
  } finally {
    await shop?.shutdown();
  }
}
