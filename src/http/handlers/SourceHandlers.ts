import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Sources } from "../../../actors/ledger/source/Sources.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CompatibilityReportId, SourceId, SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { Source } from "../../../schema/records/Source.ts"
import {
  authorisedWorkspace,
  commandContext,
  cursorOf,
  maybeIdempotent,
  pageRequest,
  pathId,
  repeatableAnswer
} from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"

const renewedAnswer = repeatableAnswer(
  SvcApi.groups.sources.endpoints.renewHookSecret,
  Schema.Struct({ source: Source, hookSecret: Schema.optionalKey(Schema.String) })
)

const sourceOf = (params: { readonly sourceId: string }) => pathId(SourceId, params.sourceId, "Source")
const snapshotOf = (params: { readonly sourceSnapshotId: string }) =>
  pathId(SourceSnapshotId, params.sourceSnapshotId, "SourceSnapshot")

export const sourceHandlers = HttpApiBuilder.group(
  SvcApi,
  "sources",
  Effect.fn(function* (handlers) {
    const sources = yield* Sources
    const sourceCommands = yield* SourceCommands
    return storedAnswers("sources", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* sources.list(yield* authorisedWorkspace, yield* pageRequest(query))
        return { sources: page.items, ...cursorOf(page) }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        return yield* sources.create(yield* commandContext, payload)
      }),
      read: Effect.fnUntraced(function* ({ params }) {
        return { source: yield* sources.read(yield* sourceOf(params)) }
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        return {
          source: yield* sourceCommands.Update(yield* sourceOf(params), {
            context: yield* commandContext,
            request: payload
          })
        }
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        yield* sources.remove(yield* commandContext, yield* sourceOf(params))
      }),
      renewHookSecret: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* sourceOf(params)
        const { endFormerNow, hookSecretVersion } = payload
        const request = yield* maybeIdempotent(headers, { sourceId: id, ...payload })
        const context = yield* commandContext
        const { replayed, ...renewed } = yield* sourceCommands.RenewHookSecret(id, {
          context,
          hookSecretVersion,
          endFormerNow,
          idempotency: request
        })
        return yield* renewedAnswer(renewed, replayed)
      }),
      sync: Effect.fnUntraced(function* ({ params, payload }) {
        return { run: yield* sources.sync(yield* commandContext, yield* sourceOf(params), payload) }
      }),
      revisions: Effect.fnUntraced(function* ({ params, payload }) {
        return { revisions: yield* sources.revisions(yield* commandContext, yield* sourceOf(params), payload.ref) }
      }),
      snapshots: Effect.fnUntraced(function* ({ params, query }) {
        const page = yield* sources.snapshots(yield* sourceOf(params), yield* pageRequest(query))
        return { snapshots: page.items, ...cursorOf(page) }
      }),
      installModules: Effect.fnUntraced(function* ({ params }) {
        return yield* sources.installModules(yield* sourceOf(params), yield* snapshotOf(params))
      }),
      file: Effect.fnUntraced(function* ({ params, query }) {
        return yield* sources.file(yield* sourceOf(params), yield* snapshotOf(params), query.path)
      }),
      compatibilityCheck: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* sources.checkCompatibility(yield* commandContext, yield* sourceOf(params), payload)
      }),
      report: Effect.fnUntraced(function* ({ params }) {
        const id = yield* pathId(CompatibilityReportId, params.reportId, "Compatibility report")
        return { compatibilityReport: yield* sources.report(id) }
      }),
      stableSemver: Effect.fnUntraced(function* ({ payload }) {
        return yield* sources.stableSemver(yield* authorisedWorkspace, payload.url)
      })
    })
  })
)
