import { Context, type Redacted } from "effect"

/**
 * The source of the master key. Every source provides either a keyring written by this product, or one or more 32-byte keys as
 * hex or base64, separated by commas or whitespace: the first seals, the others only open.
 */
export type MasterKeySource =
  | {
      readonly kind: "file"
      readonly file: string
      /** Creates a keyring if the file is missing and nothing has been sealed yet. */
      readonly create: boolean
    }
  | { readonly kind: "value"; readonly value: Redacted.Redacted }
  /** A shell command that prints the keys, for a key management service. */
  | { readonly kind: "command"; readonly command: string }

export class VaultSettings extends Context.Service<VaultSettings, { readonly masterKey: MasterKeySource }>()(
  "svc/actors/base/vault/VaultSettings"
) {}
