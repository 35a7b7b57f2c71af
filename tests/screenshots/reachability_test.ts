import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { judgePage, judgeSite, PAGE_RULES } from "../../src/screenshots/verdict/reachability.ts";
import {
  AWAY,
  BOT,
  check,
  factsOf,
  failed,
  form,
  HTTP_401,
  HTTP_403,
  HTTP_407,
  LOGIN,
  SIGN_IN,
  site,
  small,
  text,
  WALL,
  wall,
} from "./reachability_cases.ts";

Deno.test("judgeSite: compares the site with the hosts that were tracked", () => {
  const cases: [string | null, string[], string | null][] = [
    [null, ["shop.example"], "site_url_missing"],
    ["", [], "site_url_missing"],
    ["shop.example", ["shop.example"], "site_url_missing"],
    ["ftp://shop.example", ["shop.example"], "site_url_missing"],
    ["https://shop.example", [], null],
    ["https://shop.example", ["shop.example"], null],
    ["https://shop.example/base?x", ["SHOP.example"], null],
    ["https://shop.example", ["www.shop.example"], null],
    ["https://www.shop.example", ["shop.example"], null],
    ["https://shop.example.", ["shop.example"], null],
    ["https://shop.example", ["shop.example."], null],
    ["https://shop.example:8443", ["shop.example"], null],
    ["https://shop.example", ["shop.example:8080"], null],
    ["https://bücher.example", ["xn--bcher-kva.example"], null],
    ["https://xn--bcher-kva.example", ["Bücher.example"], null],
    ["http://[::1]:3000", ["[::1]"], null],
    ["http://[::1]:3000", ["::1"], null],
    ["http://localhost:3000", ["localhost"], null],
    ["https://shop.example", ["other.example", "shop.example"], null],
    ["https://shop.example", ["no host", "a/b", "user@shop.example", ""], null],
    ["https://shop.example", ["other.example"], "site_url_mismatch"],
    ["https://shop.example", ["de.shop.example"], "site_url_mismatch"],
    ["https://de.shop.example", ["shop.example"], "site_url_mismatch"],
    ["https://shop.example", ["www.www.shop.example"], "site_url_mismatch"],
    ["https://shop.example", ["myshop.example"], "site_url_mismatch"],
    ["http://127.0.0.1:3000", ["localhost"], "site_url_mismatch"],
  ];
  for (const [siteUrl, hosts, status] of cases) {
    strictEqual(judgeSite(siteUrl, hosts)?.status ?? null, status, `${siteUrl} ${hosts}`);
  }
});

Deno.test("judgeSite: names both sides and what to do", () => {
  strictEqual(
    judgeSite("https://shop.example:8443/x", ["Other.example", "other.example."])?.message,
    "This page was visited on other.example, but the site URL of the project names shop.example. " +
      "Set the site URL to the host that visitors use.",
  );
  const many = judgeSite("https://shop.example", ["a.io", "b.io", "c.io", "d.io", "e.io"])?.message;
  match(many ?? "", /^This page was visited on a\.io, b\.io, c\.io and 2 other hosts, but /);
  const four = judgeSite("https://shop.example", ["a.io", "b.io", "c.io", "d.io"])?.message ?? "";
  match(four, / and 1 other host, but /);
  match(judgeSite("https://shop.example", ["a.io", "b.io"])?.message ?? "", /on a\.io and b\.io, /);
  ok((judgeSite("https://shop.example", [`${"a.".repeat(900)}io`])?.message ?? "").length < 400);
  match(judgeSite(null, [])?.message ?? "", /^The project has no site URL\. Set it/);
});

Deno.test("judgePage: the rules are in the order of the decision table", () => {
  deepStrictEqual(PAGE_RULES.map(({ name }) => name), [
    ...["blocked address", "redirect loop", "bot check", "HTTP 401, 403, 407", "off the site"],
    ...["sent to a login", "HTTP 404, 410", "temporary failure", "not a page", "login form"],
    ...["cookie wall", "soft 404", "nothing to photograph"],
  ]);
});

