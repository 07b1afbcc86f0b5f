import { Effect, Layer } from "effect"
import { notFound } from "../../../schema/errors/ApiError.ts"
import { RevisionPlanId } from "../../../schema/records/Ids.ts"
import { RevisionPlanCommands } from "../../../schema/commands/RevisionPlanCommands.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { derivedId } from "../../base/Identity.ts"
import { RevisionPlans } from "./RevisionPlans.ts"
import { readRevisionPlan, RevisionPlanRow } from "./RevisionPlanStore.ts"

export const layer = Layer.effect(
  RevisionPlans,
  Effect.gen(function* () {
    const command = yield* RevisionPlanCommands
    const sql = yield* ReadSql

    return RevisionPlans.of({
      create: (context, capsuleId, request, idempotency) => {
        const id = derivedId(RevisionPlanId, "rpl", `${capsuleId} ${context.actorKey}`, idempotency.key)
        return command.Create(id, { context, capsuleId, ...request, idempotency })
      },
      read: Effect.fn("RevisionPlans.read")(function* (id) {
        const rows = yield* Effect.orDie(RevisionPlanRow.rows(sql)`SELECT * FROM revision_plans WHERE id = ${id}`)
        return rows[0] === undefined ? yield* notFound("Revision plan") : yield* readRevisionPlan(sql, rows[0])
      })
    })
  })
)
