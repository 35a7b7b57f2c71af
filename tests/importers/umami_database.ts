import postgres from "postgres";
import { id } from "./umami_export.ts";

/** The tables of Umami 3 that an import reads, by the shape of its schema. */
const TABLES = [
  `CREATE TABLE website (
    website_id uuid PRIMARY KEY, name varchar(100) NOT NULL, domain varchar(500),
    user_id uuid, team_id uuid, created_at timestamptz(6) DEFAULT now(), deleted_at timestamptz(6)
  )`,
  `CREATE TABLE session (
    session_id uuid PRIMARY KEY, website_id uuid NOT NULL, browser varchar(20), os varchar(20),
    device varchar(20), screen varchar(11), language varchar(35), country char(2),
    region varchar(20), city varchar(50), distinct_id varchar(50),
    created_at timestamptz(6) DEFAULT now()
  )`,
  `CREATE TABLE website_event (
    event_id uuid PRIMARY KEY, website_id uuid NOT NULL, session_id uuid NOT NULL,
    visit_id uuid NOT NULL, created_at timestamptz(6) DEFAULT now(), url_path varchar(500) NOT NULL,
    url_query varchar(500), utm_source varchar(255), utm_medium varchar(255),
    utm_campaign varchar(255), utm_content varchar(255), utm_term varchar(255),
    referrer_path varchar(500), referrer_query varchar(500), referrer_domain varchar(500),
    page_title varchar(500), gclid varchar(255), fbclid varchar(255), msclkid varchar(255),
    ttclid varchar(255), li_fat_id varchar(255), twclid varchar(255),
    event_type integer NOT NULL DEFAULT 1, event_name varchar(50), tag varchar(50),
    hostname varchar(100)
  )`,
  "CREATE INDEX ON website_event (website_id, created_at)",
  `CREATE TABLE event_data (
    event_data_id uuid PRIMARY KEY, website_id uuid NOT NULL, website_event_id uuid NOT NULL,
    data_key varchar(500) NOT NULL, string_value varchar(500), number_value decimal(19, 4),
    date_value timestamptz(6), data_type integer NOT NULL, created_at timestamptz(6) DEFAULT now()
  )`,
  "CREATE INDEX ON event_data (website_event_id)",
];

export const SHOP = id(7_000_001);
export const BLOG = id(7_000_002);

/** What is asked of the database after it was filled. */
export interface FilledUmami {
  readonly pageviews: number;
  readonly signups: number;
  readonly visitors: number;
}

const VISITORS = 30;
const VIEWS_EACH = 5;

/** Makes the tables, two websites, and what visitors of one of them did from a day on. */
export async function fillUmami(url: string, firstDay: string): Promise<FilledUmami> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    for (const table of TABLES) await sql.unsafe(table);
    await sql`INSERT INTO website (website_id, name, domain) VALUES
      (${SHOP}, 'Shop', 'shop.example'), (${BLOG}, 'Blog', 'blog.example')`;
    const startMs = Date.parse(`${firstDay}T08:00:00Z`);
    for (let visitor = 0; visitor < VISITORS; visitor++) {
      const session = id(1_000 + visitor);
      await sql`INSERT INTO session ${
        sql({
          session_id: session,
          website_id: SHOP,
          browser: visitor % 2 === 0 ? "chrome" : "ios",
          os: visitor % 2 === 0 ? "Windows 10" : "iOS",
          device: visitor % 2 === 0 ? "desktop" : "mobile",
          screen: "1440x900",
          language: "de-DE",
          country: visitor % 3 === 0 ? "DE" : "FR",
          region: "DE-BE",
          city: "Berlin",
          distinct_id: visitor === 0 ? "ada" : null,
        })
      }`;
      for (let view = 0; view < VIEWS_EACH; view++) {
        await sql`INSERT INTO website_event ${
          sql({
            event_id: id(10_000 + visitor * 100 + view),
            website_id: SHOP,
            session_id: session,
            visit_id: id(2_000 + visitor),
            created_at: new Date(startMs + visitor * 3_600_000 + view * 60_000),
            url_path: `/page-${view}`,
            url_query: view === 0 ? "utm_source=news&utm_medium=email" : null,
            utm_source: view === 0 ? "news" : null,
            utm_medium: view === 0 ? "email" : null,
            referrer_domain: null,
            page_title: `Page ${view}`,
            event_type: 1,
            hostname: "shop.example",
          })
        }`;
      }
      if (visitor % 3 !== 0) continue;
      const event = id(50_000 + visitor);
      await sql`INSERT INTO website_event ${
        sql({
          event_id: event,
          website_id: SHOP,
          session_id: session,
          visit_id: id(2_000 + visitor),
          created_at: new Date(startMs + visitor * 3_600_000 + 600_000),
          url_path: "/signup",
          event_type: 2,
          event_name: "signup",
          hostname: "shop.example",
        })
      }`;
      await sql`INSERT INTO event_data ${
        sql([
          {
            event_data_id: id(60_000 + visitor * 10),
            website_id: SHOP,
            website_event_id: event,
            data_key: "plan",
            string_value: "pro",
            number_value: null,
            data_type: 1,
          },
          {
            event_data_id: id(60_001 + visitor * 10),
            website_id: SHOP,
            website_event_id: event,
            data_key: "seats",
            string_value: "3.0000",
            number_value: "3",
            data_type: 2,
          },
        ])
      }`;
    }
    return {
      pageviews: VISITORS * VIEWS_EACH,
      signups: Math.ceil(VISITORS / 3),
      visitors: VISITORS,
    };
  } finally {
    await sql.end();
  }
}

/** Statements in Umami's database. */
export async function inUmami(url: string, ...statements: readonly string[]): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    for (const statement of statements) await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}
