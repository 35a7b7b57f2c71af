/// <reference lib="dom" />
import { Button } from "./button.tsx";
import { useEffect, useState } from "preact/hooks";
import type { output } from "zod";
import type { LinkShown } from "../auth/people/link_endpoints.ts";
import type { Role } from "../auth/roles.ts";
import type { ApiProblem } from "./api_problem.ts";
import { type AuthOffer, providerUrl, useOffer } from "./auth_offer.ts";
import { callByCookie } from "./cookie_call.ts";
import { Entrance, Or } from "./entrance.tsx";
import { EntranceForm } from "./entrance_form.tsx";
import { PasswordField, TextField } from "./field.tsx";
import { leaveLink, type OpenedLink } from "./opened_link.ts";
import { ErrorNote, Skeleton } from "./panel.tsx";
import { account, isSignedIn } from "./session.ts";
import { ProviderButton } from "./sign_in.tsx";

/** The person whom a link is for: the reply of `POST /v1/auth/invitation/look`. */
type LinkLook = output<typeof LinkShown>;

const WITH_ARTICLE: Readonly<Record<Role, string>> = {
  owner: "an owner: you see and change everything",
  admin: "an admin: you see the numbers, and change settings and keys",
  editor: "an editor: you see the numbers, and save funnels and goals",
  viewer: "a viewer: you see the numbers",
};
const PASSWORD_HINT =
  "At least 10 characters. A few words in a row are good, and easy to remember.";
const OWNER_EXISTS =
  "This link has done its work: the server has an owner. If that is you, sign in; if not, ask the owner to invite you.";

interface Words {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly busy: string;
  readonly path: string;
  /** The name of the link's secret in the body. */
  readonly secretName: string;
}

const WORDS: Readonly<Record<OpenedLink["kind"], Words>> = {
  setup: {
    title: "Make your account",
    text:
      "You are the first here: this account is the owner's. It sees every project, changes everything, and invites the others.",
    action: "Make the account",
    busy: "Making it…",
    path: "/v1/auth/owner",
    secretName: "setupToken",
  },
  invitation: {
    title: "You are invited",
    text: "Choose a password, and you are in.",
    action: "Accept the invitation",
    busy: "One moment…",
    path: "/v1/auth/invitation",
    secretName: "token",
  },
  reset: {
    title: "Choose a new password",
    text: "It takes the place of the old one, and signs you out everywhere else.",
    action: "Save and sign in",
    busy: "Saving…",
    path: "/v1/auth/reset",
    secretName: "token",
  },
};

