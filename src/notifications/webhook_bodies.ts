/**
 * Writes a message in each receiver's format. Texts from events stay plain text: they make no mention, markup or
 * link. Links are only the message's own.
 */

import { type Message, plainLine, type Section, shownFigure, shownValue } from "./message.ts";
import { WEBHOOK_BODY_BYTES_MAX } from "./notification_limits.ts";
import type { WebhookFormat } from "./webhook_definition.ts";

const OPEN = "Open in Footfall";
/** Chats show only the beginning of the definition; the dashboard shows it all. */
const DEFINITION_LENGTH_MAX = 300;

/** Returns the content of a section as lines. */
function linesOf(section: Section): string[] {
  const { lead, when, figures, rankings, findings } = section;
  return [
    lead,
    when,
    ...figures.map((figure) => `${figure.name}: ${shownFigure(figure)}`),
    ...findings,
    ...rankings.map(({ title, rows }) =>
      `${title}: ${
        rows.map(({ name, value }) => `${name} ${shownValue(value, "count")}`).join(", ")
      }`
    ),
    `What it means: ${plainLine(section.definition, DEFINITION_LENGTH_MAX)}`,
  ];
}

const TYPES: Readonly<Record<Message["kind"], string>> = {
  digest: "digest.made",
  alert: "alert.raised",
  recovery: "alert.recovered",
  test: "webhook.test",
};

/** The format of Standard Webhooks: a type, the time, and the data. */
function standardBody({ kind, ...message }: Message, createdAtMs: number): unknown {
  return {
    type: TYPES[kind],
    timestamp: new Date(createdAtMs).toISOString(),
    data: message,
  };
}

/** Escapes what would begin a mention, a link or an entity in `mrkdwn` and fallback texts. */
const slackText = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const SLACK_TEXT_LENGTH_MAX = 2_900;
const SLACK_TITLE_LENGTH_MAX = 150;

/** Uses only `plain_text` blocks, in which Slack reads no markup. */
function slackBody({ title, subject, sections }: Message): unknown {
  const plain = (text: string, lengthMax: number) => ({
    type: "plain_text",
    text: plainText(text, lengthMax),
    emoji: false,
  });
  return {
    text: slackText(subject),
    parse: "none",
    mrkdwn: false,
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: "header", text: plain(title, SLACK_TITLE_LENGTH_MAX) },
      ...sections.flatMap((section) => [
        {
          type: "section",
          text: plain([section.name, ...linesOf(section)].join("\n"), SLACK_TEXT_LENGTH_MAX),
        },
        {
          type: "actions",
          elements: [{
            type: "button",
            text: plain(OPEN, SLACK_TITLE_LENGTH_MAX),
            url: section.url.slice(0, 3_000),
          }],
        },
      ]),
    ],
  };
}

/** Cuts text to so many UTF-16 units, without splitting a character. */
function plainText(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1).toWellFormed()}…`;
}

/** Escapes every character that Markdown, mentions or links use. */
const discordText = (text: string) => text.replace(/[\\*_~`|>#[\]()<@:!/+.-]/g, "\\$&");

const DISCORD_TITLE_LENGTH_MAX = 256;
const DISCORD_DESCRIPTION_LENGTH_MAX = 4_000;
/** Discord accepts 6000 characters in all embeds together. */
const DISCORD_TEXTS_LENGTH_MAX = 5_000;

function discordBody({ title, subject, sections }: Message): unknown {
  const each = Math.floor(DISCORD_TEXTS_LENGTH_MAX / Math.max(1, sections.length));
  return {
    content: plainText(discordText(subject), 400),
    allowed_mentions: { parse: [] },
    embeds: sections.map((section) => ({
      title: plainText(`${discordText(title)} · ${discordText(section.name)}`, 200)
        .slice(0, DISCORD_TITLE_LENGTH_MAX),
      url: section.url.slice(0, 2_000),
      description: plainText(
        linesOf(section).map(discordText).join("\n"),
        Math.min(DISCORD_DESCRIPTION_LENGTH_MAX, Math.max(200, each - 300)),
      ).replace(/\\…$/, "…"),
    })),
  };
}

/** Returns text as a text run, the only text of Adaptive Cards without markup. */
function teamsText(text: string, style: Readonly<Record<string, unknown>> = {}) {
  return {
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text, ...style }],
    spacing: "Small",
  };
}

function teamsBody({ title, subject, sections }: Message): unknown {
  const bold = { weight: "Bolder" };
  return {
    type: "message",
    summary: subject,
    attachments: [{
      contentType: "application/vnd.microsoft.card.adaptive",
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        body: [
          teamsText(title, { ...bold, size: "Medium" }),
          ...sections.flatMap((section) => [
            teamsText(section.name, bold),
            ...linesOf(section).map((line) => teamsText(line)),
          ]),
        ],
        actions: sections.slice(0, 6).map(({ name, url }) => ({
          type: "Action.OpenUrl",
          title: sections.length === 1 ? OPEN : `${OPEN}: ${name}`,
          url,
        })),
      },
    }],
  };
}

function bodyOf(message: Message, format: WebhookFormat, createdAtMs: number): unknown {
  switch (format) {
    case "standard":
      return standardBody(message, createdAtMs);
    case "slack":
      return slackBody(message);
    case "discord":
      return discordBody(message);
    case "teams":
      return teamsBody(message);
  }
}

/** Returns ever shorter versions of a message: without its lists, with only its leading sentences, without sections. */
function versionsOf(message: Message): Message[] {
  const bare = message.sections.map((section) => ({ ...section, rankings: [], chart: null }));
  const least = bare.map((section) => ({ ...section, definition: "", findings: [], figures: [] }));
  return [message.sections, bare, least, []].map((sections) => ({ ...message, sections }));
}

/** Returns the body of a message, shortened to at most WEBHOOK_BODY_BYTES_MAX. */
export function webhookBody(message: Message, format: WebhookFormat, createdAtMs: number): string {
  const bodies = versionsOf(message).map((one) => JSON.stringify(bodyOf(one, format, createdAtMs)));
  const fits = (body: string) => new TextEncoder().encode(body).length <= WEBHOOK_BODY_BYTES_MAX;
  return bodies.find(fits) ?? bodies.at(-1)!;
}
