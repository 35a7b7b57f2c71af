/** Draws charts as PNG files without a browser: bars, or a line if there are many values. */

import { crc32 } from "node:zlib";

interface ChartDrawing {
  readonly values: readonly number[];
  readonly widthPx: number;
  readonly heightPx: number;
}

/** Visible on white and on black: blue, and grey for the base line. */
const PALETTE: readonly (readonly [red: number, green: number, blue: number])[] = [
  [0, 0, 0],
  [59, 130, 246],
  [128, 134, 145],
];
const BACKGROUND = 0;
const INK = 1;
const BASE = 2;
/** More values are drawn as a line: bars would be too thin. */
const BARS_MAX = 62;
const BAR_GAP_PART = 0.25;
const LINE_PX = 4;

type Canvas = { readonly pixels: Uint8Array; readonly widthPx: number; readonly heightPx: number };

function fill({ pixels, widthPx, heightPx }: Canvas, box: {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}, colour: number): void {
  const left = Math.max(0, Math.round(box.left));
  const right = Math.min(widthPx, Math.round(box.right));
  const bottom = Math.min(heightPx, Math.round(box.bottom));
  for (let y = Math.max(0, Math.round(box.top)); y < bottom; y++) {
    pixels.fill(colour, y * widthPx + left, y * widthPx + Math.max(left, right));
  }
}

function drawBars(canvas: Canvas, values: readonly number[], heightOf: (value: number) => number) {
  const { widthPx, heightPx } = canvas;
  const slot = widthPx / values.length;
  values.forEach((value, i) => {
    const left = i * slot + slot * BAR_GAP_PART / 2;
    const right = Math.max(left + 1, (i + 1) * slot - slot * BAR_GAP_PART / 2);
    fill(canvas, { left, right, top: heightPx - 2 - heightOf(value), bottom: heightPx - 2 }, INK);
  });
}

/** Fills each column from the previous height to its own, so that steep lines have no gaps. */
function drawLine(canvas: Canvas, values: readonly number[], heightOf: (value: number) => number) {
  const { widthPx, heightPx } = canvas;
  const heightAt = (x: number) => {
    const at = x * (values.length - 1) / (widthPx - 1);
    const i = Math.min(values.length - 2, Math.floor(at));
    return heightOf(values[i]!) * (1 - at + i) + heightOf(values[i + 1]!) * (at - i);
  };
  for (let x = 0; x < widthPx; x++) {
    const [one, other] = [heightAt(x), heightAt(Math.max(0, x - 1))];
    const top = heightPx - 2 - Math.max(one, other) - LINE_PX / 2;
    const bottom = heightPx - 2 - Math.min(one, other) + LINE_PX / 2;
    fill(canvas, { left: x, right: x + 1, top, bottom }, INK);
  }
}

function draw({ values, widthPx, heightPx }: ChartDrawing): Canvas {
  const canvas = { pixels: new Uint8Array(widthPx * heightPx), widthPx, heightPx };
  const highest = Math.max(0, ...values);
  const room = heightPx - 2 - LINE_PX;
  const heightOf = (value: number) => highest === 0 ? 0 : Math.max(0, value) / highest * room;
  fill(canvas, { left: 0, right: widthPx, top: heightPx - 2, bottom: heightPx }, BASE);
  if (values.length === 0) return canvas;
  if (values.length <= BARS_MAX) drawBars(canvas, values, heightOf);
  else drawLine(canvas, values, heightOf);
  return canvas;
}

function chunk(type: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(data, 8);
  view.setUint32(data.length + 8, crc32(bytes.subarray(4, data.length + 8)));
  return bytes;
}

async function deflated(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([data]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const INDEXED = 3;

/** Returns a PNG with one byte per pixel, an index of the palette; the background is transparent. */
export async function chartPng(drawing: ChartDrawing): Promise<Uint8Array> {
  const { pixels, widthPx, heightPx } = draw(drawing);
  const head = new Uint8Array(13);
  const view = new DataView(head.buffer);
  view.setUint32(0, widthPx);
  view.setUint32(4, heightPx);
  head.set([8, INDEXED, 0, 0, 0], 8);
  // Each row begins with its filter: 0, none.
  const rows = new Uint8Array((widthPx + 1) * heightPx);
  for (let y = 0; y < heightPx; y++) {
    rows.set(pixels.subarray(y * widthPx, (y + 1) * widthPx), y * (widthPx + 1) + 1);
  }
  const palette = Uint8Array.from(PALETTE.flat());
  const opacity = Uint8Array.from(PALETTE.map((_, i) => i === BACKGROUND ? 0 : 255));
  const parts = [
    SIGNATURE,
    chunk("IHDR", head),
    chunk("PLTE", palette),
    chunk("tRNS", opacity),
    chunk("IDAT", await deflated(rows)),
    chunk("IEND", new Uint8Array()),
  ];
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
