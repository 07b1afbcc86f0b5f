import { createHmac, createSecretKey } from "node:crypto"
import { Effect, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../database/Table.ts"
import { type DataKey, makeDataKeys } from "./DataKeys.ts"
import { deriveKey, type Keyring } from "./MasterKey.ts"
import { VaultOpenFailed } from "./VaultErrors.ts"

/** The kind of the data key behind the keyed digests. There is one, and it never changes. */
export const digestRootKind = "svc/mac"

/**
 * The keyed digest for one purpose (HMAC-SHA-256, base64url). Lists compute one for each of their rows: waiting for another
 * thread, or for a service, would cost more than the row.
 */
export const digestFor = Effect.fnUntraced(function* (root: DataKey, purpose: string) {
  const key = createSecretKey(yield* deriveKey(root.secret, `svc/mac/${purpose}/v1`))
  return (text: string) => createHmac("sha256", key).update(text).digest("base64url")
})

const RootId = rowShape({ id: Schema.String })

/** The id of the key behind the digests of this database; `undefined` if there is none yet. */
export const digestRootId = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* RootId.rows(sql)`SELECT id FROM vault_data_keys
    WHERE record_kind = ${digestRootKind} AND workspace_id = '' AND status = 'active'`
  return row?.id
}).pipe(Effect.orDie)

/** The digests of a database that is only being read. Fails with `VaultOpenFailed` if these master keys do not belong to it. */
export const openDigests = Effect.fn("openDigests")(function* (keyring: Keyring) {
  const dataKeys = yield* makeDataKeys(yield* Ref.make(keyring))
  const id = yield* digestRootId
  if (id === undefined) return yield* VaultOpenFailed.anywhere()
  const root = yield* dataKeys.forOpening(id)
  return { id, digestFor: (purpose: string) => digestFor(root, purpose) }
})
