import { Schema } from "effect"

/**
 * A sealed value could not be opened: it has been changed or moved to another record, or its key is missing. The error
 * deliberately gives no further detail.
 */
export class VaultOpenFailed extends Schema.TaggedError<VaultOpenFailed>()("VaultOpenFailed", {
  message: Schema.String
}) {
  static readonly anywhere = () => new VaultOpenFailed({ message: "A sealed value could not be opened." })
}

/** The vault cannot work with the given master keys. `keyIds` are the missing keys, if that is the reason. */
export class VaultLocked extends Schema.TaggedError<VaultLocked>()("VaultLocked", {
  message: Schema.String,
  keyIds: Schema.Array(Schema.String)
}) {
  static readonly because = (message: string) => new VaultLocked({ message, keyIds: [] })
}
