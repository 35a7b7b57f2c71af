import {
  BOT,
  type Case,
  check,
  form,
  SIGN_IN,
  small,
  text,
  WALL,
  wall,
} from "./reachability_cases.ts";

Deno.test("judgePage: login forms", () =>
  check([
    ["a form alone", { content: form("Acme") }, SIGN_IN],
    ["with menu and footer", { content: form("Log in – Acme", 900) }, SIGN_IN],
    ["German", { content: form("Bitte anmelden", 900) }, SIGN_IN],
    ["Turkish capitals", { content: form("OTURUM AÇ", 900) }, SIGN_IN],
    ["Japanese", { content: form("会員ログイン", 900) }, SIGN_IN],
    ["Korean", { content: form("회원 로그인", 900) }, SIGN_IN],
    ["half of the text", { content: form("Acme", 250, 300) }, SIGN_IN],
    ["a small form beside a page", { content: form("Tea and kettles", 400) }, null],
    ["the same, and it says log in", { content: form("Log in to see prices", 4000) }, null],
    ["a form to sign up", { content: form("Create your account", 100) }, null],
    ["to sign in or up", { content: form("Sign in or create an account", 100) }, SIGN_IN],
    ["at its own address", { at: "/account/login", content: form("Log in") }, null],
    ["at a sign-up address", { at: "/signup", content: form("Welcome") }, null],
    ["protected by a password", { content: form("Password protected page", 700) }, SIGN_IN],
    ["the name first, the password later", { content: small("Sign in") }, SIGN_IN],
    ["a title alone", { content: small("Sign in", 80, ["Welcome"]) }, null],
    ["a short page on it", { content: small("Sign in", 400) }, null],
    ["an account's page", { at: "/my-account", content: form("My account", 100) }, SIGN_IN],
    ["a login by a longer name", { at: "/customer-login", content: form("Welcome") }, null],
    ["a page on signing in", { content: { ...small("Sign in"), ...text(2000) } }, null],
    ["a layer to sign in", {
      content: { ...form("Tea", 5000), ...wall(0.9, false, "Log in to read on") },
    }, SIGN_IN],
    ["a layer with news", { content: wall(0.9, false, "Our newsletter") }, null],
  ]));

Deno.test("judgePage: cookie walls", () =>
  check([
    ["a wall", { content: wall(1, true, "Accept and continue") }, WALL],
    ["a layer that wants consent to news", { content: wall(0.8, false, "I consent") }, null],
    ["a banner", { content: wall(0.3, true, "We use cookies") }, null],
    ["refused and gone", { content: { consent: "refused" } }, null],
    ["sent to ask for consent", { to: "/consent/tcf/" }, WALL],
    ["sent elsewhere to ask", { to: "https://consent.yahoo.com/v2/x" }, WALL],
    ["asked for that page", { at: "/consent", to: "/consent/" }, null],
    ["a page that only asks", { content: small("Before you continue to Acme") }, WALL],
    ["a policy", { at: "/cookie-consent", content: small("Cookie consent") }, null],
    ["an article", { content: { title: "Cookie consent explained" } }, null],
  ]));

Deno.test("judgePage: soft 404", () =>
  check([
    ["English", { content: small("Page not found") }, "page_not_found"],
    ["number", { content: small("404") }, "page_not_found"],
    ["number first", { content: small("404 – Acme") }, "page_not_found"],
    ["number last", { content: small("Acme | 404") }, "page_not_found"],
    [
      "heading",
      { content: small("Acme", 300, ["Oops!", "We can’t find that page"]) },
      "page_not_found",
    ],
    ["said twice, with menus", { content: small("Page not found", 2900) }, "page_not_found"],
    ...[
      ...["Seite nicht gefunden", "Page introuvable", "Página no encontrada", "Pagina non trovata"],
      ...[
        "Pagina niet gevonden",
        "Página não encontrada",
        "Nie znaleziono strony",
        "Sivua ei löydy",
      ],
      ...["Sidan kunde inte hittas", "Siden blev ikke fundet", "Siden ble ikke funnet"],
      ...["Stránka nenalezena", "SAYFA BULUNAMADI", "ページが見つかりません", "页面不存在"],
      ...["페이지를 찾을 수 없습니다", "Страница не найдена", "SEITE NICHT GEFUNDEN"],
    ].map((title): Case => [title, { content: small(title) }, "page_not_found"]),
    ["said once in a long text", { content: small("Page not found", 2900, ["Tea"]) }, null],
    ["an article", { content: small("Page not found: a history", 9000) }, null],
    ["by its own name", { at: "/404", content: small("404") }, null],
    ["by its own words", { at: "/page-not-found.html", content: small("Page not found") }, null],
    ["a name with the number", { content: small("404 Media") }, null],
    ["a thing with the number", { content: small("Peugeot 404") }, null],
    ["further down", { content: small("Tea", 300, ["Tea", "Green", "Page not found"]) }, null],
  ]));

