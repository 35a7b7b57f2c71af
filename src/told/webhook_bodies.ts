/**
 * A message as each receiver reads it. Texts from events are text everywhere: no mention, no mark-up and
 * no link comes of them. Links are the message's own.
 */

import { type Message, plainLine, type Section, shownFigure, shownValue } from "./message.ts";
import { WEBHOOK_BODY_BYTES_MAX } from "./told_limits.ts";
import type { WebhookFormat } from "./webhook_definition.ts";

const OPEN = "Open in Footfall";
/** What a chat shows of the definition: the whole stands in the dashboard. */
const DEFINITION_LENGTH_MAX = 300;

/** The figures and lists of a section, a line each. */
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

/** As Standard Webhooks asks for it: a type, the time, and the data. */
function standardBody({ kind, ...message }: Message, createdAtMs: number): unknown {
  return {
    type: TYPES[kind],
    timestamp: new Date(createdAtMs).toISOString(),
    data: message,
  };
}

/** Of `mrkdwn` and of fallback texts: what would begin a mention, a link or an entity. */
const slackText = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const SLACK_TEXT_LENGTH_MAX = 2_900;
const SLACK_TITLE_LENGTH_MAX = 150;

/** Blocks of plain text alone: Slack reads no mark-up in them. */
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

/** Cut to so many UTF-16 units, whole characters only. */
function plainText(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1).toWellFormed()}…`;
}

/** Every character that Markdown reads, with a backslash before it; an @ or a link is then none. */
const discordText = (text: string) => text.replace(/[\\*_~`|>#[\]()<@:!/+.-]/g, "\\$&");

const DISCORD_TITLE_LENGTH_MAX = 256;
const DISCORD_DESCRIPTION_LENGTH_MAX = 4_000;
/** Of all embeds together Discord takes 6000. */
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

/** Text runs: the one text of Adaptive Cards in which nothing is mark-up. */
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

/** Less of a message: first without its lists, then with what leads alone. */
function smaller(message: Message): Message[] {
  const bare = message.sections.map((section) => ({ ...section, rankings: [], chart: null }));
  const least = bare.map((section) => ({ ...section, definition: "", findings: [], figures: [] }));
  return [message, { ...message, sections: bare }, { ...message, sections: least }, {
    ...message,
    sections: [],
  }];
}

/** The body of a message, at most WEBHOOK_BODY_BYTES_MAX long: of what is longer, what matters most. */
export function webhookBody(message: Message, format: WebhookFormat, createdAtMs: number): string {
  const bodies = smaller(message).map((one) => JSON.stringify(bodyOf(one, format, createdAtMs)));
  const fits = (body: string) => new TextEncoder().encode(body).length <= WEBHOOK_BODY_BYTES_MAX;
  return bodies.find(fits) ?? bodies.at(-1)!;
}