interface Typed {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

function missingOf(kind: OpenedLink["kind"], typed: Typed): Partial<Typed> {
  return {
    ...(kind === "setup" && typed.email.trim() === ""
      ? { email: "Type your e-mail address." }
      : {}),
    ...(kind !== "reset" && typed.name.trim() === "" ? { name: "Type your name." } : {}),
    ...(typed.password === "" ? { password: "Choose a password." } : {}),
  };
}

function bodyOf({ kind, secret }: OpenedLink, { email, name, password }: Typed) {
  const { secretName } = WORDS[kind];
  return {
    [secretName]: secret,
    ...(kind === "setup" ? { email: email.trim() } : {}),
    ...(kind === "reset" ? {} : { name: name.trim() }),
    password,
  };
}

function LinkForm({ link, whose }: { link: OpenedLink; whose: LinkLook | null }) {
  const { kind } = link;
  const { path, action, busy } = WORDS[kind];
  return (
    <EntranceForm<Typed>
      start={{ email: whose?.email ?? "", name: whose?.name ?? "", password: "" }}
      missingOf={(typed) => missingOf(kind, typed)}
      ask={async (typed) => {
        await callByCookie("POST", path, bodyOf(link, typed));
      }}
      onDone={leaveLink}
      action={action}
      busy={busy}
    >
      {(field) => (
        <>
          {/* Password managers want to know whose password it is. */}
          <TextField
            {...field("email")}
            label="E-mail"
            type="email"
            autocomplete="username"
            hint={kind === "reset" ? undefined : "You sign in with it."}
            isFirst={kind === "setup"}
            isReadOnly={kind !== "setup"}
          />
          {kind !== "reset" && (
            <TextField
              {...field("name")}
              label="Name"
              autocomplete="name"
              hint="As the others see you."
              maxLength={200}
            />
          )}
          <PasswordField
            {...field("password")}
            label={kind === "reset" ? "New password" : "Password"}
            autocomplete="new-password"
            hint={PASSWORD_HINT}
            isFirst={kind !== "setup"}
          />
        </>
      )}
    </EntranceForm>
  );
}

/** Says why the link is no longer valid, and leads on. */
function Over({ why }: { why: string }) {
  return (
    <>
      <p>{why}</p>
      <Button kind="primary" onClick={leaveLink}>
        {isSignedIn.value ? "Open the dashboard" : "Go to the sign-in page"}
      </Button>
    </>
  );
}

function textOf(kind: OpenedLink["kind"], whose: LinkLook | null): string {
  if (kind !== "invitation" || whose === null) return WORDS[kind].text;
  return `You are invited as ${WITH_ARTICLE[whose.role]}. Choose a password, and you are in.`;
}

function LinkWays({ link, offer, whose }: {
  link: OpenedLink;
  offer: AuthOffer;
  whose: LinkLook | null;
}) {
  const hasProvider = offer.oidc !== null && link.kind !== "reset";
  return (
    <>
      <p>{textOf(link.kind, whose)}</p>
      {offer.password && <LinkForm link={link} whose={whose} />}
      {offer.password && hasProvider && <Or />}
      {hasProvider && (
        <ProviderButton
          name={offer.oidc!.name}
          href={providerUrl({ [link.kind]: link.secret })}
        />
      )}
    </>
  );
}

/** Looks up whom a link is for; unknown for the first owner's. */
function useLook({ kind, secret }: OpenedLink) {
  const [whose, setWhose] = useState<LinkLook | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (kind === "setup") return;
    let isLeft = false;
    setProblem(null);
    callByCookie<LinkLook>("POST", "/v1/auth/invitation/look", { token: secret }).then(
      (found) => isLeft || setWhose(found),
      (refused) => isLeft || setProblem(refused),
    );
    return () => void (isLeft = true);
  }, [kind, secret, turn]);
  return {
    whose,
    problem,
    isReady: kind === "setup" || whose !== null,
    retry: () => setTurn(turn + 1),
  };
}

interface LinkContentProps {
  readonly link: OpenedLink;
  readonly look: ReturnType<typeof useLook>;
  readonly asked: ReturnType<typeof useOffer>;
}

/** Why a link is no longer valid; null: it may be. */
function overText({ link, look, asked }: LinkContentProps): string | null {
  if (look.problem?.status === 403) return look.problem.detail;
  return link.kind === "setup" && asked.offer?.ownerExists ? OWNER_EXISTS : null;
}

function LinkContent({ link, look, asked }: LinkContentProps) {
  const failed = asked.problem === null ? look : asked;
  if (failed.problem !== null) return <ErrorNote problem={failed.problem} onRetry={failed.retry} />;
  if (asked.offer === null || !look.isReady) return <Skeleton rows={5} />;
  return <LinkWays link={link} offer={asked.offer} whose={look.whose} />;
}

/** The page of a link for the first owner, an invited person, or a forgotten password. */
export function LinkPage({ link }: { link: OpenedLink }) {
  const before = isSignedIn.value ? account.value : null;
  const content = { link, look: useLook(link), asked: useOffer() };
  const over = overText(content);
  const whatFollows = over === null
    ? " Going on here signs you out of that account in this browser."
    : "";
  return (
    <Entrance
      title={over === null ? WORDS[link.kind].title : "This link is over"}
      message={before === null ? null : `You are signed in as ${before.email}.${whatFollows}`}
    >
      {over === null ? <LinkContent {...content} /> : <Over why={over} />}
    </Entrance>
  );
}
