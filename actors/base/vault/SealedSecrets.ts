import { Effect, Redacted, Schema } from "effect"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"

/** Accepts plain strings without origins, as stored by earlier releases. */
const Stored = Schema.Union([Schema.String, Schema.Struct({ origin: Schema.String, text: Schema.String })])
type Stored = typeof Stored.Type

/** Secrets with their origins, in the plain-text form that is then sealed. */
export const StoredSecrets = Schema.Array(Stored)

export const toStoredSecrets = (secrets: ReadonlyArray<SecretText>): ReadonlyArray<Stored> =>
  secrets.map(({ origin, value }) => ({ origin, text: Redacted.value(value) }))

const SecretsJson = Schema.fromJsonString(StoredSecrets)
const encodeSecrets = Schema.encodeSync(SecretsJson)
const decodeSecrets = Schema.decodeUnknownEffect(SecretsJson)

/** Converts secrets to the string that is sealed. */
export const secretsText = (secrets: ReadonlyArray<SecretText>): Redacted.Redacted =>
  Redacted.make(encodeSecrets(toStoredSecrets(secrets)))

/** Converts a string from `secretsText` back to secrets. */
export const secretsOfText = (text: Redacted.Redacted) =>
  Effect.map(decodeSecrets(Redacted.value(text)), fromStoredSecrets)

export const fromStoredSecrets = (stored: ReadonlyArray<Stored>): ReadonlyArray<SecretText> =>
  stored.map((secret) =>
    typeof secret === "string"
      ? { origin: "", value: Redacted.make(secret) }
      : { origin: secret.origin, value: Redacted.make(secret.text) }
  )
