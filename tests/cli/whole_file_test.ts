import assert from "node:assert/strict";
import { join } from "node:path";
import { RejectedFile, type WrittenRefusals } from "../../src/cli/rejected_file.ts";
import { WholeFile } from "../../src/cli/whole_file.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-files-" });
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("a whole file takes its place at its end, and leaves nothing where it has none", () =>
  inFolder(async (folder) => {
    const path = join(folder, "events.ndjson");
    await Deno.writeTextFile(path, "old");
    await assert.rejects(async () => {
      await using file = await WholeFile.open(path);
      await file.write(bytes("half"));
      assert.equal(await Deno.readTextFile(path), "old");
      throw new Error("cut off");
    }, /cut off/);
    assert.deepEqual([await Deno.readTextFile(path), names(folder)], ["old", ["events.ndjson"]]);
    {
      await using file = await WholeFile.open(path);
      await file.write(bytes("new"));
      await file.finish();
    }
    assert.deepEqual([await Deno.readTextFile(path), names(folder)], ["new", ["events.ndjson"]]);
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  }));

Deno.test("a whole file is written by one command at a time", () =>
  inFolder(async (folder) => {
    const path = join(folder, "all.archive");
    const unfinished = `${path}.unfinished`;
    await Deno.writeTextFile(unfinished, "left by a command that was killed");
    {
      await using first = await WholeFile.open(path);
      await first.write(bytes("one"));
      await assert.rejects(WholeFile.open(path), {
        name: "UnwritableFile",
        message: `${path} cannot be written: another command is writing it.`,
      });
      assert.equal(await Deno.readTextFile(unfinished), "one");
      await first.finish();
      await using second = await WholeFile.open(path);
      await second.write(bytes("second"));
      assert.equal(await Deno.readTextFile(path), "one");
      await second.finish();
    }
    assert.deepEqual([await Deno.readTextFile(path), names(folder)], ["second", ["all.archive"]]);
  }));

Deno.test("the error for a file that cannot be written is a sentence", () =>
  inFolder(async (folder) => {
    const nowhere = join(folder, "none", "events.ndjson");
    await assert.rejects(WholeFile.open(nowhere), {
      name: "UnwritableFile",
      message: `${nowhere} cannot be written: its folder is not there.`,
    });
    await assert.rejects(WholeFile.open(folder), {
      message: `${folder} cannot be written: it is a folder.`,
    });
    const full = await WholeFile.open("/dev/full");
    await assert.rejects(full.write(bytes("x")), {
      message: "/dev/full cannot be written: the disk is full.",
    });
    await full[Symbol.asyncDispose]();
    const line = { number: 1, end: 1, bytes: bytes("{") };
    using rejected = new RejectedFile(nowhere);
    await assert.rejects(rejected.add({ line, code: "invalid_json", message: "No." }), {
      message: `${nowhere} cannot be written: its folder is not there.`,
    });
  }));

const refusal = (number: number) => ({
  line: { number, end: number, bytes: bytes("{") },
  ...{ code: "invalid_json", message: "No." },
});

Deno.test("refused lines are appended to what is kept of their file", () =>
  inFolder(async (folder) => {
    const path = join(folder, "rejected.ndjson");
    let kept: WrittenRefusals | undefined;
    {
      using rejected = new RejectedFile(path);
      await rejected.add(refusal(1));
      kept = rejected.written;
      await rejected.add(refusal(2));
    }
    {
      using rejected = new RejectedFile(path, kept);
      await rejected.add(refusal(3));
    }
    const lines = (await Deno.readTextFile(path)).trimEnd().split("\n").map((line) =>
      JSON.parse(line)
    );
    assert.deepEqual(lines.map(({ line, text }) => [line, text]), [[1, "{"], [3, "{"]]);
    {
      // The file was removed meanwhile: no other file takes its name.
      await Deno.remove(path);
      using rejected = new RejectedFile(path, { ...kept!, bytes: 1_000 });
      await rejected.add(refusal(4));
    }
    assert.equal(JSON.parse(await Deno.readTextFile(path)).line, 4);
  }));

Deno.test("a resumed import keeps the refused lines of another one", () =>
  inFolder(async (folder) => {
    const path = join(folder, "rejected.ndjson");
    const refuse = async (number: number, kept?: WrittenRefusals) => {
      using rejected = new RejectedFile(path, kept);
      await rejected.add(refusal(number));
      return rejected.written;
    };
    const stopped = await refuse(1);
    await refuse(2);
    const { bytes } = await refuse(3, stopped);
    await refuse(4, { bytes, file: null });
    const line = async (name: string) =>
      JSON.parse(await Deno.readTextFile(join(folder, name))).line;
    const files = [
      "rejected.ndjson.1",
      "rejected.ndjson.2",
      "rejected.ndjson.3",
      "rejected.ndjson",
    ];
    assert.deepEqual(names(folder), files.toSorted());
    assert.deepEqual(await Promise.all(files.map(line)), [1, 2, 3, 4]);
  }));
