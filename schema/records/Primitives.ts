import { Schema, SchemaTransformation } from "effect"
import { RepositoryFolder } from "../manifest/RelativePath.ts"
import { visibleCharacter } from "./VisibleText.ts"

/** ISO 8601 in UTC with milliseconds, such as `2026-01-31T09:30:00.000Z`. */
export const Timestamp = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, {
    description: "an ISO 8601 UTC time with milliseconds"
  })
)
export type Timestamp = typeof Timestamp.Type

/** A `Timestamp` from a client. Times are compared as strings, so the date must exist; for example, there is no 30 February. */
export const GivenTime = Timestamp.check(
  Schema.makeFilter<string>(
    (text) => {
      const millis = Date.parse(text)
      return !Number.isNaN(millis) && new Date(millis).toISOString() === text
        ? undefined
        : "is no day or time that exists"
    },
    { description: "a time that exists" }
  )
)

/** A `GivenTime` in a filter. Milliseconds may be omitted: `2026-01-31T09:30:00Z`. */
export const AskedTime = Schema.String.pipe(
  Schema.decodeTo(
    GivenTime,
    SchemaTransformation.transform({
      decode: (text) => text.replace(/(T\d{2}:\d{2}:\d{2})Z$/, "$1.000Z"),
      encode: (text) => text
    })
  )
)

/** `sha256:` followed by 64 lower-case hexadecimal digits. */
export const Sha256Digest = Schema.String.check(
  Schema.isPattern(/^sha256:[0-9a-f]{64}$/, { description: "sha256: followed by 64 hex digits" })
)
export type Sha256Digest = typeof Sha256Digest.Type

/** A full Git commit id. */
export const CommitId = Schema.String.check(
  Schema.isPattern(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, { description: "a full commit id" })
)
export type CommitId = typeof CommitId.Type

/**
 * Display text that a person entered, such as a name: trimmed, visible, no control characters, no bidirectional controls.
 * `max` counts code points.
 */
export const displayText = (max: number) =>
  Schema.String.check(
    Schema.isMinLength(1),
    Schema.isMaxCodePoints(max),
    Schema.isPattern(/^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u, {
      description: "text without control characters, not starting or ending with white space"
    }),
    Schema.isPattern(/^[^\u202a-\u202e\u2066-\u2069]*$/u, { description: "text without bidirectional controls" }),
    Schema.isPattern(visibleCharacter, { description: "text that is visible" })
  )

/** Free text such as a comment. Line breaks are allowed. */
export const freeText = (max: number) =>
  Schema.String.check(
    Schema.isMaxCodePoints(max),
    Schema.isPattern(/^(?:[^\p{Cc}]|[\t\n\r])*$/u, {
      description: "text without control characters other than tab and line breaks"
    })
  )

/** Free text that must not be blank. */
export const requiredText = (max: number) =>
  freeText(max).check(Schema.isPattern(visibleCharacter, { description: "text that is not blank" }))

/** A module's folder: `.` or a relative path, spelled as in the commit (specification, install). */
export const RelativePath = RepositoryFolder.pipe(Schema.brand("RelativePath"))
export type RelativePath = typeof RelativePath.Type

/** A JSON value. Its depth and size were limited when the bytes were parsed. */
export const JsonValue = Schema.Json
export type JsonValue = typeof JsonValue.Type

/** The environment of a Capsule, such as `production`. */
export const EnvironmentName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/, { description: "1 to 40 of a-z, 0-9 and -" })
)
