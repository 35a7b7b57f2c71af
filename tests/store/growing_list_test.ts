import assert from "node:assert/strict";
import { GrowingList } from "../../src/store/growing_list.ts";

Deno.test("growing list: there is no room for more numbers than may be added", () => {
  const list = new GrowingList(new Int32Array(4), 11);
  const rooms = new Set<number>();
  for (let number = 0; number < 11; number++) {
    list.add(number);
    rooms.add(list.taken().buffer.byteLength / Int32Array.BYTES_PER_ELEMENT);
  }
  assert.deepEqual([...rooms], [4, 8, 11]);
  assert.deepEqual([...list.all()], Array.from({ length: 11 }, (_, number) => number));
});
