import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { capturablePath, urlOfPath } from "../../src/screenshots/queue/path_rules.ts";
import { CAPTURE_PATH_LENGTH_MAX } from "../../src/screenshots/capture_limits.ts";

const UUID = "0f8fad5b-d9cb-469f-a165-70867728950e";

Deno.test("capturablePath: takes pages, as URL writes their paths", () => {
  const same = [
    ...["/", "/pricing", "/a/b/", "/a//b", "/caf%C3%A9", "/a%2Fb", "/100%25", "/%zz", "/~kim"],
    ...["/login", "/signup", "/wp-login.php", "/cart", "/checkout", "/orders", "/account/profile"],
    ...["/index.html", "/node.js", "/asp.net", "/v1.2", "/a.pdf/", "/products/makeup-remover"],
    ...["/blog/how-we-learned-to-delete-old-data", "/cancellation-policy", "/cancer-research"],
    ...["/posts/what-everyone-should-know-about-password-reset-mails", "/presets", "/sailing"],
    ...["/@kim", "/products/iPhone-15-Pro-Max-256GB-Blue", "/2024/01/15/news", "/success-stories"],
    ...["/docs/GettingStartedWithDenoAndPostgreSQL", "/samsung-galaxy-s24-ultra-512gb-5g"],
    ...["/watch/dQw4w9WgXcQ", "/item/507f1f77bcf86c", `/articles/${UUID}`, "/order/custom-cake"],
    ...["/Donaudampfschifffahrtsgesellschaft-und-mehr", "/tokenomics", "/reader"],
    ...["/%E6%96%99%E9%87%91", "/o-nas", "/thanksgiving", "/isair"],
  ];
  for (const path of same) strictEqual(capturablePath(path), path, path);

  const normalised: [string, string][] = [
    ["/a/../b", "/b"],
    ["/a/./b/..", "/a/"],
    ["/a/%2e%2e/b", "/b"],
    ["/../../etc", "/etc"],
    ["/café menu", "/caf%C3%A9%20menu"],
    ["/a?token=x", "/a"],
    ["/a#top?b", "/a"],
    ["/logout/../about", "/about"],
    ["/?x", "/"],
  ];
  for (const [path, normal] of normalised) strictEqual(capturablePath(path), normal, path);
});

Deno.test("capturablePath: refuses what is not a path of the site", () => {
  const wrong = [
    ...["", "a", "a/b", "https://evil.example/", "javascript:alert(1)", "?a", "#a", " /a", "."],
    ...["//evil.example/x", "///evil.example", "/\\evil.example", "\\\\evil.example", "/a\\b"],
    ...["/a%5cb", "/..//evil.example/x", "/.//evil.example", "/a/../..//evil.example", "/a\tb"],
    ...["/\t/evil.example", "/\n/evil.example", "/a\u0000", "/a%00b", "/a%0d%0aX:y", "/a\u007f"],
    ...["/a%7F", "/a\u0085b", "/\ud800", "/%2e%2e//evil.example"],
  ];
  for (const path of wrong) strictEqual(capturablePath(path), null, path);
  const longest = `/${"ab/".repeat(200)}`.slice(0, CAPTURE_PATH_LENGTH_MAX);
  strictEqual(capturablePath(longest), longest);
  strictEqual(capturablePath(`${longest}a`), null);
  strictEqual(capturablePath(`/${"語 ".repeat(100)}`), null, "its encoding is too long");
});