Deno.test("judgePage: addresses, loops and HTTP", () =>
  check([
    ["a public page", {}, null],
    ["of little text", { content: small("Hello") }, null],
    ["without a known status", { httpStatus: null }, null],
    [
      "blocked address",
      failed("net::ERR_TUNNEL_CONNECTION_FAILED", { egressRefusal: "blocked_address" }),
      "blocked_address",
    ],
    ["blocked host", failed(null, { egressRefusal: "blocked_host" }), "blocked_address"],
    ["blocked port", failed(null, { egressRefusal: "blocked_port" }), "blocked_address"],
    ["too much", failed("net::ERR_FAILED", { egressRefusal: "too_much" }), "render_failed"],
    ["browser's word for a loop", failed("net::ERR_TOO_MANY_REDIRECTS"), "redirect_loop"],
    ["scripts in a circle", { chain: ["/a", "/b", "/a", "/b", "/a", "/b", "/a"] }, "redirect_loop"],
    ["there and back", { chain: ["/a", "/b", "/a"] }, null],
    [
      "reloads without end",
      { chain: ["/a", "/a", "/a", "/a", "/a"], isTimedOut: true },
      "redirect_loop",
    ],
    ["a route written anew", { chain: ["/a", "/a", "/a", "/a", "/a", "/a"] }, null],
    ["fragments that follow scrolling", {
      chain: Array.from({ length: 40 }, (_, i) => `/a#${i}`),
    }, null],
    ["numbered without end", {
      chain: Array.from({ length: 22 }, (_, i) => `/a?${i}`),
    }, "redirect_loop"],
    ["as many as browsers follow", {
      chain: Array.from({ length: 21 }, (_, i) => `/a?${i}`),
    }, null],
    ["401", { httpStatus: 401 }, HTTP_401],
    ["401 that throws", failed("net::ERR_INVALID_AUTH_CREDENTIALS"), HTTP_401],
    ["401 without a page", failed(null, { httpStatus: 401 }), HTTP_401],
    ["403", { httpStatus: 403 }, HTTP_403],
    ["407", { httpStatus: 407 }, HTTP_407],
    ["404", { httpStatus: 404 }, "page_not_found"],
    [
      "404 without a body",
      failed("net::ERR_HTTP_RESPONSE_CODE_FAILURE", { httpStatus: 404 }),
      "page_not_found",
    ],
    ["410", { httpStatus: 410 }, "page_not_found"],
    ["404 at the page of that name", { at: "/404", httpStatus: 404 }, "page_not_found"],
    ["408", { httpStatus: 408 }, "temporary_failure again"],
    ["425", { httpStatus: 425 }, "temporary_failure again"],
    ["429", { httpStatus: 429 }, "temporary_failure again"],
    ["500", { httpStatus: 500 }, "temporary_failure again"],
    ["503 without a body", failed(null, { httpStatus: 503 }), "temporary_failure again"],
    ["451", { httpStatus: 451 }, "not_publicly_reachable: it answers with HTTP 451"],
    ["no such name", failed("net::ERR_NAME_NOT_RESOLVED"), "temporary_failure again"],
    ["refused", failed("net::ERR_CONNECTION_REFUSED"), "temporary_failure again"],
    [
      "an error page with text",
      failed("net::ERR_EMPTY_RESPONSE", { content: {} }),
      "temporary_failure again",
    ],
    ["certificate", failed("net::ERR_CERT_DATE_INVALID"), "temporary_failure"],
    ["stopped before anything came", failed("net::ERR_ABORTED"), "temporary_failure again"],
    ["no secure connection", failed("net::ERR_SSL_PROTOCOL_ERROR"), "temporary_failure"],
    ["cut off", { netError: "net::ERR_INCOMPLETE_CHUNKED_ENCODING" }, "temporary_failure again"],
    ["stopped for another page", { netError: "net::ERR_ABORTED" }, null],
    ["endless reply", { content: null, isTimedOut: true }, "temporary_failure again"],
    ["no reply in time", failed(null, { isTimedOut: true }), "temporary_failure again"],
    ["half a page", { isTimedOut: true }, "temporary_failure again"],
    [
      "stopped after its head",
      { netError: "net::ERR_ABORTED", content: null },
      "temporary_failure again",
    ],
    ["nothing at all", failed(null), "temporary_failure again"],
    ["a blank window", failed(null, { to: "about:blank", content: {} }), "temporary_failure again"],
    [
      "a blank window after all the time",
      failed("net::ERR_ABORTED", { to: "about:blank", content: {}, isTimedOut: true }),
      "temporary_failure again",
    ],
    ["crash", failed(null, { isCrashed: true }), "render_failed"],
    ["crash after loading", { isCrashed: true }, "render_failed"],
  ]));

