import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { InterfaceCommands } from "../../../schema/commands/InterfaceCommands.ts"
import { InstallPolicy } from "../configuration/InstallConfigCompilation.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { pageOfRows } from "../../base/paging/RowPages.ts"
import { IntentRow, InterfaceRow, readInterfaceUse, toFailure, toInterface } from "./InterfaceRow.ts"
import { Interfaces } from "./Interfaces.ts"
import { capsuleInService } from "../../../schema/tables/CapsuleTables.ts"

/**
 * Quotes a permission. Permissions contain no quotes, so a binding's JSON array contains the permission if and only if the
 * array's text contains the quoted permission. Queries compare with REPLACE, because LIKE ignores case.
 */
const quoted = (permission: string) => JSON.stringify(permission)

export const layer = Layer.effect(
  Interfaces,
  Effect.gen(function* () {
    const command = yield* InterfaceCommands
    const read = yield* ReadSql
    const sql = yield* SqlClient.SqlClient
    const cursors = yield* Cursors
    const install = yield* InstallPolicy

    return Interfaces.of({
      uiSurfaces: Effect.fn("Interfaces.uiSurfaces")(function* (workspaceId, subject, { capsuleId }, page) {
        const list = {
          route: "interfaces.uiSurfaces",
          newestFirst: false,
          conditions: [
            read`workspace_id = ${workspaceId}`,
            read`status = 'resolved'`,
            read`EXISTS (SELECT 1 FROM capsules c WHERE c.id = interfaces.capsule_id
              AND ${read.literal(capsuleInService("c."))})`,
            read`EXISTS (SELECT 1 FROM interface_bindings b WHERE b.interface_id = interfaces.id
              AND b.subject = ${subject} AND b.status = 'ready'
              AND REPLACE(b.permissions, ${quoted("ui.open")}, '') <> b.permissions)`,
            ...(capsuleId === undefined ? [] : [read`capsule_id = ${capsuleId}`])
          ],
          filter: [workspaceId, capsuleId]
        }
        const rows = yield* pageOfRows(InterfaceRow, read, cursors, list, { ...page, subject })
        return { ...rows, items: rows.items.map(toInterface) }
      }),

      failures: Effect.fn("Interfaces.failures")(function* (workspaceId, page) {
        const list = {
          route: "interfaces.failures",
          newestFirst: true,
          conditions: [read`workspace_id = ${workspaceId}`, read`status = 'failed'`],
          filter: [workspaceId]
        }
        const rows = yield* pageOfRows(IntentRow, read, cursors, list, page)
        return { ...rows, items: rows.items.map(toFailure) }
      }),

      retry: Effect.fn("Interfaces.retry")(function* (context, workspaceId, intentId, expected) {
        const [intent] = yield* Effect.orDie(IntentRow.rows(read)`SELECT * FROM interface_intents
          WHERE id = ${intentId} AND workspace_id = ${workspaceId}`)
        if (intent === undefined) return yield* notFound("Materialisation failure")
        return yield* command.Retry(intent.capsule_id, { context, intentId, expected })
      }),

      authorize: Effect.fn("Interfaces.authorize")(function* ({ delivery, interfaceId, permission, subject }) {
        const allowed = install.policy.allowedPermissions.some(
          (pair) => pair.permission === permission && pair.delivery === delivery
        )
        const use = yield* Effect.orDie(readInterfaceUse(sql, { delivery, interfaceId, subject }))
        if (!allowed || use?.bindings.some(({ permissions }) => permissions.includes(permission)) !== true) {
          return yield* new ApiError({
            code: "permission_denied",
            message: "There is no binding that allows this use of the Interface."
          })
        }
        return toInterface(use.row)
      })
    })
  })
)