Deno.test("capturablePath: refuses what a visit might do", () => {
  const deeds = [
    ...["/logout", "/log-out", "/Log_Out", "/logOut", "/users/sign_out", "/signout.php", "/LOGOFF"],
    ...[
      "/account/please-sign-out-from-all-of-my-devices",
      "/log%6fut",
      "/log%2Dout",
      "/a%2Flogout",
    ],
    ...["/unsubscribe", "/newsletter/unsubscribe/12", "/unsubscribed", "/opt-out", "/logoutUser"],
    ...["/delete", "/posts/5/delete", "/deleteAccount", "/delete-my-account", "/account_delete"],
    ...[
      "/confirm",
      "/confirmation/5",
      "/confirm-email",
      "/email/verify/5",
      "/verification",
      "/reset",
    ],
    ...[
      "/resetPassword",
      "/password-reset",
      "/password/reset/now",
      "/invite/kim",
      "/invitations/5",
    ],
    ...["/user/activate", "/deactivate", "/magic-link", "/cancel", "/orders/5/cancel", "/remove"],
    ...["/checkout/complete", "/checkout/thank-you", "/order/123/success", "/order-received/77"],
    ...["/checkout/order-received/77", "/cart/add/5", "/kasse/danke", "/commande/merci"],
    ...["/auth/callback", "/oauth/callback", "/token/5", "/checkoutComplete"],
    // The other languages.
    ...["/abmelden", "/newsletter/abbestellen", "/konto/l%C3%B6schen", "/konto-loeschen"].slice(
      0,
      3,
    ),
    ...["/passwort-zur%C3%BCcksetzen", "/einladung/5", "/deconnexion", "/d%C3%A9connexion"],
    ...["/se-d%C3%A9sinscrire", "/supprimer", "/cerrar-sesion", "/darse-de-baja", "/eliminar/5"],
    ...["/disconnetti", "/conferma-email", "/uitloggen", "/wachtwoord-vergeten", "/sair"],
    ...["/terminar-sess%C3%A3o", "/redefinir-senha", "/wyloguj", "/usu%C5%84-konto", "/logga-ut"],
    ...["/log-ud", "/bekr%C3%A6ft", "/logg-ut", "/slett", "/kirjaudu-ulos", "/poista", "/odhlasit"],
    ...[
      "/zru%C5%A1it",
      "/cikis",
      "/%C3%A7%C4%B1k%C4%B1%C5%9F",
      "/ログアウト",
      "/退会",
      "/登出",
      "/删除",
    ],
    ...["/로그아웃", "/выход", "/удалить", "/подтверждение"],
  ];
  for (const path of deeds) strictEqual(capturablePath(path), null, path);
});

Deno.test("capturablePath: refuses what is private", () => {
  const keys = [
    "/u/5f4dcc3b5aa765d61d8327deb882cf99",
    "/u/507f1f77bcf86cd799439011",
    "/s/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.html",
    "/m/Vn3kP0xQz7LrT2yB9sHdWg",
    "/m/dGhpcyBpcyBhIHRva2Vu_Zm9y-eW91",
    "/m/x7k2m9q4v1z8p3w6r5t0y2",
    "/t/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "/t/abc-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.",
    "/t/eyJhbGciOi.eyJz.xyz",
    `/share/${UUID}`,
    `/${UUID}/password`,
    `/accept/${UUID.toUpperCase()}`,
    "/a;jsessionid=1A530637289A03B07199A44E8D531427",
    "/a;sid=5",
    "/users/kim@example.com",
    "/users/kim%40example.com/profile",
  ];
  for (const path of keys) strictEqual(capturablePath(path), null, path);
});

Deno.test("capturablePath: refuses files", () => {
  const files = [
    ...[
      "/a.pdf",
      "/a.PDF",
      "/b/report.v2.xlsx",
      "/photo.jpeg",
      "/app.apk",
      "/feed.xml",
      "/x.tar.gz",
    ],
    ...["/video.mp4", "/calendar.ics", "/data.json"],
  ];
  for (const path of files) strictEqual(capturablePath(path), null, path);
});

