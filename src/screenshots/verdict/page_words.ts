import { PhraseSet } from "../phrases.ts";

/** Phrases in titles and headings of login forms. */
export const SIGN_IN_PHRASES = new PhraseSet([
  ...["log in", "login", "log on", "logon", "sign in", "signin", "sign on", "single sign-on"],
  ...["authentication required", "members only", "password required", "password protected"],
  ...["anmelden", "anmeldung", "einloggen", "Bitte melden Sie sich an", "passwortgeschützt"],
  ...["se connecter", "connexion", "connectez-vous", "identifiez-vous", "s'identifier"],
  ...["iniciar sesión", "inicia sesión", "inicie sesión", "inicio de sesión", "acceder"],
  ...["accedi", "accesso", "effettua l'accesso", "inloggen", "aanmelden", "log in bij"],
  ...["iniciar sessão", "inicie sessão", "fazer login", "faça login", "acessar conta", "entrar"],
  ...["zaloguj", "zaloguj się", "logowanie", "logga in", "inloggning", "log ind", "log på"],
  ...["logg inn", "logg på", "innlogging", "kirjaudu", "kirjaudu sisään", "kirjautuminen"],
  ...["přihlášení", "přihlásit", "přihlaste se", "giriş yap", "üye girişi", "oturum aç"],
  ...["ログイン", "サインイン", "登录", "登入", "登錄", "로그인", "войти", "вход", "авторизация"],
]);

/** Phrases in titles and headings of forms for opening an account. */
export const SIGN_UP_PHRASES = new PhraseSet([
  ...["sign up", "signup", "register", "registration", "create account", "create an account"],
  ...["create your account", "open an account", "get started", "join", "start your free trial"],
  ...["registrieren", "registrierung", "konto erstellen", "konto anlegen", "inscription"],
  ...["s'inscrire", "inscrivez-vous", "créer un compte", "créez un compte", "registrarse"],
  ...["regístrate", "registro", "crear cuenta", "crear una cuenta", "registrati", "registrazione"],
  ...["crea un account", "registreren", "account aanmaken", "criar conta", "cadastro"],
  ...["cadastre-se", "registar", "rejestracja", "zarejestruj", "załóż konto", "registrera"],
  ...["skapa konto", "opret konto", "opret bruger", "opprett konto", "registrer", "luo tili"],
  ...["rekisteröidy", "rekisteröityminen", "registrace", "zaregistrovat", "vytvořit účet"],
  ...["kayıt ol", "üye ol", "hesap oluştur", "新規登録", "会員登録", "アカウント作成", "注册"],
  ...["註冊", "회원가입", "регистрация", "зарегистрироваться", "создать аккаунт"],
]);

/** Folded segments of paths, without file endings, that are certainly of a login page. */
export const SIGN_IN_SEGMENTS: ReadonlySet<string> = new Set([
  ...["login", "log in", "logon", "log on", "signin", "sign in", "sign on", "wp login"],
  ...["auth", "authenticate", "authentication", "authorize", "authorise", "sso", "sso api"],
  ...["saml", "saml2", "oauth", "oauth2", "oidc", "openid", "openid connect", "idp", "adfs"],
  ...["anmelden", "einloggen", "connexion", "se connecter", "iniciar sesion", "inicio sesion"],
  ...["inloggen", "aanmelden", "iniciar sessao", "zaloguj", "zaloguj sie", "logowanie"],
  ...["logga in", "inloggning", "log ind", "logind", "logg inn", "kirjaudu", "kirjautuminen"],
  ...["prihlaseni", "prihlasit", "prihlasit se", "giris yap", "oturum ac", "uye girisi"],
  ...["войти", "авторизация", "vojti", "avtorizaciya"].map((word) => word.normalize("NFKD")),
  ...["登录", "登入", "登錄"],
]);

/** Words of paths that may be of a login page: its content must show it too. */
export const SIGN_IN_PATH_PHRASES = new PhraseSet([
  ...["login", "log in", "logon", "log on", "signin", "sign in", "wp login", "auth", "sso"],
  ...["authenticate", "authentication", "authorize", "oauth", "oauth2", "account", "my account"],
  ...["session", "sessions", "members", "portal", "anmelden", "anmeldung", "einloggen", "konto"],
  ...["mein konto", "connexion", "se connecter", "identification", "mon compte", "compte"],
  ...["iniciar sesion", "acceder", "mi cuenta", "accedi", "accesso", "mio account", "inloggen"],
  ...["aanmelden", "mijn account", "entrar", "iniciar sessao", "minha conta", "zaloguj"],
  ...["logowanie", "moje konto", "logga in", "inloggning", "log ind", "logg inn", "min side"],
  ...["mina sidor", "kirjaudu", "prihlaseni", "prihlasit", "giris", "giris yap", "hesabim"],
  ...["ログイン", "登录", "登入", "로그인", "войти", "вход", "vhod"],
]);

