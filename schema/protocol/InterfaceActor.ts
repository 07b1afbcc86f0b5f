import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { ApiError } from "../errors/ApiError.ts"
import { InterfaceMaterializationFailure } from "../records/Interface.ts"
import { CommandContext } from "./Command.ts"

/** The Interfaces of one Capsule, addressed by the Capsule's id. */
export const InterfaceActor = Entity.make("Interface", [
  /** A hand-over from an apply, or from a retry: carry out this intent. Delivery and effect are one transaction. */
  Rpc.make("Materialize", {
    payload: { intentId: Schema.String, attempt: Schema.Int },
    primaryKey: ({ attempt, intentId }) => `${intentId} ${attempt}`
  })
    .annotate(ClusterSchema.Persisted, true)
    .annotate(ClusterSchema.WithTransaction, true),
  Rpc.make("Retry", {
    payload: {
      context: CommandContext,
      intentId: Schema.String,
      expected: Schema.Struct({ attempt: Schema.Int, code: Schema.String })
    },
    success: InterfaceMaterializationFailure,
    error: ApiError
  })
])
