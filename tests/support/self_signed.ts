/** A certificate for localhost that nobody has signed but itself: for a proxy that speaks TLS. */
import { Buffer } from "node:buffer";

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT = 0x06;
const UTF8 = 0x0c;
const UTC_TIME = 0x17;
const DNS_NAME = 0x82;
/** `[n] EXPLICIT` */
const explicit = (n: number) => 0xa0 + n;

const DAY_MS = 86_400_000;
const COORDINATE_BYTES = 32;

function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts);
  const length = content.length < 0x80
    ? [content.length]
    : content.length < 0x100
    ? [0x81, content.length]
    : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Uint8Array.from([tag, ...length]), content]);
}

const text = (words: string) => new TextEncoder().encode(words);
const hex = (digits: string) => new Uint8Array(Buffer.from(digits, "hex"));
const bits = (content: Uint8Array) => der(BIT_STRING, Uint8Array.of(0), content);
/** A number of so many bytes, never negative. */
const number = (bytes: Uint8Array) =>
  der(INTEGER, bytes[0]! >= 0x80 ? Uint8Array.from([0, ...bytes]) : bytes);

const ECDSA_WITH_SHA256 = der(SEQUENCE, der(OBJECT, hex("2a8648ce3d040302")));
const COMMON_NAME = der(OBJECT, hex("550403"));
const ALTERNATIVE_NAME = der(OBJECT, hex("551d11"));

function time(ms: number): Uint8Array {
  return der(UTC_TIME, text(`${new Date(ms).toISOString().replace(/\D/g, "").slice(2, 14)}Z`));
}

function pem(label: string, content: Uint8Array): string {
  const lines = Buffer.from(content).toString("base64").match(/.{1,64}/g)!.join("\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** The signature as X.509 has it: two numbers without leading zeros. */
function signatureOf(raw: Uint8Array): Uint8Array {
  const halves = [raw.subarray(0, COORDINATE_BYTES), raw.subarray(COORDINATE_BYTES)];
  const plain = halves.map((half) => number(half.subarray(half.findIndex((byte) => byte !== 0))));
  return der(SEQUENCE, ...plain);
}

/** @returns both as PEM */
export async function selfSigned(): Promise<{ readonly cert: string; readonly key: string }> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey));
  const privateKey = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, text("localhost")))),
  );
  const alternatives = der(SEQUENCE, der(DNS_NAME, text("localhost")));
  const body = der(
    SEQUENCE,
    der(explicit(0), number(Uint8Array.of(2))),
    number(Uint8Array.of(1)),
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
    name,
    publicKey,
    der(
      explicit(3),
      der(SEQUENCE, der(SEQUENCE, ALTERNATIVE_NAME, der(OCTET_STRING, alternatives))),
    ),
  );
  const signed = await crypto.subtle.sign(
    { name: "ECDSA", hash: "SHA-256" },
    pair.privateKey,
    new Uint8Array(body),
  );
  const signature = bits(signatureOf(new Uint8Array(signed)));
  const cert = der(SEQUENCE, body, ECDSA_WITH_SHA256, signature);
  return { cert: pem("CERTIFICATE", cert), key: pem("PRIVATE KEY", privateKey) };
}
