import { Context, type Redacted } from "effect"

/**
 * The source of the master key. The source provides either a keyring file, or one or more 32-byte keys in hexadecimal or base64,
 * separated by commas or whitespace. The first key seals; the other keys only decrypt existing values.
 */
export type MasterKeySource =
  | {
      readonly kind: "file"
      readonly file: string
      /** If true, creates a keyring if the file is missing and nothing has been sealed yet. */
      readonly create: boolean
    }
  | { readonly kind: "value"; readonly value: Redacted.Redacted }
  /** A shell command that prints the keys, for example from a key management service. */
  | { readonly kind: "command"; readonly command: string }

export class VaultSettings extends Context.Service<VaultSettings, { readonly masterKey: MasterKeySource }>()(
  "svc/actors/base/vault/VaultSettings"
) {}
