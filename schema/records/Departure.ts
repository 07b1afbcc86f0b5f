import { Schema } from "effect"
import { AccessTokenId, CapsuleId, ConnectionId, SourceId, Subject } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

const StoppedToken = Schema.Struct({
  id: AccessTokenId,
  name: Schema.String,
  /** True if the token is bound to this Workspace; other tokens keep working in other Workspaces. */
  bound: Schema.Boolean,
  lastUsedAt: Schema.optionalKey(Timestamp)
})

const StoppedUse = Schema.Struct({
  connectionId: ConnectionId,
  displayName: Schema.String,
  /** Automatic work on this member's authority: updates, drift checks, Source polling. */
  use: Schema.Literals(["auto_update", "drift_check", "sync"]),
  capsuleId: Schema.optionalKey(CapsuleId),
  sourceId: Schema.optionalKey(SourceId),
  name: Schema.String
})
export type StoppedUse = typeof StoppedUse.Type

const KeptToken = Schema.Struct({
  id: AccessTokenId,
  name: Schema.String,
  subject: Subject,
  /** The automation that the token belongs to. */
  automation: Schema.String
})

/** Work and tokens that stop in a Workspace when a member leaves, is removed or is suspended. */
export class Departure extends Schema.Opaque<Departure>()(
  Schema.Struct({
    subject: Subject,
    /** The member's tokens that can no longer reach the Workspace. */
    tokens: Schema.Array(StoppedToken),
    /**
     * Automatic uses of Connections that depend on the member's authority and stop, one entry per use. Another member can enable
     * the use again.
     */
    connections: Schema.Array(StoppedUse),
    /** Tokens of automations that the member created and may have kept: these keep working until they are revoked. */
    keptTokens: Schema.Array(KeptToken)
  }).annotate({ identifier: "Departure" })
) {}
