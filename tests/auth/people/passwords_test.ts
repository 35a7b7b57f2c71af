import assert from "node:assert/strict";
import {
  assertGoodPassword,
  hashPassword,
  isPassword,
  isWeakHash,
  SCRYPT_COST,
} from "../../../src/auth/people/passwords.ts";
import {
  PASSWORD_CHARACTERS_MIN,
  PASSWORD_HASHES_AT_ONCE,
  PASSWORD_HASHES_WAITING_MAX,
  PASSWORD_LENGTH_MAX,
} from "../../../src/auth/people/people_limits.ts";
import { Problem } from "../../../src/problem.ts";

const CHEAP = { N: 2 ** 8, r: 8, p: 1 };

Deno.test("password: its hash has the parameters, differs each time, and matches", async () => {
  const password = "sieben grüne Boote";
  const [one, other] = [await hashPassword(password, CHEAP), await hashPassword(password, CHEAP)];
  assert.notEqual(one, other);
  assert.match(one, /^scrypt\$N=256,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
  assert.equal(await isPassword(password, one, null), true);
  assert.equal(await isPassword(`${password} `, one, null), false);
  // Other keyboards send ü as two characters.
  assert.equal(await isPassword(password.normalize("NFD"), one, null), true);
  // Nobody's password is never right, whoever's work is done for it.
  assert.equal(await isPassword(password, null, one), false);
  assert.equal(await isPassword(password, null, null), false);
  await assert.rejects(isPassword(password, "md5$123", null), /unknown form/);
});

Deno.test("password: hashes cheaper than new ones are weak", () => {
  const hash = ({ N, r, p } = SCRYPT_COST) =>
    `scrypt$N=${N},r=${r},p=${p}$${"a".repeat(22)}$${"a".repeat(43)}`;
  const { N, r, p } = SCRYPT_COST;
  assert.equal(isWeakHash(hash()), false);
  assert.equal(isWeakHash(hash({ N: N * 2, r, p })), false);
  assert.equal(isWeakHash(hash({ N: N / 2, r, p: p * 2 })), true, "less memory");
  assert.equal(isWeakHash(hash({ N, r, p: p - 1 })), true, "less work");
});

Deno.test("password: long enough, not too long, and not common", async () => {
  const about = { field: "password", own: ["ada.lovelace@example.com", "Ada Lovelace"] };
  const good = (password: string) => assertGoodPassword(password, about);
  const unusual = (length: number) => "kq7 ".repeat(length).slice(0, length);
  await good(unusual(PASSWORD_CHARACTERS_MIN));
  await good(unusual(PASSWORD_LENGTH_MAX));
  await good("三艘小小的绿色的船在海上");
  for (
    const bad of [
      unusual(PASSWORD_CHARACTERS_MIN - 1),
      // Nine characters of two units each.
      "😀😁😂😃😄😅😆😇😈",
      unusual(PASSWORD_LENGTH_MAX + 1),
      "password123",
      "PASSWORD123",
      "qwertyuiop",
      "1234567890",
      "abababababab",
      "Ada Lovelace",
      "ADA.LOVELACE@example.com",
    ]
  ) {
    await assert.rejects(good(bad), (error) => {
      assert.ok(error instanceof Problem && error.code === "invalid_body", bad);
      assert.deepEqual(error.options.errors?.map(({ field, code }) => [field, code]), [
        ["password", "weak_password"],
      ]);
      return true;
    });
  }
});

Deno.test("password: hashes at once and waiting are bounded, and the next request gets 503", async () => {
  const room = PASSWORD_HASHES_AT_ONCE + PASSWORD_HASHES_WAITING_MAX;
  const work = Array.from({ length: room }, () => hashPassword("three small boats", CHEAP));
  await assert.rejects(hashPassword("three small boats", CHEAP), { code: "overloaded" });
  assert.equal((await Promise.all(work)).length, room);
  await hashPassword("three small boats", CHEAP);
});
