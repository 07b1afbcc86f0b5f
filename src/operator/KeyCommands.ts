import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SigningKeys } from "../../actors/access/issuer/SigningKeys.ts"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { ExclusiveWork } from "../../actors/base/node/ExclusiveWork.ts"
import { beatingServers, Nodes, SharedDatabase } from "../../actors/base/node/Nodes.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { Vault } from "../../actors/base/vault/Vault.ts"
import { VaultLocked } from "../../actors/base/vault/Sealing.ts"

export const KeyRotationRequest = Schema.Struct({
  /** If true, removes all keys from the key file that stored data no longer needs. */
  forgetRetired: Schema.Boolean,
  /** If true, drops the old signing keys at once. Set this if the keys have leaked. */
  compromised: Schema.Boolean
})

export const KeyRotation = Schema.Struct({
  activeKeyId: Schema.String,
  rewrapped: Schema.Int,
  resumed: Schema.Boolean,
  forgotten: Schema.Array(Schema.String),
  /** `reason` explains why the signing keys were not rotated. */
  signingKeys: Schema.Struct({
    rotated: Schema.Boolean,
    activeKeyIds: Schema.optionalKey(Schema.Array(Schema.String)),
    reason: Schema.optionalKey(Schema.String)
  })
})
export type KeyRotation = typeof KeyRotation.Type

/** The operator's key commands. Each records an audit event `operator.command`. */
export class KeyCommands extends Context.Service<
  KeyCommands,
  {
    /** Creates a new master key and new signing keys. Fails with `VaultLocked` if the vault is locked. */
    readonly rotate: (request: typeof KeyRotationRequest.Type) => Effect.Effect<KeyRotation, VaultLocked>
  }
>()("svc/src/operator/KeyCommands") {
  static readonly layer = Layer.effect(
    KeyCommands,
    Effect.gen(function* () {
      const vault = yield* Vault
      const signing = yield* SigningKeys
      const audit = yield* Audit
      const sql = yield* SqlClient.SqlClient
      const isShared = yield* SharedDatabase
      const exclusive = yield* ExclusiveWork
      const own = Option.map(yield* Effect.serviceOption(Nodes), ({ name }) => name)

      /** Fails if other servers use the database, because the new key is written only to this server's key file. */
      const requireKeyEverywhere = Effect.gen(function* () {
        if (!isShared) return
        const { active, inUse } = yield* vault.keyIds
        if (inUse.some(({ id }) => id !== active)) return
        const others = yield* beatingServers(Option.getOrUndefined(own))
        if (others.length === 0) return
        return yield* VaultLocked.because(
          `${others.join(", ")} use this database, too, and would not have a new master key. Give every server the present key followed by the new one, and restart them one by one; then the new one first, again one by one; then repeat this command.`
        )
      }).pipe(Effect.provideService(SqlClient.SqlClient, sql))

      return KeyCommands.of({
        // A rotation spans several transactions. If two servers with different active keys rotated at once, each would wrap
        // again what the other has wrapped.
        rotate: Effect.fn("KeyCommands.rotate")(function* ({ compromised, forgetRetired }) {
          yield* requireKeyEverywhere
          const masterKey = yield* vault.rotateMasterKey({ forgetRetired })
          yield* audit.append({
            workspaceId: null,
            actor: serviceContext.actor,
            action: "operator.command",
            target: { kind: "master_key", id: masterKey.activeKeyId },
            data: { command: "admin rotate-keys" }
          })
          yield* Effect.logInfo(`Done for an operator: svc admin rotate-keys, master key ${masterKey.activeKeyId}`)
          // Report that the newest signing keys are not in use yet. The master key has been rotated nevertheless.
          const signingKeys = yield* signing.rotate(serviceContext, { compromised }).pipe(
            Effect.map(({ activeKeyIds }) => ({ rotated: true, activeKeyIds })),
            Effect.catch((error) => Effect.succeed({ rotated: false, reason: error.message }))
          )
          return { ...masterKey, signingKeys }
        }, exclusive.locked("rotation of keys"))
      })
    })
  )
}
