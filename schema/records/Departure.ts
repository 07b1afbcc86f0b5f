import { Schema } from "effect"
import { AccessTokenId, CapsuleId, ConnectionId, SourceId, Subject } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

const StoppedToken = Schema.Struct({
  id: AccessTokenId,
  name: Schema.String,
  /** True if the token works only in this Workspace. Other tokens keep working in other Workspaces. */
  bound: Schema.Boolean,
  lastUsedAt: Schema.optionalKey(Timestamp)
})

const StoppedUse = Schema.Struct({
  connectionId: ConnectionId,
  displayName: Schema.String,
  /** The automatic work that used the member's authority: auto-updates, drift checks or checks of Sources. */
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
  /** The automation to which the token belongs. */
  automation: Schema.String
})

/** Everything that stops in a Workspace when a member leaves, is removed or is suspended. */
export class Departure extends Schema.Opaque<Departure>()(
  Schema.Struct({
    subject: Subject,
    /** Tokens of the member that lose access to the Workspace. */
    tokens: Schema.Array(StoppedToken),
    /**
     * Automatic uses of Connections that stop because they relied on the member's authority, one entry per use. Another member
     * can enable them again.
     */
    connections: Schema.Array(StoppedUse),
    /** Tokens that the member created for automations and may have copied. They remain valid until somebody revokes them. */
    keptTokens: Schema.Array(KeptToken)
  }).annotate({ identifier: "Departure" })
) {}