Deno.test("judgePage: responses that are not pages", () =>
  check([
    ["204", failed("net::ERR_ABORTED", { httpStatus: 204 }), "not_a_page"],
    ["205", failed("net::ERR_ABORTED", { httpStatus: 205 }), "not_a_page"],
    ["download", failed("net::ERR_ABORTED", { httpStatus: 200, isDownload: true }), "not_a_page"],
    [
      "download from a blank window",
      { isDownload: true, to: "about:blank", content: null },
      "not_a_page",
    ],
    [
      "attachment",
      { headers: { "content-disposition": "Attachment; filename=a" }, content: null },
      "not_a_page",
    ],
    ["inline", { headers: { "content-disposition": "inline" } }, null],
    ["PDF", { contentType: "application/pdf" }, "not_a_page"],
    ["image", { contentType: "image/png" }, "not_a_page"],
    [
      "JSON that was not looked at",
      { contentType: "application/json", content: null },
      "not_a_page",
    ],
    [
      "an endless stream",
      { contentType: "audio/mpeg", content: null, isTimedOut: true },
      "not_a_page",
    ],
    ["plain text", { contentType: "text/plain; charset=utf-8" }, "not_a_page"],
    ["XHTML", { contentType: "application/xhtml+xml" }, null],
    ["HTML with a charset", { contentType: "Text/HTML; charset=utf-8" }, null],
    ["unknown type", { contentType: null }, null],
    ["302 to nowhere", { httpStatus: 302 }, "not_a_page"],
    ["redirect to an app", failed("net::ERR_UNKNOWN_URL_SCHEME"), "not_a_page"],
    ["redirect to a file", failed("net::ERR_UNSAFE_REDIRECT"), "not_a_page"],
    ["redirect to no address", failed("net::ERR_INVALID_REDIRECT"), "not_a_page"],
    ["refused scheme", failed("net::ERR_DISALLOWED_URL_SCHEME"), "not_a_page"],
    ["script to about:blank", { to: "about:blank" }, "not_a_page"],
  ]));

Deno.test("judgePage: redirects", () =>
  check([
    ["elsewhere on the site", { to: "/kettles" }, null],
    ["a slash more", { to: "/tea/" }, null],
    ["from www", { at: "https://www.shop.example/tea", to: "https://shop.example/tea" }, null],
    ["to www", { to: "https://www.shop.example/tea" }, null],
    ["to http", { to: "http://shop.example/tea" }, null],
    [
      "over another host and back",
      { chain: ["https://sso.example/x", "https://shop.example/tea"] },
      null,
    ],
    ["another host", { to: "https://other.example/tea" }, `${AWAY}other.example`],
    ["a subdomain", { to: "https://de.shop.example/tea" }, `${AWAY}de.shop.example`],
    ["another with the same end", { to: "https://myshop.example/" }, `${AWAY}myshop.example`],
    ["a number", { to: "http://192.0.2.7/" }, `${AWAY}another host`],
    ["a name of an inner network", { to: "http://intranet/" }, `${AWAY}another host`],
    [
      "away, whatever is said there",
      { to: "https://other.example/", httpStatus: 404 },
      `${AWAY}other.example`,
    ],
    [
      "another host, which cannot be found",
      failed("net::ERR_NAME_NOT_RESOLVED", {
        chain: [
          "https://shop.example/tea",
          "https://other.example/tea",
          "chrome-error://chromewebdata/",
        ],
      }),
      `${AWAY}other.example`,
    ],
    [
      "a login of others, which cannot be reached",
      failed("net::ERR_TUNNEL_CONNECTION_FAILED", {
        chain: ["https://shop.example/tea", "https://acme.okta.com/app"],
      }),
      `${LOGIN} on acme.okta.com`,
    ],
    [
      "to www, which cannot be found",
      failed("net::ERR_NAME_NOT_RESOLVED", {
        chain: ["https://shop.example/tea", "https://www.shop.example/tea"],
      }),
      "temporary_failure again",
    ],
    ["to a login", { to: "/login?next=/tea" }, LOGIN],
    ["to a login below", { to: "/account/login", content: small("Hello") }, LOGIN],
    ["to Rails", { to: "/users/sign_in" }, LOGIN],
    ["to WordPress", { to: "/wp-login.php?redirect_to=x" }, LOGIN],
    ["to OAuth", { to: "/oauth/authorize" }, LOGIN],
    ["to SSO", { to: "/sso", content: null }, LOGIN],
    ["German", { to: "/anmelden" }, LOGIN],
    ["Spanish, accented", { to: "/iniciar-sesi%C3%B3n" }, LOGIN],
    ["Polish", { to: "/zaloguj-się" }, LOGIN],
    ["Chinese", { to: "/登录" }, LOGIN],
    ["a route of scripts", { to: "/#/login" }, LOGIN],
    ["a fragment alone", { to: "/tea#login" }, null],
    ["a vague name with a form", { to: "/my-account", content: form("My account") }, LOGIN],
    ["a vague name without one", { to: "/my-account" }, null],
    ["an article on it", { to: "/blog/login-tips" }, null],
    ["documentation of it", { to: "/docs/sso", content: text(9000) }, null],
    [
      "Google",
      { to: "https://accounts.google.com/v3/signin/x" },
      `${LOGIN} on accounts.google.com`,
    ],
    [
      "Microsoft",
      { to: "https://login.microsoftonline.com/x" },
      `${LOGIN} on login.microsoftonline.com`,
    ],
    ["Okta", { to: "https://acme.okta.com/app" }, `${LOGIN} on acme.okta.com`],
    ["Auth0", { to: "https://acme.eu.auth0.com/u" }, `${LOGIN} on acme.eu.auth0.com`],
    ["no Okta", { to: "https://notokta.com/app" }, `${AWAY}notokta.com`],
    [
      "its own identity host",
      { to: "https://accounts.shop.example/" },
      `${LOGIN} on accounts.shop.example`,
    ],
    ["a login of others", { to: "https://other.example/login" }, `${LOGIN} on other.example`],
    ["asked for the login", { at: "/login", content: form("Log in") }, null],
    ["asked for it in another language", { at: "/login", to: "/de/anmelden" }, null],
    ["from an address that speaks of it", { at: "/login-required", to: "/login" }, LOGIN],
    ["from a page to register", { at: "/register", to: "/login", content: form("Log in") }, LOGIN],
    [
      "a sign-up page at a vague address",
      { at: "/signup", to: "/account/signup", content: form("Log in or sign up") },
      null,
    ],
    ["from a login's longer name to itself", { at: "/app-login", to: "/app-login/" }, null],
    [
      "asked for it, and sent away",
      { at: "/login", to: "https://acme.okta.com/" },
      `${LOGIN} on acme.okta.com`,
    ],
    ["a login that is not there", { to: "/login", httpStatus: 404 }, LOGIN],
  ]));

