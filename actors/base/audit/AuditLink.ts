import { Context, Effect, Layer } from "effect"
import type { Keyring } from "../vault/MasterKey.ts"
import { digestRootId, openDigests } from "../vault/DataKeys.ts"
import { Vault } from "../vault/Vault.ts"
import type { AuditChainRow, AuditScope } from "./AuditChainRow.ts"
import type { AuditRow } from "./AuditRow.ts"

/**
 * Computes the keyed digests of the chains.
 *
 * Every event has a position in its chain, and a digest of the event and the previous link. The key comes from the vault, so
 * somebody who can only access the database cannot change, remove, move or add a row without detection. The row of the chain is
 * sealed too, which prevents cutting off the end of the chain. Reverting the whole database to an older copy is detected only by
 * comparison with a head stored elsewhere.
 */
export interface AuditKey {
  /** Id of the key. Rotating the master key does not change it. */
  readonly id: string
  readonly link: (text: string) => Effect.Effect<string>
  readonly seal: (text: string) => Effect.Effect<string>
}

const linkPurpose = "audit.link"
const sealPurpose = "audit.chain"

/** The audit key of this database. */
export class AuditKeys extends Context.Service<AuditKeys, AuditKey>()("svc/actors/base/audit/AuditKeys") {
  static readonly layer = Layer.effect(
    AuditKeys,
    Effect.gen(function* () {
      const vault = yield* Vault
      return AuditKeys.of({
        id: (yield* digestRootId) ?? "unknown",
        link: (text) => vault.mac(linkPurpose, text),
        seal: (text) => vault.mac(sealPurpose, text)
      })
    })
  )
}

/** Reads the key while the vault is not open. Fails with `VaultOpenFailed` if the master keys do not belong to this database. */
export const readAuditKey = Effect.fn("readAuditKey")(function* (keyring: Keyring) {
  const digests = yield* openDigests(keyring)
  const link = yield* digests.digestFor(linkPurpose)
  const seal = yield* digests.digestFor(sealPurpose)
  return {
    id: digests.id,
    link: (text) => Effect.sync(() => link(text)),
    seal: (text) => Effect.sync(() => seal(text))
  } satisfies AuditKey
})

/** The part of an event that its link covers: all of its content. */
export type LinkedEvent = Omit<AuditRow, "position" | "mac">

/** The text from which an event's digest is computed. It is part of the stored format, so never change it. */
export const linkText = (scope: AuditScope, position: number, previous: string, event: LinkedEvent): string =>
  JSON.stringify([
    "svc/audit/link/v1",
    scope,
    position,
    previous,
    event.id,
    event.actor_kind,
    event.actor_subject,
    event.actor_token_id,
    event.action,
    event.target_kind,
    event.target_id,
    event.capsule_id,
    event.run_id,
    event.data,
    event.request_id,
    event.created_at
  ])

/** The text from which the seal of a chain's row is computed. */
export const chainText = (chain: Omit<AuditChainRow, "seal">): string =>
  JSON.stringify([
    "svc/audit/chain/v1",
    chain.scope,
    chain.position,
    chain.mac,
    chain.pruned_position,
    chain.pruned_mac,
    chain.chains
  ])
