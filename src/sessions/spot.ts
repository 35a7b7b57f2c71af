/** A fraction of the width in 200 columns, pixels in lines of 10, depths in steps of 100. */
const COLUMNS = 200;
const LINE_PX = 10;
const LINES_MAX = 131_071;
const STEP_PX = 100;
const STEPS_MAX = 10_000;

const bit = (condition: string, place: number): string => `((${condition})::int << ${place})`;

const DEVICE =
  "(CASE WHEN e.viewport_width < 768 THEN 2 WHEN e.viewport_width < 1024 THEN 1 ELSE 0 END)";
const POSITIONED = "e.pointer_x IS NOT NULL AND e.pointer_y IS NOT NULL";

// Positions are any finite numbers: clamped before they are multiplied, so that nothing overflows.
const COLUMN = `least(${COLUMNS - 1}, floor(least(1, greatest(0, e.pointer_x)) * ${COLUMNS}))::int`;
const LINE = `floor(least(${
  LINES_MAX * LINE_PX
}, floor(greatest(0, e.pointer_y))) / ${LINE_PX})::int`;

/**
 * Where on its page a click or a scroll (a stored event, alias e) belongs, as one number: what heat
 * maps count, so that they need not read the events themselves. Bits from the lowest: 2 device by the
 * window's width (0 desktop, 1 tablet, 2 mobile; unknown is desktop), 1 whether there is a place;
 * of clicks 1 fixed, 1 rage, 1 dead, 8 column, 17 line; of scrolls, from the seventh bit on, the
 * deepest step. 0 for other events.
 */
export const SPOT = `CASE
  WHEN e.name = 'click' THEN ${DEVICE} | ${bit(POSITIONED, 2)} | ${bit("e.fixed IS TRUE", 3)}
    | ${bit("e.rage IS TRUE", 4)} | ${bit("e.dead IS TRUE", 5)}
    | (CASE WHEN ${POSITIONED} THEN (${COLUMN} << 6) | (${LINE} << 14) ELSE 0 END)
  WHEN e.name = 'scroll' THEN ${DEVICE} | ${bit("e.depth_px IS NOT NULL", 2)}
    | (coalesce(least(${STEPS_MAX}, e.depth_px / ${STEP_PX}), 0) << 6)
  ELSE 0 END`;

/** How deep a scroll (a stored event, alias e) went, as a fraction of its page; null where unknown. */
export const DEPTH =
  `CASE WHEN e.name = 'scroll' AND e.depth_px IS NOT NULL AND e.document_height > 0
  THEN least(1, e.depth_px::float8 / e.document_height) END`;
