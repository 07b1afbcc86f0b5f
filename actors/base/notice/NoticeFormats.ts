import { Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import { noticeKinds } from "../../../schema/records/Notice.ts"
import type { NoticeFormat, SentNotice } from "../../../schema/records/NoticeEndpoint.ts"
import { visibleJson, visibleText } from "../../../schema/records/VisibleText.ts"

/** A request to a receiver: its body and headers. */
export interface NoticeMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The current secret, followed by the previous secret while that one is still valid. */
type Secrets = ReadonlyArray<Redacted.Redacted>

/** Replaces control characters and line breaks in names, because they would change the layout of a message. */
const oneLine = (text: string): string => visibleText(text).replace(/[\p{Cc}]+/gu, " ")

const cut = (text: string, max: number): string => {
  const characters = [...text]
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join("")}…`
}

/** Shortens a name from another system for a message. */
const named = (text: string): string => cut(oneLine(text), 120)

/** Labels of the facts that people see. */
export type NoticeLabel =
  | "Workspace"
  | "Capsule"
  | "Environment"
  | "Source"
  | "Connection"
  | "Agent"
  | "Changes"
  | "Resources"
  | "Ref"
  | "Status"
  | "Code"
  | "Expires"

interface Fact {
  readonly label: NoticeLabel
  readonly value: string
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined

const nameIn = (data: Readonly<Record<string, unknown>>, field: string): string | undefined => {
  const inner = data[field]
  return isRecord(inner) ? textOf(inner["name"]) : undefined
}

const changeWords = (changes: unknown): string | undefined => {
  if (!isRecord(changes)) return undefined
  const counts = ["add", "change", "destroy", "replace", "import", "forget"].flatMap((action) => {
    const count = changes[action]
    return typeof count === "number" && count > 0 ? [`${count} to ${action}`] : []
  })
  return counts.length === 0 ? "no changes" : counts.join(", ")
}

/** Returns the facts that people see in a notice, in display order. */
export const noticeFacts = ({ data, workspace }: SentNotice): ReadonlyArray<Fact> => {
  const given = isRecord(data) ? data : {}
  const capsule = given["capsule"]
  const environment = isRecord(capsule) ? textOf(capsule["environment"]) : undefined
  const rows: ReadonlyArray<readonly [label: NoticeLabel, value: string | undefined]> = [
    ["Workspace", workspace?.name],
    ["Capsule", nameIn(given, "capsule")],
    ["Environment", environment],
    ["Source", nameIn(given, "source")],
    ["Connection", nameIn(given, "connection")],
    ["Agent", nameIn(given, "agent")],
    ["Changes", changeWords(given["changes"])],
    ["Resources", textOf(given["resources"])],
    ["Ref", textOf(given["ref"])],
    ["Status", textOf(given["status"])],
    ["Code", textOf(given["code"]) ?? textOf(given["reason"])],
    ["Expires", textOf(given["expiresAt"])]
  ]
  return rows.flatMap(([label, value]) => (value === undefined ? [] : [{ label, value: named(value) }]))
}

/** Escapes the three characters that start Slack markup. */
const slackText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const titleOf = (notice: SentNotice): string => noticeKinds[notice.type].summary

const slack = (notice: SentNotice): string => {
  const title = slackText(titleOf(notice))
  const facts = noticeFacts(notice)
  const short = facts.map(({ label, value }) => `${label}: ${slackText(value)}`).join(", ")
  return JSON.stringify({
    text: cut(`${title} ${short} ${notice.url}`, 3000),
    blocks: [
      { type: "section", text: { type: "mrkdwn", text: cut(`*${title}*`, 3000) } },
      ...(facts.length === 0
        ? []
        : [
            {
              type: "section",
              // Sent as plain text, so that markup in names has no effect.
              fields: facts
                .slice(0, 10)
                .map(({ label, value }) => ({ type: "plain_text", text: `${label}: ${value}`, emoji: false }))
            }
          ]),
      { type: "section", text: { type: "mrkdwn", text: `<${slackText(notice.url)}|Open in svc>` } }
    ]
  })
}

/** Escapes characters that have a meaning in the Markdown of a card's text block. */
const cardText = (text: string): string => text.replace(/[\\`*_[\]<>]/g, (character) => `\\${character}`)

const teams = (notice: SentNotice): string =>
  JSON.stringify({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [
            { type: "TextBlock", text: titleOf(notice), weight: "Bolder", wrap: true },
            {
              type: "FactSet",
              facts: noticeFacts(notice).map(({ label, value }) => ({ title: label, value: cardText(value) }))
            }
          ],
          actions: [{ type: "Action.OpenUrl", title: "Open in svc", url: notice.url }]
        }
      }
    ]
  })

const signed = (notice: SentNotice, secrets: Secrets, at: Date): NoticeMessage => {
  const body = visibleJson(JSON.stringify(notice))
  const signatures = secrets.map((secret) => new Webhook(Redacted.value(secret)).sign(notice.id, at, body))
  return {
    headers: {
      "webhook-id": notice.id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": signatures.join(" ")
    },
    body
  }
}

/** Creates the request that sends a notice in this format. `at` is the time of sending. */
export const noticeMessage = (format: NoticeFormat, notice: SentNotice, secrets: Secrets, at: Date): NoticeMessage => {
  switch (format) {
    case "json":
      return signed(notice, secrets, at)
    case "slack":
      return { headers: {}, body: slack(notice) }
    case "teams":
      return { headers: {}, body: teams(notice) }
  }
}
