import { Redacted, Schema } from "effect"
import { StoredSecrets } from "../../base/vault/SealedSecrets.ts"

const Generated = Schema.Struct({
  target: Schema.String,
  bytes: Schema.Int,
  encoding: Schema.Literals(["hex", "base64url"]),
  text: Schema.String
})

/**
 * The secrets of a Capsule in a backup: the secrets of its last apply, and the secrets that svc generated. The state is stored
 * separately.
 */
const ImportedSecrets = Schema.Struct({ secrets: StoredSecrets, generated: Schema.Array(Generated) })
export type ImportedSecrets = typeof ImportedSecrets.Type

const Text = Schema.fromJsonString(ImportedSecrets)
const encode = Schema.encodeSync(Text)
const decode = Schema.decodeUnknownEffect(Text)

/** Encodes the secrets as plain text, ready to be sealed. */
export const importedSecretsText = (secrets: ImportedSecrets): Redacted.Redacted => Redacted.make(encode(secrets))

export const importedSecretsOf = (text: Redacted.Redacted) => decode(Redacted.value(text))
