import { PhraseSet } from "../phrases.ts";

/** Words in layers that ask for consent. */
export const COOKIE_PHRASES = new PhraseSet([
  ...["cookie*", "consent*", "gdpr", "dsgvo", "rgpd", "ccpa", "do not sell*", "your privacy"],
  ...["einwilligung*", "zustimmung*", "consentement*", "consentimiento*", "consenso"],
  ...["toestemming", "consentimento*", "ciasteczk*", "zgod*", "samtycke", "samtykke"],
  ...["informasjonskapsl*", "evast*", "souhlas*", "cerez*", "クッキー", "쿠키", "куки", "cookie를"],
]);

/** Words of buttons that refuse everything, or everything that is not necessary. */
export const REFUSE_WORDS: readonly string[] = [
  ...["reject", "reject all", "refuse", "refuse all", "decline", "decline all", "deny", "deny all"],
  ...["disagree", "i disagree", "do not accept", "don't accept", "no thanks", "no, thanks"],
  ...["necessary only", "only necessary", "essential only", "only essential", "required only"],
  ...["only required", "strictly necessary", "necessary cookies", "essential cookies"],
  ...["continue without accepting", "continue without agreeing", "without consent", "opt out"],
  ...["ablehnen", "alle ablehnen", "alles ablehnen", "verweigern", "nur notwendige"],
  ...["nur erforderliche", "nur essenzielle", "nur essentielle", "nur technisch notwendige"],
  ...["ohne zustimmung", "ohne einwilligung", "nicht zustimmen", "widersprechen"],
  ...["refuser", "tout refuser", "je refuse", "rejeter", "continuer sans accepter"],
  ...["uniquement nécessaires", "nécessaires uniquement", "cookies essentiels", "interdire"],
  ...["rechazar", "rechazar todo", "rechazar todas", "solo necesarias", "solo las necesarias"],
  ...["denegar", "rifiuta", "rifiuta tutto", "rifiuto", "solo necessari", "solo i necessari"],
  ...["continua senza accettare", "weigeren", "alles weigeren", "weiger", "afwijzen"],
  ...["alleen noodzakelijk", "alleen noodzakelijke", "alleen functionele"],
  ...["rejeitar", "rejeitar todos", "recusar", "recusar tudo", "apenas necessários"],
  ...["apenas os necessários", "odrzuć", "odrzuć wszystkie", "odmawiam", "odmów"],
  ...["tylko niezbędne", "avvisa", "avvisa alla", "neka", "neka alla", "endast nödvändiga"],
  ...["bara nödvändiga", "afvis", "afvis alle", "kun nødvendige", "avvis", "avvis alle"],
  ...["hylkää", "hylkää kaikki", "vain välttämättömät", "kiellä", "odmítnout"],
  ...["odmítnout vše", "pouze nezbytné", "reddet", "tümünü reddet", "yalnızca gerekli"],
  ...["拒否", "すべて拒否", "同意しない", "必要なもののみ", "拒绝", "全部拒绝", "拒絕", "仅必要"],
  ...["거부", "모두 거부", "отклонить", "отклонить все", "отказаться", "только необходимые"],
];

/** Words that make a button agree, wherever they are in it. */
export const ACCEPT_WORDS: readonly string[] = [
  ...["accept", "accept all", "accepts", "agree", "i agree", "allow", "allow all", "yes"],
  ...["got it", "ok", "okay", "understood", "i understand", "enable", "enable all", "opt in"],
  ...["akzeptieren", "akzeptiere", "annehmen", "zustimmen", "einverstanden", "erlauben"],
  ...["zulassen", "verstanden", "accepter", "j'accepte", "tout accepter", "autoriser"],
  ...["d'accord", "aceptar", "acepto", "aceptar todo", "permitir", "de acuerdo", "entendido"],
  ...["accetta", "accetto", "accettare", "accetta tutto", "consenti", "acconsento", "ho capito"],
  ...["accepteren", "accepteer", "akkoord", "toestaan", "aceitar", "aceito", "concordo"],
  ...["akceptuj", "akceptuję", "zgadzam się", "zaakceptuj", "zezwól", "acceptera"],
  ...["godkänn", "tillåt", "accepter alle", "tillad", "godta", "godta alle", "tillat"],
  ...["aksepter", "hyväksy", "hyväksyn", "salli", "přijmout", "souhlasím", "povolit"],
  ...["kabul et", "kabul ediyorum", "tümünü kabul et", "同意する", "許可", "接受", "同意", "允许"],
  ...["동의", "허용", "수락", "принять", "согласен", "разрешить"],
];

/** Buttons that ask for money, or for an account, instead of consent. */
const PRICE_PHRASES = new PhraseSet([
  ...["pay", "subscribe", "subscription", "abo", "abonnieren", "abonner", "s'abonner", "buy"],
  ...["kaufen", "suscribirse", "suscríbete", "abbonati", "abonneren", "sign in", "log in"],
]);

const SETTINGS_PHRASES = new PhraseSet([
  ...["settings", "preferences", "manage", "customize", "customise", "options", "more options"],
  ...["einstellungen", "anpassen", "auswahl", "paramètres", "paramétrer", "personnaliser"],
  ...["configurar", "configuración", "ajustes", "personalizza", "impostazioni", "instellingen"],
  ...["voorkeuren", "definições", "preferências", "ustawienia", "inställningar", "indstillinger"],
  ...["innstillinger", "asetukset", "nastavení", "ayarlar", "設定", "设置", "설정", "настройки"],
]);
const REFUSE_PHRASES = new PhraseSet(REFUSE_WORDS);
const ACCEPT_PHRASES = new PhraseSet(ACCEPT_WORDS);
/** A longer text is not a button but a sentence with a link. */
const BUTTON_LENGTH_MAX = 60;

/** Whether a button refuses; one that also mentions accepting does not count. */
export function isRefusal(button: string): boolean {
  return button.length <= BUTTON_LENGTH_MAX && REFUSE_PHRASES.isIn(button) &&
    !ACCEPT_PHRASES.isIn(withoutRefusedAcceptance(button)) && !PRICE_PHRASES.isIn(button);
}

/** Removes acceptance that is negated, as in "Continue without accepting". */
function withoutRefusedAcceptance(button: string): string {
  return button.replace(
    /\b(?:without|sans|senza|sin|ohne|don['’]t|do not|not?)\s+\p{L}+|nicht\s+zustimmen|同意しない/giu,
    " ",
  );
}

/** Whether a layer asks for consent: it mentions it, and has a button for an answer. */
export function asksForConsent(text: string, buttons: readonly string[]): boolean {
  return COOKIE_PHRASES.isIn(text) && buttons.some((button) =>
    button.length <= BUTTON_LENGTH_MAX &&
    (REFUSE_PHRASES.isIn(button) || ACCEPT_PHRASES.isIn(button) || SETTINGS_PHRASES.isIn(button))
  );
}
