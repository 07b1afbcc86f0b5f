import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url, Hex } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { derivedId, now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import type { CapsuleId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { GeneratedSecretRow } from "./RunDeliveries.ts"

/** The target and shape of one `secret.generated` requirement. */
export interface SecretShape {
  /** `variable:NAME` or `binding:NAME`. */
  readonly target: string
  readonly bytes: number
  readonly encoding: "hex" | "base64url"
}

interface Owner {
  readonly id: CapsuleId
  readonly workspace_id: WorkspaceId
}

const idOf = (capsuleId: CapsuleId, { bytes, encoding, target }: SecretShape) =>
  derivedId(Schema.String, "gsec", capsuleId, `${target} ${bytes} ${encoding}`)

/** The sealing context of a generated secret. */
export const generatedPlace = (workspaceId: WorkspaceId, id: string) => ({
  table: "generated_secrets",
  column: "sealed_value",
  workspaceId,
  rowId: id
})

/**
 * Random secrets that svc generates for a Capsule, once per target. Every later plan gets the same secrets, regardless of
 * its configuration. Only Runs receive the secrets.
 */
export class GeneratedSecrets extends Context.Service<
  GeneratedSecrets,
  {
    /** Returns the secret of this shape. Creates the secret if the Capsule has none. */
    readonly obtain: (capsule: Owner, shape: SecretShape) => Effect.Effect<Redacted.Redacted<string>>
    /** Like `obtain`, but never creates a secret. */
    readonly find: (capsule: Owner, shape: SecretShape) => Effect.Effect<Redacted.Redacted<string> | undefined>
    /** Stores a secret that another installation generated, in the transaction that creates the Capsule. */
    readonly keep: (capsule: Owner, shape: SecretShape, text: Redacted.Redacted) => Effect.Effect<void>
    /** Erases a Capsule's secrets in the transaction that settles its destroy. */
    readonly drop: (capsuleId: CapsuleId) => Effect.Effect<void>
  }
>()("svc/actors/inputs/delivery/GeneratedSecrets") {
  static readonly layer = Layer.effect(
    GeneratedSecrets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom

      const find = Effect.fn("GeneratedSecrets.find")(function* (capsule: Owner, shape: SecretShape) {
        const id = idOf(capsule.id, shape)
        const [row] = yield* GeneratedSecretRow.some(sql, "sealed_value")`SELECT sealed_value FROM generated_secrets
          WHERE id = ${id} AND capsule_id = ${capsule.id}`
        return row === undefined
          ? undefined
          : yield* vault.openText(generatedPlace(capsule.workspace_id, id), row.sealed_value)
      }, Effect.orDie)

      const mint = Effect.fnUntraced(function* (capsule: Owner, shape: SecretShape) {
        const bytes = yield* random.randomBytes(shape.bytes)
        const text = shape.encoding === "hex" ? Hex.encode(bytes) : Base64Url.encode(bytes)
        yield* keep(capsule, shape, Redacted.make(text))
      })

      const keep = Effect.fnUntraced(function* (capsule: Owner, shape: SecretShape, text: Redacted.Redacted) {
        const id = idOf(capsule.id, shape)
        yield* sql`INSERT INTO generated_secrets ${GeneratedSecretRow.values(sql, {
          id,
          workspace_id: capsule.workspace_id,
          capsule_id: capsule.id,
          target: shape.target,
          bytes: shape.bytes,
          encoding: shape.encoding,
          sealed_value: yield* vault.seal(generatedPlace(capsule.workspace_id, id), text),
          created_at: yield* now
        })} ON CONFLICT (id) DO NOTHING`
      }, Effect.orDie)

      // If two callers create a secret at the same time, one value is stored and both receive it.
      const obtain = Effect.fn("GeneratedSecrets.obtain")(
        function* (capsule: Owner, shape: SecretShape) {
          const known = yield* find(capsule, shape)
          if (known !== undefined) return known
          yield* mint(capsule, shape)
          const minted = yield* find(capsule, shape)
          return minted ?? (yield* Effect.die(new Error(`The generated secret of ${capsule.id} was not stored`)))
        },
        sql.withTransaction,
        Effect.orDie
      )

      return GeneratedSecrets.of({
        obtain,
        find,
        keep,
        drop: (capsuleId) =>
          sql`DELETE FROM generated_secrets WHERE capsule_id = ${capsuleId}`.pipe(Effect.asVoid, Effect.orDie)
      })
    })
  )
}
