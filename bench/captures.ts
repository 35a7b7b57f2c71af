/**
 * How long pictures of pages take: twenty ordinary pages of a site on the loopback, in three widths,
 * as many at once as a server takes. `--captures 300` goes round again and tells whether memory grows.
 */
import { parseArgs } from "node:util";
import { CAPTURE_DEVICES } from "../src/screenshots/capture_status.ts";
import { createPageCamera } from "../src/screenshots/browser/page_camera.ts";
import { readConfig } from "../src/config/config.ts";
import { createLog } from "../src/http/log.ts";
import { CAPTURES_AT_ONCE } from "../src/screenshots/capture_limits.ts";
import { OrdinarySite } from "./ordinary_site.ts";
import { loadLastMinute, machineLine } from "./process_figures.ts";
import { BrowserTree } from "./browser_tree.ts";

interface Taken {
  readonly ms: number;
  readonly bytes: number;
}

interface CaptureReport {
  readonly machine: string;
  readonly captures: number;
  readonly failed: readonly string[];
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly perSecond: number;
  readonly medianKib: number;
  /** Processor time of browser and server together, as a share of the wall time of all cores. */
  readonly busyShare: number;
  /** Of the time of one capture, what neither browser nor server worked for it. */
  readonly waitingShare: number;
  readonly peakBrowserMib: number;
  readonly peakServerMib: number;
  /** Browser and server after each sixth of the captures. */
  readonly residentMib: readonly number[];
  readonly loadAverage: number;
}

const MEBIBYTE = 2 ** 20;
const SAMPLE_MS = 250;

const { values: given } = parseArgs({
  options: {
    captures: { type: "string", default: "60" },
    pages: { type: "string", default: "20" },
    json: { type: "boolean", default: false },
  },
});

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

async function measure(captures: number, pages: number): Promise<CaptureReport> {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-bench-" });
  await using site = new OrdinarySite(pages);
  const config = readConfig({
    DATA_DIR: dataDir,
    CHROME_NO_SANDBOX: "1",
    CHROME_PATH: Deno.env.get("CHROME_PATH") ?? "",
  });
  const log = createLog({
    level: "error",
    format: "json",
    colour: false,
    now: Date.now,
    write: (line) => console.error(line),
  });
  const pageCamera = createPageCamera({ config, log, now: Date.now });
  const tree = new BrowserTree(dataDir);
  const sampler = setInterval(() => tree.sample(), SAMPLE_MS);
  const taken: Taken[] = [];
  const failed: string[] = [];
  const residentMib: number[] = [];
  let next = 0;
  const work = async () => {
    for (let i = next++; i < captures; i = next++) {
      const path = `/page-${Math.floor(i / CAPTURE_DEVICES.length) % pages}`;
      const startedAt = performance.now();
      const { verdict, screenshot } = await pageCamera.takeScreenshot({
        siteUrl: site.url,
        siteUrlByOperator: true,
        trackedHosts: ["127.0.0.1"],
        path,
        device: CAPTURE_DEVICES[i % CAPTURE_DEVICES.length]!,
        ownEndpoints: ["/v1/events"],
      });
      if (screenshot === null) failed.push(`${path}: ${verdict.message}`);
      else taken.push({ ms: performance.now() - startedAt, bytes: screenshot.bytes.length });
      if ((i + 1) % Math.max(1, Math.floor(captures / 6)) === 0) {
        residentMib.push(Math.round(tree.sample() / MEBIBYTE));
      }
    }
  };
  const startedAt = performance.now();
  const cpuBefore = tree.cpuSeconds();
  try {
    await Promise.all(Array.from({ length: CAPTURES_AT_ONCE }, work));
  } finally {
    clearInterval(sampler);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = tree.cpuSeconds() - cpuBefore;
  await pageCamera.close();
  await Deno.remove(dataDir, { recursive: true });
  const ms = taken.map((each) => each.ms).sort((a, b) => a - b);
  const kib = taken.map((each) => each.bytes / 1024).sort((a, b) => a - b);
  const wallOfCaptures = ms.reduce((sum, each) => sum + each, 0) / 1000;
  return {
    machine: machineLine("not used").replace("PostgreSQL not used, ", ""),
    captures: taken.length,
    failed,
    medianMs: Math.round(quantile(ms, 0.5)),
    p95Ms: Math.round(quantile(ms, 0.95)),
    perSecond: Number((taken.length / seconds).toFixed(2)),
    medianKib: Math.round(quantile(kib, 0.5)),
    busyShare: Number((cpuSeconds / seconds / navigator.hardwareConcurrency).toFixed(2)),
    waitingShare: Number(Math.max(0, 1 - cpuSeconds / wallOfCaptures).toFixed(2)),
    peakBrowserMib: Math.round(tree.peakBrowserBytes / MEBIBYTE),
    peakServerMib: Math.round(tree.peakServerBytes / MEBIBYTE),
    residentMib,
    loadAverage: loadLastMinute(),
  };
}

function reportText(report: CaptureReport): string {
  return [
    report.machine,
    `${report.captures} captures, ${report.failed.length} failed`,
    ...report.failed.slice(0, 10).map((line) => `  ${line}`),
    `one capture, settling included: median ${report.medianMs} ms, p95 ${report.p95Ms} ms`,
    `${CAPTURES_AT_ONCE} at once: ${report.perSecond} captures/s; a picture has ${report.medianKib} KiB`,
    `processors busy ${report.busyShare}; of a capture's time ${report.waitingShare} is waiting`,
    `peak memory: browser ${report.peakBrowserMib} MiB, server ${report.peakServerMib} MiB`,
    `both together after each sixth: ${report.residentMib.join(", ")} MiB`,
    `load average at the end: ${report.loadAverage}`,
  ].join("\n");
}

const report = await measure(Number(given.captures), Number(given.pages));
console.log(given.json ? JSON.stringify(report, null, 2) : reportText(report));
Deno.exit(report.failed.length === 0 ? 0 : 1);
