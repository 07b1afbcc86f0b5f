import { Effect, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { beginExport } from "../../../actors/base/audit/AuditExport.ts"
import { headOf } from "../../../actors/base/audit/AuditHeads.ts"
import { AuditKeys } from "../../../actors/base/audit/AuditLink.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { readInstallation } from "../../database/Installation.ts"
import { authorisedWorkspace } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

/** Handlers for the audit history. */
export const auditHandlers = HttpApiBuilder.group(
  SvcApi,
  "audit",
  Effect.fn(function* (handlers) {
    const read = yield* ReadSql
    const key = yield* AuditKeys
    return storedAnswers("audit", handlers).handleAll({
      export: Effect.fnUntraced(
        function* ({ query: { after, ...filter } }) {
          const id = yield* authorisedWorkspace
          const { lines, rest } = yield* beginExport(id, filter, after ?? 0)
          const given = {
            contentType: "application/x-ndjson",
            headers: { "cache-control": "no-store", "content-disposition": `attachment; filename="audit-${id}.jsonl"` }
          }
          return Option.match(rest, {
            onNone: () => HttpServerResponse.text(lines.join(""), given),
            onSome: (more) => {
              const all = Stream.concat(Stream.fromIterable(lines), more)
              return HttpServerResponse.stream(
                Stream.encodeText(Stream.provideService(all, SqlClient.SqlClient, read)),
                given
              )
            }
          })
        },
        Effect.provideService(SqlClient.SqlClient, read)
      ),
      head: Effect.fnUntraced(
        function* () {
          const id = yield* authorisedWorkspace
          const installation = yield* Effect.orDie(readInstallation)
          return yield* headOf(key, installation?.id, id)
        },
        Effect.provideService(SqlClient.SqlClient, read)
      )
    })
  })
)
