import assert from "node:assert/strict";
import { makeDataDir } from "../support/embedded_template.ts";
import { run } from "./footfall_process.ts";

const PASSWORD = "three small green boats\n";

Deno.test("footfall person: people are added, invited, changed, let in again and removed", async () => {
  const dataDir = await makeDataDir("footfall-people-");
  const person = async (args: readonly string[], input?: string) => {
    const { code, out, errors } = await run(dataDir, ["person", ...args], input);
    return { code, out, errors };
  };
  try {
    const none = await person(["add", "you@example.com", "--role", "owner"]);
    assert.equal(none.code, 2);
    assert.match(none.errors, /person invite` makes a link/);
    const role = await person(["add", "you@example.com", "--role", "ownr"]);
    assert.equal(role.code, 2);
    assert.match(role.errors, /--role: Use one of owner, admin, editor, viewer\./);
    assert.doesNotMatch(role.errors, /password/);
    const options = ["--role", "ownr", "--project", "prj_none", "--project", "shop"];
    const wrong = await person(["add", "you", ...options], "");
    assert.equal(wrong.code, 2);
    assert.doesNotMatch(wrong.errors, /password/, "before it is asked for");
    const told = [
      "email: Give an e-mail address",
      "--role: Use one of",
      "--project shop: Use prj_",
      "no project with this id: prj_none",
    ];
    for (const mistake of told) assert.ok(wrong.errors.includes(mistake), wrong.errors);
    const owner = await person([
      "add",
      "a@b.example",
      "--role",
      "owner",
      "--project",
      "prj_default",
    ]);
    assert.match(owner.errors, /--project: An owner is for every project/);
    const weak = await person(["add", "you@example.com", "--role", "owner"], "password123\n");
    assert.match(weak.errors, /password: Many people have this password/);
    const added = await person(["add", "You@Example.com", "--role", "owner"], PASSWORD);
    assert.deepEqual([added.code, added.out], [0, "you@example.com may sign in, as owner.\n"]);

    const twice = await person(["add", "you@example.com", "--project", "prj_none"]);
    assert.equal(twice.code, 1);
    assert.doesNotMatch(twice.errors, /password/);
    assert.match(twice.errors, /Somebody has this e-mail address already/);
    assert.match(twice.errors, /There is no project with this id: prj_none/);

    const invite = ["invite", "ada@example.com", "--project", "prj_default"];
    const link = await person(invite);
    assert.equal(link.code, 0, link.errors);
    assert.match(link.out, /^http:\/\/\S+\/stats\/#invitation=[\w-]{43}\n$/);
    assert.match(
      link.errors,
      /^For ada@example\.com, once, until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.\n$/,
    );
    const bad = ["invite", "ada@example.com", "--role", "ownr", "--project", "prj_none"];
    const { errors: both } = await person(bad);
    assert.ok(both.includes("--role: Use one of") && both.includes("with this id: prj_none"), both);
    // Another invitation: what its options say holds, what they do not say stays.
    const changes = ["--role", "admin", "--name", "Ada", "--json"];
    const again = await person(["invite", "ada@example.com", ...changes]);
    const other = JSON.parse(again.out);
    assert.notEqual(`${other.invitation.url}\n`, link.out);
    assert.deepEqual(
      [other.person.role, other.person.projects, other.person.name],
      ["admin", ["prj_default"], "Ada"],
    );

    const raised = await person(["role", "ADA@example.com", "editor"]);
    assert.equal(raised.out, "ada@example.com is editor of prj_default.\n", raised.errors);
    const { people } = JSON.parse((await person(["list", "--json"])).out);
    assert.deepEqual(
      people.map(({ email, role, projects }: Record<string, unknown>) => [email, role, projects]),
      [["you@example.com", "owner", ["*"]], ["ada@example.com", "editor", ["prj_default"]]],
    );
    assert.match(
      (await person(["list"])).out,
      /\nada@example\.com +Ada +editor +prj_default +invited +–\n$/,
    );
    const reset = await person(["reset", "you@example.com"]);
    assert.match(reset.out, /\/stats\/#reset=[\w-]{43}\n$/);

    const last = await person(["remove", "you@example.com"]);
    assert.equal(last.code, 1);
    assert.match(last.errors, /No other owner can sign in\./);
    assert.equal(
      (await person(["remove", "ada@example.com"])).out,
      "ada@example.com is removed.\n",
    );
    for (const args of [["remove"], ["reset"], ["role"]]) {
      const unknown = await person([
        ...args,
        "ada@example.com",
        ...args[0] === "role" ? ["viewer"] : [],
      ]);
      assert.equal(unknown.code, 1);
      assert.match(unknown.errors, /Nobody has the address ada@example\.com/);
    }
    assert.equal((await person(["remove"])).code, 2);
    const nowhere = await person(["invite", "ada@example.com", "--project", "prj_none"]);
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.errors, /There is no project with this id/);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