Deno.test("judgePage: bot checks", () =>
  check([
    ["Cloudflare's header", { headers: { "cf-mitigated": "challenge" } }, BOT],
    ["with 403", { httpStatus: 403, headers: { "cf-mitigated": "challenge" } }, BOT],
    ["AWS's header", { httpStatus: 405, headers: { "x-amzn-waf-action": "captcha" } }, BOT],
    ["DataDome's refusal", {
      httpStatus: 403,
      headers: { "x-datadome": "protected" },
      content: null,
    }, BOT],
    ["DataDome lets through", { headers: { "x-datadome": "protected" } }, null],
    ["Cloudflare's title", { httpStatus: 403, content: small("Just a moment...") }, BOT],
    ["in Chinese", { content: small("请稍候…") }, BOT],
    ["blocked by Cloudflare", {
      httpStatus: 403,
      content: small("Attention Required! | Cloudflare"),
    }, BOT],
    ["Akamai", {
      content: small("Access Denied", 200, ["Reference #18.2d351ab8.1557333295.a4e16ab"]),
    }, BOT],
    ["a title alone", { content: small("Access Denied") }, null],
    ["HUMAN", { httpStatus: 403, content: small("Access to this page has been denied") }, BOT],
    [
      "Imperva",
      { content: small("", 90, ["Request unsuccessful. Incapsula incident ID: 1-2"]) },
      BOT,
    ],
    ["a sentence", { content: small("Acme", 90, ["Verify you are human"]) }, BOT],
    ["AWS's title", { content: small("Human Verification") }, BOT],
    ["an article of that title", { content: { title: "Just a moment..." } }, null],
    ["a widget alone", { content: { ...small("Acme"), challengeMarks: ["hcaptcha"] } }, BOT],
    [
      "a widget on a short page",
      { content: { ...small("Acme", 300), challengeMarks: ["x"] } },
      null,
    ],
    ["a widget in a form", { content: { challengeMarks: ["turnstile"] } }, null],
    [
      "in a login form",
      { at: "/login", content: { ...form("Log in"), challengeMarks: ["x"] } },
      null,
    ],
    [
      "on a 404",
      { httpStatus: 404, content: { ...small("Acme"), challengeMarks: ["x"] } },
      "page_not_found",
    ],
    ...[
      "https://challenges.cloudflare.com/cdn-cgi/challenge-platform/h/g/turnstile/if/ov2/x",
      "/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1?ray=1",
      "https://geo.captcha-delivery.com/captcha/?initialCid=x",
      "https://www.google.com/recaptcha/api2/anchor?ar=1&k=x&size=normal&cb=y",
    ].map((mark): Case => [mark, { content: { ...small("Acme"), challengeMarks: [mark] } }, BOT]),
    ...[
      "/cdn-cgi/challenge-platform/scripts/jsd/main.js",
      "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit",
      "https://www.google.com/recaptcha/api2/anchor?ar=1&k=x&size=invisible&cb=y",
      "https://www.google.com/recaptcha/enterprise.js?render=x",
      "https://client.perimeterx.net/PX1/main.min.js",
      "/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3",
    ].map((mark): Case => [mark, { content: { ...small("Acme"), challengeMarks: [mark] } }, null]),
  ]));