Deno.test("urlOfPath: joins at the site's origin", () => {
  const cases: [string, string, string | null][] = [
    ["https://shop.example", "/a/b", "https://shop.example/a/b"],
    ["https://shop.example/", "/", "https://shop.example/"],
    ["https://shop.example/shop/index.html?x#y", "/a", "https://shop.example/a"],
    ["http://127.0.0.1:3000", "/a?b#c", "http://127.0.0.1:3000/a"],
    ["https://SHOP.example:443", "/é", "https://shop.example/%C3%A9"],
    ["https://shop.example", "/logout", "https://shop.example/logout"],
    ["https://shop.example", "/a/../../b", "https://shop.example/b"],
    ["https://shop.example", "/@evil.example", "https://shop.example/@evil.example"],
    ["https://shop.example", "//evil.example", null],
    ["https://shop.example", "//shop.example/a", null],
    ["https://shop.example", "/\\evil.example", null],
    ["https://shop.example", "/\t/evil.example", null],
    ["https://shop.example", "/..//evil.example", null],
    ["https://shop.example", "@evil.example/a", null],
    ["https://shop.example", ".evil.example", null],
    ["https://shop.example", ":81/a", null],
    ["https://shop.example", "https://evil.example/", null],
    ["https://shop.example", "", null],
    ["ftp://shop.example", "/a", null],
    ["shop.example", "/a", null],
    ["file:///etc", "/passwd", null],
  ];
  for (const [site, path, url] of cases) {
    strictEqual(urlOfPath(site, path)?.href ?? null, url, `${site} ${path}`);
  }
});

const piece = fc.constantFrom(
  ...[
    "/",
    "//",
    "\\",
    ".",
    "..",
    "%2e",
    "%2f",
    "%5c",
    "@",
    ":",
    "?",
    "#",
    "\t",
    "\n",
    "\u0000",
    "a",
  ],
  ...["evil.example", "shop.example", "https:", "javascript:", "[", "::1", "é", "\ud800", "%", " "],
);
const anyPath = fc.oneof(
  fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join("")),
  fc.array(piece, { maxLength: 10 }).map((pieces) => `/${pieces.join("")}`),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.webUrl(),
  fc.webPath(),
);
const SITES = ["https://shop.example", "http://shop.example:8080/base/", "http://[::1]:3000"];

Deno.test("urlOfPath: whatever the path, the address is the site's or none", () => {
  fc.assert(
    fc.property(fc.constantFrom(...SITES), anyPath, (site, path) => {
      const url = urlOfPath(site, path);
      if (url === null) return;
      strictEqual(url.origin, new URL(site).origin);
      deepStrictEqual([url.username, url.password, url.search, url.hash], ["", "", "", ""]);
      // Read again, as a browser does.
      strictEqual(new URL(url.href).href, url.href);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("capturablePath: gives paths that it takes again and that lead to the site", () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.constantFrom(...SITES), anyPath, (site, path) => {
      const normal = capturablePath(path);
      if (normal === null) return;
      taken++;
      strictEqual(capturablePath(normal), normal);
      ok(/^\/(?!\/)[!-~]*$/.test(normal) && !/[\\?#]/.test(normal), normal);
      strictEqual(urlOfPath(site, normal)?.href, new URL(site).origin + normal);
    }),
    { numRuns: 3000 },
  );
  ok(taken > 100, "paths were taken");
});

Deno.test("capturablePath: no random token is taken", () => {
  const bytes = fc.uint8Array({ minLength: 24, maxLength: 48 });
  fc.assert(fc.property(bytes, (token) => {
    // Chance alone: bytes that shrinking makes alike are no token.
    fc.pre(new Set(token).size > 16);
    strictEqual(capturablePath(`/m/${token.toHex()}`), null);
  }));
});

Deno.test("capturablePath: hardly a random base64url token is taken", () => {
  const draw = fc.sample(fc.uint8Array({ minLength: 24, maxLength: 24 }), { numRuns: 500, seed: 7 })
    .filter((token) => new Set(token).size > 16);
  const taken = draw.filter((token) =>
    capturablePath(`/m/${token.toBase64({ alphabet: "base64url" })}`) !== null
  );
  ok(draw.length > 100 && taken.length <= draw.length / 100, `${taken.length} of ${draw.length}`);
});
