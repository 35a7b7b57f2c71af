import assert from "node:assert/strict";
import fc from "fast-check";
import type { EventRow } from "../../src/store/event_row.ts";
import {
  CELL_COLUMNS,
  CELL_DEAD,
  CELL_DEVICE,
  CELL_DEVICES,
  CELL_FIXED,
  CELL_LINES_MAX,
  CELL_PLACED,
  CELL_RAGE,
  CELL_STEPS_MAX,
  cellOf,
  columnOf,
  lineOf,
  stepOf,
} from "../../src/store/heatmap_cell.ts";
import { newRow } from "../support/event_rows.ts";

const click = (members: Partial<EventRow>) => cellOf(newRow({ name: "click", ...members }));
const scroll = (depth_px: number | null) => cellOf(newRow({ name: "scroll", depth_px }));
const deviceOf = (cell: number) => CELL_DEVICES[cell & CELL_DEVICE];

Deno.test("heatmap cell: the device by the window's width, which if unknown is a desktop's", () => {
  for (
    const [width, device] of [
      [null, "desktop"],
      [0, "mobile"],
      [767, "mobile"],
      [768, "tablet"],
      [1023, "tablet"],
      [1024, "desktop"],
    ] as const
  ) {
    assert.equal(deviceOf(click({ viewport_width: width })), device);
    const scrolled = cellOf(newRow({ name: "scroll", viewport_width: width }));
    assert.equal(deviceOf(scrolled), device);
  }
});

Deno.test("heatmap cell: column, line and step, at most the last of each", () => {
  for (
    const [x, y, column, line] of [
      [0, 0, 0, 0],
      [-3, -1e300, 0, 0],
      [0.005, 9.99, 1, 0],
      [0.4999, 10, 99, 1],
      [1, 1_310_709, CELL_COLUMNS - 1, CELL_LINES_MAX - 1],
      [1e308, 1e308, CELL_COLUMNS - 1, CELL_LINES_MAX],
    ] as const
  ) {
    const cell = click({ pointer_x: x, pointer_y: y });
    assert.deepEqual([columnOf(cell), lineOf(cell)], [column, line], `${x}, ${y}`);
    assert.notEqual(cell & CELL_PLACED, 0);
  }
  for (const [depth, step] of [[0, 0], [99, 0], [100, 1], [1e6, CELL_STEPS_MAX], [2e9, 1e4]]) {
    assert.equal(stepOf(scroll(depth!)), step);
  }
});

Deno.test("heatmap cell: what is not there, and events that are neither click nor scroll", () => {
  assert.equal(click({}), 0);
  assert.equal(click({ pointer_x: 0.5 }), 0);
  assert.equal(click({ pointer_y: 5 }), 0);
  assert.equal(scroll(null), 0);
  assert.equal(scroll(0), CELL_PLACED);
  assert.equal(cellOf(newRow({ name: "press", pointer_x: 1, pointer_y: 1, rage: true })), 0);
});

Deno.test("heatmap cell: each flag has its bit, whatever the place", () => {
  const flag = fc.constantFrom(true, false, null);
  fc.assert(fc.property(
    fc.record({
      fixed: flag,
      rage: flag,
      dead: flag,
      pointer_x: fc.double(),
      pointer_y: fc.double(),
    }),
    (members) => {
      fc.pre(!Number.isNaN(members.pointer_x) && !Number.isNaN(members.pointer_y));
      const cell = click(members);
      assert.ok(cell > 0 && Number.isInteger(cell));
      assert.equal((cell & CELL_FIXED) !== 0, members.fixed === true);
      assert.equal((cell & CELL_RAGE) !== 0, members.rage === true);
      assert.equal((cell & CELL_DEAD) !== 0, members.dead === true);
    },
  ));
});
