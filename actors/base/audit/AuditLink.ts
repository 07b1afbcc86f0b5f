import { Context, Effect, Layer } from "effect"
import type { Keyring } from "../vault/MasterKey.ts"
import { digestRootId, openDigests } from "../vault/DataKeys.ts"
import { Vault } from "../vault/Vault.ts"
import type { AuditChainRow, AuditScope } from "./AuditChainRow.ts"
import type { AuditRow } from "./AuditRow.ts"

/**
 * Keyed digests of the chains. Every event has a position in the chain of its Workspace, or of the installation, and a digest
 * that covers the event and the link before it. The key comes from the vault, so a row does not fit if somebody with access only
 * to the database has changed, removed, moved or added it. The row of a chain is also sealed: the chain's end cannot be cut off
 * undetected, except by reverting both to an older copy, which only a head stored elsewhere reveals.
 */
export interface AuditKey {
  /** Identifies the key. Rotating the master key does not change it. */
  readonly id: string
  readonly link: (text: string) => Effect.Effect<string>
  readonly seal: (text: string) => Effect.Effect<string>
}

const linkPurpose = "audit.link"
const sealPurpose = "audit.chain"

/** The key for the chains of this database. */
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

/** Reads the key when the vault is not open. Fails with `VaultOpenFailed` if these master keys do not belong to the database. */
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

/** The content of an event that is covered by its link: all of it. */
export type LinkedEvent = Omit<AuditRow, "position" | "mac">

/** The input of an event's digest. Part of the format: never change it. */
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

/** The input for the seal of a chain's row. */
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