/** Hosts, with all their subdomains, of identity providers. */
export const IDENTITY_HOSTS: readonly string[] = [
  ...["accounts.google.com", "login.microsoftonline.com", "login.microsoftonline.us"],
  ...["login.microsoft.com", "login.live.com", "login.windows.net", "b2clogin.com"],
  ...["ciamlogin.com", "okta.com", "oktapreview.com", "okta-emea.com", "okta-gov.com"],
  ...["auth0.com", "onelogin.com", "pingidentity.com", "pingone.com", "pingone.eu"],
  ...["amazoncognito.com", "signin.aws.amazon.com", "awsapps.com", "appleid.apple.com"],
  ...["login.yahoo.com", "id.atlassian.com", "login.salesforce.com", "cloudflareaccess.com"],
  ...["duosecurity.com", "jumpcloud.com", "authkit.app", "accounts.dev", "kinde.com"],
  ...["fusionauth.io", "secureauth.com", "idaptive.app", "passport.yandex.ru"],
];

/** First labels of hosts on which sites have their own identity providers. */
export const IDENTITY_LABELS: ReadonlySet<string> = new Set([
  ...["login", "logon", "signin", "sign-in", "auth", "oauth", "sso", "saml", "idp", "adfs", "cas"],
  ...["account", "accounts", "identity", "id", "passport", "konto", "keycloak"],
]);

/** Phrases of pages that say that a page does not exist, whatever their HTTP status. */
export const NOT_FOUND_PHRASES = new PhraseSet([
  ...["page not found", "not found", "page cannot be found", "page can't be found"],
  ...["page could not be found", "page couldn't be found", "can't find that page"],
  ...["can't find this page", "cannot find the page", "can't find the page you"],
  ...["couldn't find that page", "couldn't find this page", "page doesn't exist"],
  ...["page does not exist", "page isn't available", "page no longer exists", "page is missing"],
  ...["error 404", "404 error", "http 404", "404 not found", "Fehler 404", "erreur 404"],
  ...["Seite nicht gefunden", "nicht gefunden", "nicht gefunden werden", "Seite existiert nicht"],
  ...["Seite gibt es nicht", "Seite nicht vorhanden", "page introuvable", "page non trouvée"],
  ...["cette page n'existe pas", "page n'existe plus", "página no encontrada"],
  ...["no se ha encontrado la página", "no encontramos la página", "la página no existe"],
  ...["pagina non trovata", "pagina inesistente", "la pagina non esiste"],
  ...["pagina niet gevonden", "niet gevonden", "pagina bestaat niet", "página não encontrada"],
  ...["página não existe", "strona nie została znaleziona", "nie znaleziono strony"],
  ...["nie znaleziono", "strona nie istnieje", "sidan hittades inte", "sidan kunde inte hittas"],
  ...["sidan finns inte", "siden blev ikke fundet", "siden findes ikke", "siden finnes ikke"],
  ...["siden kunne ikke findes", "siden ble ikke funnet", "fant ikke siden"],
  ...["sivua ei löytynyt", "sivua ei löydy", "stránka nenalezena", "stránka nebyla nalezena"],
  ...["stránka neexistuje", "sayfa bulunamadı", "böyle bir sayfa yok"],
  ...["ページが見つかりません", "ページは見つかりません", "お探しのページ", "ページは存在しません"],
  ...[
    "找不到页面",
    "页面不存在",
    "页面未找到",
    "未找到页面",
    "找不到頁面",
    "找不到網頁",
    "頁面不存在",
  ],
  ...["페이지를 찾을 수 없습니다", "존재하지 않는 페이지", "страница не найдена"],
  ...["страница не существует", "такой страницы нет"],
]);

/** Phrases in titles of pages that ask for consent before they show anything. */
export const CONSENT_PHRASES = new PhraseSet([
  ...["cookie consent", "consent", "cookie wall", "accept cookies", "before you continue"],
  ...["before you proceed", "cookie settings", "privacy settings", "Zustimmung", "Einwilligung"],
  ...["bevor Sie fortfahren", "bevor es weitergeht", "Datenschutzeinstellungen"],
  ...["consentement", "avant de continuer", "accepter les cookies", "consentimiento"],
  ...["antes de continuar", "aceptar cookies", "consenso", "prima di continuare"],
  ...["accetta i cookie", "toestemming", "cookies accepteren", "voordat je verdergaat"],
  ...["consentimento", "aceitar cookies", "zgoda na pliki cookie", "zanim przejdziesz dalej"],
  ...["samtycke", "godkänn cookies", "innan du fortsätter", "samtykke", "accepter cookies"],
  ...["før du fortsætter", "før du fortsetter", "suostumus", "hyväksy evästeet", "souhlas"],
  ...["než budete pokračovat", "çerez onayı", "devam etmeden önce", "クッキーの同意"],
  ...["Cookieの同意", "Cookie 同意", "同意管理", "쿠키 동의", "согласие на cookie"],
  ...["прежде чем продолжить"],
]);

/** Folded segments of paths to which sites redirect visitors who have not agreed yet. */
export const CONSENT_SEGMENTS: ReadonlySet<string> = new Set([
  ...["consent", "cookie consent", "cookieconsent", "cookies consent", "cookie wall"],
  ...["cookiewall", "privacy wall", "privacywall", "privacy gate", "zustimmung", "einwilligung"],
  ...["consentement", "consentimiento", "consenso", "cookiemuur", "toestemming", "samtycke"],
  ...["samtykke", "suostumus", "souhlas", "cerez onayi"],
]);
