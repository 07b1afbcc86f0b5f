import type { AuditActor } from "../schema/records/AuditEvent.ts"

/** Who asks for a change, as every actor client takes it: already authenticated and authorised by the face. */
export interface CommandContext {
  readonly actor: AuditActor
  /** The subject or token id under which idempotency keys are scoped. */
  readonly actorKey: string
  readonly requestId?: string | undefined
}

/** The key of a repeatable create, parsed at the edge, with the digest of the normalised request it came with. */
export interface IdempotentRequest {
  readonly key: string
  readonly requestDigest: string
}

/** An answer that a repeated request repeats. */
export interface Replayable<A> {
  readonly value: A
  readonly replayed: boolean
}
