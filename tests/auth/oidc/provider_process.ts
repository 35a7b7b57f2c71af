/**
 * An identity provider in a process of its own: `deno run -A provider_process.ts <ProviderOrder as JSON>`
 * prints its address once it listens. Whoever signs in there is who they say: `ada` has the verified
 * address ada@shop.example, `unverified-…` one that nobody checked, `editor-…` the role editor.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

export interface ProviderOrder {
  /** 0: any free one. */
  readonly port: number;
  readonly redirectUri: string;
  /** Of its signing key: another one is another key. */
  readonly keyId: string;
  /** How far its clock is off, in seconds. */
  readonly clockSeconds?: number;
  /** What somebody's claim `roles` says, by their login; whoever is not named is `staff`. */
  readonly roles?: Readonly<Record<string, readonly string[]>>;
}

export const CLIENT_ID = "footfall";
export const CLIENT_SECRET = "a secret between the provider and its client";

async function serve(order: ProviderOrder): Promise<void> {
  const { port, redirectUri, keyId, clockSeconds = 0, roles = {} } = order;
  const realNow = Date.now;
  Date.now = () => realNow() + clockSeconds * 1_000;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { ...await exportJWK(privateKey), kid: keyId, alg: "RS256", use: "sig" };
  const server = createServer((request, response) => callback(request, response));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: "client_secret_post",
    }],
    jwks: { keys: [key] },
    cookies: { keys: ["a key of the tests"] },
    conformIdTokenClaims: false,
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "roles"] },
    pkce: { required: () => true },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: id.includes("@") ? id : `${id}@shop.example`,
        email_verified: !id.startsWith("unverified"),
        name: `${id[0]?.toUpperCase()}${id.slice(1)}`,
        roles: roles[id] ?? (id.startsWith("editor") ? ["staff", "editor"] : ["staff"]),
      }),
    }),
  });
  const callback = provider.callback();
  console.log(issuer);
}

if (import.meta.main) await serve(JSON.parse(Deno.args[0]!));
