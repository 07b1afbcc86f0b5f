import { Context, Effect, Layer } from "effect"
import type { Keyring } from "../vault/MasterKey.ts"
import { digestRootId, openDigests } from "../vault/DataKeys.ts"
import { Vault } from "../vault/Vault.ts"
import type { AuditChainRow, AuditScope } from "./AuditChainRow.ts"
import type { AuditRow } from "./AuditRow.ts"

/**
 * Computes the keyed digests of the chains. Every event has a position in its chain, and a digest of the event and the previous
 * link. The key comes from the vault, so nobody who can only access the database can change, remove, move or add a row without
 * detection. The row of the chain is also sealed, so nobody can cut off the end of the chain. If the entire database was
 * reverted to an older copy, only a comparison with a head that is stored elsewhere can detect this.
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

/** Reads the key before the vault is opened. Fails with `VaultOpenFailed` if the master keys do not belong to this database. */
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

/** The content of an event, which its link covers completely. */
export type LinkedEvent = Omit<AuditRow, "position" | "mac">

/** Returns the text whose digest is stored with an event. The text is part of the stored format, so never change it. */
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

/** Returns the text whose digest seals a chain's row. */
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
