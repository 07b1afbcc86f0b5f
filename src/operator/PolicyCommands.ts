import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../actors/audit/Audit.ts"
import { OperatorSuccession } from "../../actors/succession/OperatorSuccession.ts"
import { serviceContext } from "../../actors/Command.ts"
import { transaction } from "../../actors/database/Transaction.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { PolicyInForce } from "../composition/OperatorPolicy.ts"

/** What a reload changed. Digests are `sha256:` over the file; `changed` are its changed parts. */
export const PolicyReloaded = Schema.Struct({
  previousDigest: Schema.String,
  digest: Schema.String,
  changed: Schema.Array(Schema.String),
  /** Plans that became void: made under a profile or base configuration that is no longer in force. */
  supersededPlans: Schema.Int
})
export type PolicyReloaded = typeof PolicyReloaded.Type

/** The operator's policy commands for a running server, with an audit event `operator.command`. */
export class PolicyCommands extends Context.Service<
  PolicyCommands,
  {
    /** Reloads the policy file. Fails with `failed_precondition` without changing anything. */
    readonly reload: Effect.Effect<PolicyReloaded, ApiError>
  }
>()("svc/operator/PolicyCommands") {
  static readonly layer = Layer.effect(
    PolicyCommands,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const policy = yield* PolicyInForce
      const operator = yield* OperatorSuccession
      const audit = yield* Audit

      const reload = Effect.gen(function* () {
        const { apply, change, undo } = yield* policy.reload.pipe(
          Effect.mapError(({ message }) => new ApiError({ code: "failed_precondition", message }))
        )
        yield* apply
        const supersededPlans = yield* operator.supersedeMoved.pipe(
          Effect.tap((count) =>
            audit.append({
              workspaceId: null,
              actor: serviceContext.actor,
              action: "operator.command",
              target: { kind: "policy", id: change.digest },
              data: {
                command: "admin reload",
                previousDigest: change.previousDigest,
                changed: change.changed,
                supersededPlans: count
              }
            })
          ),
          transaction(sql),
          // It did not happen without its event.
          Effect.onError(() => undo)
        )
        yield* Effect.logInfo(
          `Done for an operator: svc admin reload, policy ${change.digest}, changed: ${change.changed.join(", ") || "nothing"}, ${supersededPlans} plans superseded`
        )
        return { ...change, supersededPlans }
      }).pipe(Effect.withSpan("PolicyCommands.reload"))

      return PolicyCommands.of({ reload })
    })
  )
}
