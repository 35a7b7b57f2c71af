/** Rows as other products export them, made by hand in their shapes. */
import { id } from "./umami_export.ts";

export const UUIDS = [1, 2, 3, 4, 5].map(id);
type Members = Readonly<Record<string, unknown>>;

/** A row of PostHog's model `events`. */
export function posthogEvent(row: Members = {}, properties: Members = {}): Members {
  return {
    uuid: UUIDS[0],
    event: "$pageview",
    distinct_id: "ada",
    person_id: id(90),
    timestamp: "2026-05-01 10:00:00.123456",
    created_at: "2026-05-01 10:00:01.000000",
    elements_chain: "",
    person_properties: { email: "ada@example.com" },
    properties: {
      $device_id: "device-1",
      $session_id: "s1",
      $current_url: "https://shop.example/a?utm_source=x",
      $pathname: "/a",
      $referrer: "$direct",
      $browser: "Chrome",
      $os: "Mac OS X",
      $device_type: "Desktop",
      $viewport_width: 1200,
      $viewport_height: 800,
      $screen_width: 1440,
      $screen_height: 900,
      $browser_language: "de-DE",
      $timezone: "Europe/Berlin",
      $geoip_country_code: "DE",
      $geoip_subdivision_1_name: "Land Berlin",
      $geoip_city_name: "Berlin",
      $ip: "203.0.113.9",
      $lib: "web",
      token: "phc_x",
      utm_source: "x",
      title: "A",
      plan: "pro",
      ...properties,
    },
    ...row,
  };
}

/** A line of Amplitude's Export API. */
export function amplitudeEvent(row: Members = {}): Members {
  return {
    uuid: UUIDS[1],
    $insert_id: "i-1",
    event_type: "[Amplitude] Page Viewed",
    event_time: "2026-05-01 10:00:00.977000",
    client_event_time: "2026-05-01 09:59:59.000000",
    server_upload_time: "2026-05-01 10:00:02.000000",
    user_id: "ada",
    device_id: "d1",
    session_id: 1_777_629_600_000,
    amplitude_id: 176_632_796_945,
    platform: "Web",
    os_name: "Chrome",
    os_version: "120",
    device_family: "Mac OS X",
    device_type: "Mac",
    country: "Canada",
    region: "Newfoundland and Labrador",
    city: "St. John's",
    ip_address: "203.0.113.9",
    library: "amplitude-ts/2.0",
    event_properties: {
      "[Amplitude] Page Location": "https://shop.example/a?x=1",
      "[Amplitude] Page Path": "/a",
      "[Amplitude] Page Title": "A",
      referrer: "https://www.google.com/",
      plan: "pro",
    },
    user_properties: { plan: "pro" },
    groups: {},
    ...row,
  };
}

/** A line of Mixpanel's raw export. */
export function mixpanelEvent(properties: Members = {}): Members {
  return {
    event: "$mp_web_page_view",
    properties: {
      time: 1_777_629_600,
      distinct_id: "ada",
      $user_id: "ada",
      $device_id: "d1",
      $insert_id: "i1",
      $browser: "Mobile Safari",
      $os: "Mac OS X",
      $city: "Berlin",
      $region: "Berlin",
      mp_country_code: "DE",
      $current_url: "https://shop.example/a",
      $referrer: "$direct",
      current_page_title: "A",
      current_domain: "shop.example",
      $screen_width: 1440,
      $screen_height: 900,
      mp_lib: "web",
      mp_processing_time_ms: 1_777_629_601_000,
      plan: "pro",
      ...properties,
    },
  };
}

const parameter = (key: string, value: Members) => ({ key, value });

/** A row of GA4's `events_YYYYMMDD`. */
export function ga4Event(row: Members = {}): Members {
  return {
    event_date: "20260501",
    event_timestamp: "1777629600123456",
    event_name: "page_view",
    event_params: [
      parameter("page_location", { string_value: "https://shop.example/a" }),
      parameter("page_referrer", { string_value: "https://www.google.com/" }),
      parameter("page_title", { string_value: "A" }),
      parameter("ga_session_id", { int_value: "99" }),
      parameter("ga_session_number", { int_value: "1" }),
      parameter("value", { double_value: 2.5 }),
      parameter("big", { int_value: "9007199254740993" }),
      parameter("nothing", {}),
    ],
    event_bundle_sequence_id: "7658063987",
    user_pseudo_id: "1.2",
    user_id: null,
    device: {
      category: "desktop",
      operating_system: "Windows",
      language: "de-de",
      web_info: { browser: "Chrome", browser_version: "120.0" },
    },
    geo: { country: "United States", region: "Florida", city: "(not set)" },
    collected_traffic_source: { manual_source: "news", manual_medium: "email" },
    traffic_source: { source: "(direct)", medium: "(none)" },
    ecommerce: { transaction_id: "t1", purchase_revenue: null, total_item_quantity: "2" },
    items: [{ item_id: "p1", item_name: "(not set)", quantity: "2" }],
    stream_id: "2100450278",
    platform: "WEB",
    ...row,
  };
}

/** A visit of Matomo's `Live.getLastVisitsDetails`. */
export function matomoVisit(row: Members = {}): Members {
  const at = 1_777_629_600;
  return {
    idSite: "7",
    idVisit: "2199",
    visitIp: "203.0.0.0",
    visitorId: "abc",
    userId: "ada",
    actionDetails: [
      {
        type: "action",
        url: "https://shop.example/a",
        pageTitle: "A",
        pageId: "11",
        timestamp: at,
      },
      { type: "content", contentName: "Banner", timestamp: at + 1 },
      {
        type: "event",
        url: "https://shop.example/a",
        pageId: "12",
        eventCategory: "Video",
        eventAction: "play",
        eventName: "Intro",
        eventValue: 3,
        timestamp: at + 2,
      },
      { type: "download", url: "https://shop.example/x.pdf", pageId: "13", timestamp: at + 3 },
      {
        type: "search",
        url: "https://shop.example/find",
        pageId: "14",
        siteSearchKeyword: "boots",
        siteSearchCount: "4",
        timestamp: at + 4,
      },
      {
        type: "goal",
        url: "https://shop.example/find",
        goalName: "Signed up",
        goalId: "1",
        goalPageId: "14",
        revenue: "5",
        timestamp: at + 4,
      },
      {
        type: "ecommerceOrder",
        orderId: "o1",
        revenue: "20",
        itemDetails: [{ itemSKU: "p1" }],
        timestamp: at + 5,
      },
    ],
    referrerType: "campaign",
    referrerName: "spring",
    referrerKeyword: "shoes",
    referrerUrl: "https://news.example/",
    languageCode: "de",
    deviceType: "Desktop",
    operatingSystemName: "GNU/Linux",
    browserName: "Firefox",
    countryCode: "de",
    region: "Berlin",
    city: "Berlin",
    resolution: "1440x900",
    dimension1: "gold",
    ...row,
  };
}
