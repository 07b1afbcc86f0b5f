import { Effect, Redacted, Schema } from "effect"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"

/** Plain values were stored before origins were recorded. */
const Stored = Schema.Union([Schema.String, Schema.Struct({ origin: Schema.String, text: Schema.String })])
type Stored = typeof Stored.Type

/** Secrets in the form that is sealed: clear text, with their origins. */
export const StoredSecrets = Schema.Array(Stored)

export const toStoredSecrets = (secrets: ReadonlyArray<SecretText>): ReadonlyArray<Stored> =>
  secrets.map(({ origin, value }) => ({ origin, text: Redacted.value(value) }))

const SecretsJson = Schema.fromJsonString(StoredSecrets)
const encodeSecrets = Schema.encodeSync(SecretsJson)
const decodeSecrets = Schema.decodeUnknownEffect(SecretsJson)

/** Secrets as the string that is sealed. */
export const secretsText = (secrets: ReadonlyArray<SecretText>): Redacted.Redacted =>
  Redacted.make(encodeSecrets(toStoredSecrets(secrets)))

/** The secrets in a string produced by `secretsText`. */
export const secretsOfText = (text: Redacted.Redacted) =>
  Effect.map(decodeSecrets(Redacted.value(text)), fromStoredSecrets)

export const fromStoredSecrets = (stored: ReadonlyArray<Stored>): ReadonlyArray<SecretText> =>
  stored.map((secret) =>
    typeof secret === "string"
      ? { origin: "", value: Redacted.make(secret) }
      : { origin: secret.origin, value: Redacted.make(secret.text) }
  )
