import { Effect, Layer } from "effect"
import { notFound } from "../../../schema/errors/ApiError.ts"
import { InstallPlanId } from "../../../schema/records/Ids.ts"
import { InstallPlanCommands } from "../../../schema/commands/InstallPlanCommands.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { derivedId } from "../../base/Identity.ts"
import { InstallPlanRow, readInstallPlan } from "./InstallPlanRow.ts"
import { InstallPlans } from "./InstallPlans.ts"

export const layer = Layer.effect(
  InstallPlans,
  Effect.gen(function* () {
    const command = yield* InstallPlanCommands
    const sql = yield* ReadSql

    return InstallPlans.of({
      // Derives the id from the key, so that concurrent duplicates of a request reach the same mailbox.
      create: (context, workspaceId, request, idempotency) => {
        const id = derivedId(InstallPlanId, "ipl", `${workspaceId} ${context.actorKey}`, idempotency.key)
        return command.Create(id, { context, workspaceId, request, idempotency })
      },
      read: Effect.fn("InstallPlans.read")(function* (id) {
        const rows = yield* Effect.orDie(InstallPlanRow.rows(sql)`SELECT * FROM install_plans WHERE id = ${id}`)
        return rows[0] === undefined ? yield* notFound("Install plan") : yield* readInstallPlan(sql, rows[0])
      })
    })
  })
)
