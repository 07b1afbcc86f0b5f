import { Context, Effect, Layer } from "effect"
import {
  CompatibilityCheckRequest,
  type CreatedSource,
  CreateSource,
  UpdateSource
} from "../../../schema/api/SourcesApi.ts"
import type { CompatibilityReport } from "../../../schema/records/CompatibilityReport.ts"
import type { Run } from "../../../schema/records/Run.ts"
import type { Source, SourceSnapshot } from "../../../schema/records/Source.ts"
import { everyPage, type Page, pageOf, type PageQuery } from "../Paging.ts"
import { type Plain, requestOf } from "../Plain.ts"
import { SvcClient } from "../SvcClient.ts"
import { type Answer, answered, type Items } from "../SvcError.ts"
import type { PayloadOf } from "./RequestParts.ts"

export interface SourcesShape {
  readonly get: (id: string) => Answer<Source>
  readonly list: (workspaceId: string) => Items<Source>
  readonly page: (workspaceId: string, query?: PageQuery) => Answer<Page<Source>>
  /**
   * Creates a Source. `hookSecret` authenticates webhooks and is returned only once. If `firstSync` is given, also starts a
   * sync (`run`). If its `onFailure` is `"remove"`, the server removes the Source if the sync could not read it.
   */
  readonly create: (request: Plain<CreateSource>) => Answer<CreatedSource>
  readonly update: (id: string, change: Plain<UpdateSource>) => Answer<Source>
  readonly remove: (id: string) => Answer<void>
  /** Checks the repository now and returns the sync Run. */
  readonly sync: (id: string, request?: PayloadOf<"sources", "sync">) => Answer<Run>
  /** Newest first. */
  readonly snapshots: (id: string) => Items<SourceSnapshot>
  /** Checks one module of a snapshot. An unsupported module is not a failure: the report contains the reasons. */
  readonly check: (id: string, request: Plain<CompatibilityCheckRequest>) => Answer<CompatibilityReport>
}

const newSource = requestOf(CreateSource)
const changedSource = requestOf(UpdateSource)
const checkRequest = requestOf(CompatibilityCheckRequest)

const make = Effect.gen(function* () {
  const { sources } = yield* SvcClient
  const page: SourcesShape["page"] = (workspaceId, query = {}) =>
    Effect.map(answered(sources.list({ query: { ...query, workspaceId } })), (answer) => pageOf(answer.sources, answer))

  return Sources.of({
    page,
    list: (workspaceId) => everyPage((query) => page(workspaceId, query), {}),
    get: (id) => Effect.map(answered(sources.read({ params: { sourceId: id } })), ({ source }) => source),
    create: (request) => Effect.flatMap(newSource(request), (payload) => answered(sources.create({ payload }))),
    update: (id, change) =>
      Effect.flatMap(changedSource(change), (payload) =>
        Effect.map(answered(sources.update({ params: { sourceId: id }, payload })), ({ source }) => source)
      ),
    remove: (id) => answered(sources.remove({ params: { sourceId: id } })),
    sync: (id, request = {}) =>
      Effect.map(answered(sources.sync({ params: { sourceId: id }, payload: request })), ({ run }) => run),
    snapshots: (id) =>
      everyPage(
        (query) =>
          Effect.map(answered(sources.snapshots({ params: { sourceId: id }, query })), (answer) =>
            pageOf(answer.snapshots, answer)
          ),
        {}
      ),
    check: (id, request) =>
      Effect.flatMap(checkRequest(request), (payload) =>
        Effect.map(
          answered(sources.compatibilityCheck({ params: { sourceId: id }, payload })),
          ({ compatibilityReport }) => compatibilityReport
        )
      )
  })
})

/** Manages Sources, which are the Git repositories of a Workspace. */
export class Sources extends Context.Service<Sources, SourcesShape>()("svc/src/client/services/Sources") {
  static readonly layer: Layer.Layer<Sources, never, SvcClient> = Layer.effect(Sources, make)
}
