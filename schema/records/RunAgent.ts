import { Schema } from "effect"
import { AgentId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/**
 * The data that a running apply would lose with the agent's disk: any state newer than the copy that svc has stored.
 * - `savedAt`, `savedSerial`: the state that svc has stored; absent until svc has stored one
 * - `newestSerial`: the newest state that the agent has reported; absent until the agent reports one, and, after a restart,
 *   until the agent reports one again
 */
export class SavedState extends Schema.Opaque<SavedState>()(
  Schema.Struct({
    savedAt: Schema.optionalKey(Timestamp),
    savedSerial: Schema.optionalKey(Schema.Int),
    newestSerial: Schema.optionalKey(Schema.Int)
  }).annotate({ identifier: "SavedState" })
) {}

/** The agent that executes a Run, and what svc currently knows about it. */
export class RunAgent extends Schema.Opaque<RunAgent>()(
  Schema.Struct({
    id: AgentId,
    name: Schema.String,
    fence: Schema.Int.annotate({
      description: "Grows with each claim of the Run. A release names the claim that was seen."
    }),
    leaseSeconds: Schema.Int.annotate({ description: "The longest silence before the Run is given up." }),
    heardAt: Schema.optionalKey(Timestamp.annotate({ description: "When it was last heard of, about this Run." })),
    unansweredSince: Schema.optionalKey(
      Timestamp.annotate({
        description: "Since when it is heard but receives no answers."
      })
    ),
    givenUpAt: Schema.optionalKey(
      Timestamp.annotate({
        description:
          "While it is unreachable: about when the Run is given up. Until then the Capsule takes no other Run."
      })
    ),
    /** For an apply: the time at which svc recorded that the tool was about to start. */
    startedAt: Schema.optionalKey(Timestamp),
    /** Set for an apply whose tool may have started. */
    state: Schema.optionalKey(SavedState)
  }).annotate({ identifier: "RunAgent" })
) {}
