import assert from "node:assert/strict";
import { fill } from "./acts.ts";
import { DEMO, type PageOptions, PASSWORD, type Visit } from "./page.ts";
import type { Page } from "puppeteer-core";

let members = 0;

export interface Member {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** Somebody who was invited. */
export interface Invited extends Member {
  /** What stands behind the `#` of their link. */
  readonly fragment: string;
}

interface Wanted {
  readonly role?: string;
  readonly projects?: readonly string[];
}

// Tests look into replies of every shape.
// deno-lint-ignore no-explicit-any
async function added({ server }: Visit, wanted: Wanted, more: object): Promise<any> {
  members++;
  const { role = "viewer", projects = role === "owner" ? ["*"] : [DEMO] } = wanted;
  const who = { email: `member${members}@example.com`, name: `Member ${members}` };
  const whole = { ...who, role, projects, ...more };
  const { status, body } = await server.admin("POST", "/v1/people", whole);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** What stands behind the `#` of a link. */
export function fragmentOf(url: string): string {
  return new URL(url).hash.slice(1);
}

/** Invites somebody of their own. */
export async function invited(visit: Visit, wanted: Wanted = {}): Promise<Invited> {
  const { person, invitation } = await added(visit, wanted, {});
  return { ...person, fragment: fragmentOf(invitation.url) };
}

/** Somebody with a password, who is not signed in. */
export async function member(visit: Visit, wanted: Wanted = {}): Promise<Member> {
  return (await added(visit, wanted, { password: PASSWORD })).person;
}

/** Types e-mail and password into the sign-in page. */
export async function signIn(page: Page, { email }: { email: string }, password = PASSWORD) {
  await fill(page, "E-mail", email);
  await fill(page, "Password", password);
  await page.keyboard.press("Enter");
}

/** A page on which a new member is signed in. */
export async function openedBy(
  visit: Visit,
  who: { email: string },
  query = "",
  options: PageOptions = {},
): Promise<Page> {
  // That nobody is signed in yet is a 401, which browsers tell of.
  if (!visit.expectedFaults.includes("401")) visit.expectedFaults.push("401");
  const page = await visit.open(query, { ...options, token: null });
  await signIn(page, who);
  await page.waitForSelector(".shell");
  return page;
}
