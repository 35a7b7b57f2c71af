import type { MailAttachment, MailMessage } from "../mail/mail.ts";
import { CHART_HEIGHT_PX, chartCid, mailHtml } from "./mail_html.ts";
import { mailText } from "./mail_text.ts";
import type { Message } from "./message.ts";
import { chartPng } from "./png_chart.ts";

/** Twice the shown width, for high-density screens. */
const CHART_WIDTH_PX = 1100;

async function chartsOf({ sections }: Message): Promise<MailAttachment[]> {
  const charts: MailAttachment[] = [];
  for (const [i, section] of sections.entries()) {
    const cid = chartCid(section, i);
    if (cid === null || section.chart === null) continue;
    const { values } = section.chart;
    const heightPx = 2 * CHART_HEIGHT_PX;
    const content = await chartPng({ values, widthPx: CHART_WIDTH_PX, heightPx });
    charts.push({ cid, filename: `chart-${i + 1}.png`, contentType: "image/png", content });
  }
  return charts;
}

/** Returns a message as a mail to one person. `id`: the delivery's, the same for each try. */
export async function messageMail(
  { id, inReplyTo, to, message, unsubscribeUrl }: {
    readonly id: string;
    /** The id of the alert's message, for a recovery message; null: it is another message. */
    readonly inReplyTo: string | null;
    readonly to: string;
    readonly message: Message;
    readonly unsubscribeUrl: string;
  },
): Promise<MailMessage> {
  return {
    to,
    subject: message.subject,
    text: mailText(message, unsubscribeUrl),
    html: mailHtml(message, unsubscribeUrl),
    attachments: await chartsOf(message),
    id,
    ...inReplyTo === null ? {} : { inReplyTo },
    unsubscribeUrl,
  };
}
