import { Context, Effect, Layer, Schema } from "effect"
import { SigningKeys } from "../../actors/access/issuer/SigningKeys.ts"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { Vault } from "../../actors/base/vault/Vault.ts"
import type { VaultLocked } from "../../actors/base/vault/Sealing.ts"

export const KeyRotationRequest = Schema.Struct({
  /** Set to remove from the key file all keys that stored data no longer needs. */
  forgetRetired: Schema.Boolean,
  /** Set to drop the old signing keys at once, because they have leaked. */
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
    /** Creates a new master key and new signing keys. Fails with `VaultLocked`. */
    readonly rotate: (request: typeof KeyRotationRequest.Type) => Effect.Effect<KeyRotation, VaultLocked>
  }
>()("svc/src/operator/KeyCommands") {
  static readonly layer = Layer.effect(
    KeyCommands,
    Effect.gen(function* () {
      const vault = yield* Vault
      const signing = yield* SigningKeys
      const audit = yield* Audit

      return KeyCommands.of({
        rotate: Effect.fn("KeyCommands.rotate")(function* ({ compromised, forgetRetired }) {
          const masterKey = yield* vault.rotateMasterKey({ forgetRetired })
          yield* audit.append({
            workspaceId: null,
            actor: serviceContext.actor,
            action: "operator.command",
            target: { kind: "master_key", id: masterKey.activeKeyId },
            data: { command: "admin rotate-keys" }
          })
          yield* Effect.logInfo(`Done for an operator: svc admin rotate-keys, master key ${masterKey.activeKeyId}`)
          // Report that the newest signing keys are not in use yet. The master key has been rotated anyway.
          const signingKeys = yield* signing.rotate(serviceContext, { compromised }).pipe(
            Effect.map(({ activeKeyIds }) => ({ rotated: true, activeKeyIds })),
            Effect.catch((error) => Effect.succeed({ rotated: false, reason: error.message }))
          )
          return { ...masterKey, signingKeys }
        })
      })
    })
  )
}
