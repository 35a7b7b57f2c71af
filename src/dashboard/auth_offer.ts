/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import type { output } from "zod";
import type { SignInOffer } from "../auth/people/sign_in_endpoints.ts";
import type { ApiProblem } from "./api_problem.ts";
import { BASE_PATH } from "./base_path.ts";
import { callByCookie } from "./cookie_call.ts";

/** The ways to sign in here: the reply of `GET /v1/auth`. */
export type AuthOffer = output<typeof SignInOffer>;

interface OfferState {
  readonly offer: AuthOffer | null;
  readonly problem: ApiProblem | null;
  readonly retry: () => void;
}

/** Asks the server for the ways to sign in. */
export function useOffer(): OfferState {
  const [state, setState] = useState<Omit<OfferState, "retry">>({ offer: null, problem: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isLeft = false;
    callByCookie<AuthOffer>("GET", "/v1/auth").then(
      (offer) => isLeft || setState({ offer, problem: null }),
      (problem) => isLeft || setState({ offer: null, problem }),
    );
    return () => void (isLeft = true);
  }, [turn]);
  return { ...state, retry: () => setTurn(turn + 1) };
}

/** The address that leads to the identity provider, and back to the present address. */
export function providerUrl(extra: Readonly<Record<string, string>> = {}): string {
  const returnTo = location.pathname.slice(BASE_PATH.length) + location.search;
  return `${BASE_PATH}/v1/auth/oidc/start?${new URLSearchParams({ returnTo, ...extra })}`;
}
