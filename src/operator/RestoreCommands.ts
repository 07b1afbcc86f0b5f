import { Context, Effect, Layer, Option, Schema } from "effect"
import { RestoredRules } from "../../actors/access/approval/RestoredRules.ts"
import { CapsuleLedger } from "../../actors/ledger/capsule/CapsuleLedger.ts"
import { RestoreReview } from "../../actors/upkeep/restore/RestoreReview.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { ReviewItem } from "../../actors/base/RestoredRecords.ts"

export const RestoreReviewList = Schema.Array(ReviewItem)

export const RestoredRulesList = Schema.Array(RestoredRules)

export const RestoreDecision = Schema.Struct({
  decision: Schema.Literals(["confirmed", "removed"]),
  /** Record ids. If absent, applies to all pending records. */
  ids: Schema.Option(Schema.Array(Schema.String))
})

/** The operator's decisions after a restore. Each records an audit event. */
export class RestoreCommands extends Context.Service<
  RestoreCommands,
  {
    readonly list: Effect.Effect<typeof RestoreReviewList.Type>
    readonly rules: Effect.Effect<typeof RestoredRulesList.Type>
    /**
     * Applies the decision to the records and returns them. If an id is not pending, fails with `not_found` and changes no
     * record.
     */
    readonly decide: (request: typeof RestoreDecision.Type) => Effect.Effect<typeof RestoreReviewList.Type, ApiError>
  }
>()("svc/src/operator/RestoreCommands") {
  static readonly layer = Layer.effect(
    RestoreCommands,
    Effect.map(RestoreReview, ({ decide, list, rules }) =>
      RestoreCommands.of({
        list,
        rules,
        decide: ({ decision, ids }) =>
          Effect.tap(
            decide(
              decision,
              Option.getOrElse(ids, () => "all" as const)
            ),
            (items) =>
              Effect.logInfo(`Done for an operator: svc admin restore-review, ${items.length} records ${decision}`)
          )
      })
    )
  ).pipe(Layer.provide(RestoreReview.layer), Layer.provide(CapsuleLedger.layer))
}
