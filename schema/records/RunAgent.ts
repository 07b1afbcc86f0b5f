import { Schema } from "effect"
import { AgentId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/**
 * The state that a running apply would lose with the agent's disk: any state newer than the one stored by the service.
 *
 * - `savedAt`, `savedSerial`: of the state that the service has stored; absent until the first
 * - `newestSerial`: of the newest state that the agent has reported; absent until the first, and after a restart until the agent
 *   reports it
 */
export class SavedState extends Schema.Opaque<SavedState>()(
  Schema.Struct({
    savedAt: Schema.optionalKey(Timestamp),
    savedSerial: Schema.optionalKey(Schema.Int),
    newestSerial: Schema.optionalKey(Schema.Int)
  }).annotate({ identifier: "SavedState" })
) {}

/** The agent that executes a Run, with the service's current information about it. */
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
    /** For an apply: the time at which the start of its tool was recorded, before the tool starts. */
    startedAt: Schema.optionalKey(Timestamp),
    /** For an apply whose tool may have been started. */
    state: Schema.optionalKey(SavedState)
  }).annotate({ identifier: "RunAgent" })
) {}
