import { describe, expect, test } from "bun:test"
import { Redacted, Schema, Struct } from "effect"
import { noticeMessage } from "../../../../actors/base/notice/NoticeFormats.ts"
import { noticeExample, noticeKinds, noticeSchema } from "../../../../schema/records/Notice.ts"
import { type NoticeFormat, SentNotice } from "../../../../schema/records/NoticeEndpoint.ts"
import { expectedSignature } from "./support/Receivers.ts"

const kinds = Struct.keys(noticeKinds)
const at = new Date("2026-01-31T09:30:00.500Z")
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const decode = Schema.decodeUnknownSync(SentNotice)
const exampleOf = (type: (typeof kinds)[number]) => decode(noticeExample(type))
const bodyOf = (format: NoticeFormat, notice: SentNotice): unknown =>
  JSON.parse(noticeMessage(format, notice, [Redacted.make(secret)], at).body)

const hostile = decode({
  ...noticeExample("run.failed"),
  workspace: { id: `ws_${"a".repeat(24)}`, handle: "a", name: "<!channel> *bold* \u202eevil\u0000\n# _x_ [a](b)" },
  data: { capsule: { ...noticeKinds["run.failed"].example.capsule, name: "x".repeat(5000) } }
})

describe("Notice kinds", () => {
  test("every kind of notice has an example that fits its schema, with no unknown fields", () => {
    for (const type of kinds) {
      const schema: Schema.Codec<unknown, unknown> = noticeSchema(type)
      const strict = Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })
      expect(strict(noticeExample(type))).toMatchObject({ type })
      expect(() => strict({ ...noticeExample(type), more: 1 })).toThrow()
    }
  })

  test("every kind of notice produces a message with a link for each chat service", () => {
    for (const type of kinds) {
      const notice = exampleOf(type)
      for (const format of ["slack", "teams"] as const) {
        expect(JSON.stringify(bodyOf(format, notice))).toContain(notice.url)
      }
    }
  })
})

describe("JSON format", () => {
  test("JSON notices are signed exactly as an independent implementation of the specification signs them", () => {
    const notice = exampleOf("run.applied")
    const message = noticeMessage("json", notice, [Redacted.make(secret)], at)
    expect(message.headers).toEqual({
      "webhook-id": notice.id,
      "webhook-timestamp": "1769851800",
      "webhook-signature": expectedSignature(secret, message)
    })
  })

  test("JSON notices escape invisible characters in names, and parsers still read the original value", () => {
    const { body } = noticeMessage("json", hostile, [Redacted.make(secret)], at)
    expect(body).not.toContain("\u202e")
    expect(JSON.parse(body)).toEqual({ ...hostile })
  })
})

describe("a chat", () => {
  test("chat messages show names as plain text, with no mentions, markup, line breaks or changes of text direction", () => {
    for (const format of ["slack", "teams"] as const) {
      const text = JSON.stringify(bodyOf(format, hostile))
      expect([format, text.includes("\u202e"), text.includes("\\u0000"), text.includes("\\n#")]).toEqual([
        format,
        false,
        false,
        false
      ])
      expect(text.length).toBeLessThan(3000)
      expect(text).toContain("U+202E")
    }
    const slack = bodyOf("slack", hostile)
    const Slack = Schema.Struct({
      text: Schema.String,
      blocks: Schema.Array(
        Schema.Struct({
          type: Schema.String,
          text: Schema.optionalKey(Schema.Struct({ type: Schema.String, text: Schema.String })),
          fields: Schema.optionalKey(Schema.Array(Schema.Struct({ type: Schema.String, text: Schema.String })))
        })
      )
    })
    const decoded = Schema.decodeUnknownSync(Slack)(slack)
    expect(decoded.text).toContain("&lt;!channel&gt;")
    expect(decoded.text).not.toContain("<!")
    for (const { fields, text } of decoded.blocks) {
      if (text?.type === "mrkdwn") expect(text.text).not.toContain("channel")
      for (const field of fields ?? []) expect(field.type).toBe("plain_text")
    }
    expect(JSON.stringify(bodyOf("teams", hostile))).toContain("\\\\[a\\\\]")
  })

  test("messages to a chat are not signed", () => {
    expect(noticeMessage("slack", hostile, [], at).headers).toEqual({})
    expect(noticeMessage("teams", hostile, [], at).headers).toEqual({})
  })
})