Deno.test("judgePage: the first rule that applies decides", () => {
  const challenge = { "cf-mitigated": "challenge" };
  const login = form("Log in");
  const away = "https://other.example/";
  check([
    ["address before loop", {
      egressRefusal: "blocked_address",
      netError: "net::ERR_TOO_MANY_REDIRECTS",
    }, "blocked_address"],
    [
      "loop before 401",
      { chain: Array(9).fill("/a"), isTimedOut: true, httpStatus: 401 },
      "redirect_loop",
    ],
    ["check before 401", { httpStatus: 401, headers: challenge }, BOT],
    ["check before away", { to: away, headers: challenge }, BOT],
    ["check before 503", { httpStatus: 503, headers: challenge }, BOT],
    ["401 before away", { to: away, httpStatus: 401 }, HTTP_401],
    ["403 before a login", { to: "/login", httpStatus: 403, content: login }, HTTP_403],
    ["away before 500", { to: away, httpStatus: 500 }, `${AWAY}other.example`],
    ["login before 500", { to: "/login", httpStatus: 500 }, LOGIN],
    ["404 before its form", { httpStatus: 404, content: login }, "page_not_found"],
    ["404 before its type", { httpStatus: 404, contentType: "application/json" }, "page_not_found"],
    [
      "500 before its type",
      { httpStatus: 500, contentType: "application/json" },
      "temporary_failure again",
    ],
    ["type before its words", { contentType: "text/plain", content: small("404") }, "not_a_page"],
    ["form before wall", { content: { ...login, ...wall(1, true, "Cookies") } }, SIGN_IN],
    ["wall before soft 404", { content: { ...small("404"), ...wall(1, true, "Cookies") } }, WALL],
    ["soft 404 before a crash", { isCrashed: true, content: small("404") }, "page_not_found"],
  ]);
});

Deno.test("judgePage: an address that cannot be parsed is not a page", () => {
  strictEqual(judgePage({ ...factsOf({}), url: "" }, site)?.status, "not_a_page");
  strictEqual(judgePage(factsOf({}), { siteUrl: "x" })?.status, "not_a_page");
});

Deno.test("judgePage: messages name only hosts that visitors know", () => {
  const inner = [
    "http://192.168.7.7:9200/x",
    "http://[fd00::7]/",
    "http://db:5432/",
    "http://10.0.0.7/login",
  ];
  for (const to of inner) {
    const message = judgePage(factsOf({ to }), site)?.message ?? "";
    match(message, /another host\.$/);
    ok(!/192|fd00|db|10\.0|\d{4}/.test(message), message);
  }
  const typed = judgePage(factsOf({ contentType: "<b>http://10.0.0.7</b>" }), site);
  strictEqual(
    typed?.message,
    "This address is not a page: it answers with another kind of content.",
  );
});
