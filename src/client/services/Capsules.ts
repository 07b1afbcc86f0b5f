import { Context, Effect, Layer } from "effect"
import type { CapsuleLook, CapsulePlanRequest } from "../../../schema/api/CapsulesApi.ts"
import { ConfigurationPlanRequest } from "../../../schema/api/ConfigurationRequests.ts"
import type { AutoUpdateDecision } from "../../../schema/records/AutoUpdate.ts"
import { type Capsule, type Dependency, NewDependency } from "../../../schema/records/Capsule.ts"
import type { Run } from "../../../schema/records/Run.ts"
import type { Output, StateVersion } from "../../../schema/records/StateVersion.ts"
import { type IdempotencyOptions, idempotencyHeaders } from "../IdempotencyOptions.ts"
import { everyPage, type Page, pageOf, type PageQuery } from "../Paging.ts"
import { type Plain, requestOf } from "../Plain.ts"
import { SvcClient } from "../SvcClient.ts"
import { type Answer, answered, type Items } from "../SvcError.ts"
import type { PayloadOf, QueryOf } from "./RequestParts.ts"

export type CapsuleFilter = Omit<QueryOf<"workspaces", "capsules">, keyof PageQuery>
export type CapsuleChange = PayloadOf<"capsules", "update">

/** A change to the private configuration. By default, its guard against concurrent changes is read from the Capsule. */
export type ConfigurationChange = Omit<Plain<ConfigurationPlanRequest>, "expected"> & {
  readonly authorityGuard?: string
}

export interface CapsulesShape {
  readonly get: (id: string) => Answer<Capsule>
  readonly list: (workspaceId: string, filter?: CapsuleFilter) => Items<Capsule>
  readonly page: (workspaceId: string, query?: CapsuleFilter & PageQuery) => Answer<Page<Capsule>>
  readonly update: (id: string, change: CapsuleChange) => Answer<Capsule>
  /** Reads, from the repository, the ref that the Capsule follows, so that the next plan includes recent pushes. */
  readonly look: (id: string) => Answer<CapsuleLook>
  /**
   * Plans the newest commit of the lane and returns the Plan Run. If `refreshOnly` is set, plans the deployed revision, only
   * to record changes made outside svc in the state.
   */
  readonly plan: (id: string, options?: IdempotencyOptions & CapsulePlanRequest) => Answer<Run>
  /** Plans the deployed revision against the real infrastructure in order to revert changes made outside svc. */
  readonly reconcilePlan: (id: string, once?: IdempotencyOptions) => Answer<Run>
  /** Plans the Capsule's destruction. Nothing is destroyed until the plan has been approved and applied. */
  readonly destroyPlan: (id: string, once?: IdempotencyOptions) => Answer<Run>
  readonly driftCheck: (id: string) => Answer<Run>
  /** Changes the private configuration, plans the change and returns the Plan Run. */
  readonly configure: (id: string, change: ConfigurationChange, once?: IdempotencyOptions) => Answer<Run>
  /** Returns the public Outputs, keyed by name. */
  readonly outputs: (id: string) => Answer<Readonly<Record<string, Output>>>
  /** Newest first. */
  readonly stateVersions: (id: string) => Items<StateVersion>
  readonly autoUpdateDecisions: (id: string) => Items<AutoUpdateDecision>
  readonly dependencies: (id: string) => Items<Dependency>
  readonly addDependency: (id: string, dependency: Plain<NewDependency>) => Answer<Dependency>
  readonly removeDependency: (dependencyId: string) => Answer<void>
}

const configurationPlan = requestOf(ConfigurationPlanRequest)
const newDependency = requestOf(NewDependency)

const make = Effect.gen(function* () {
  const { capsules, workspaces } = yield* SvcClient
  const get: CapsulesShape["get"] = (id) =>
    Effect.map(answered(capsules.read({ params: { capsuleId: id } })), ({ capsule }) => capsule)
  const page: CapsulesShape["page"] = (workspaceId, query = {}) =>
    Effect.map(answered(workspaces.capsules({ params: { workspaceId }, query })), (answer) =>
      pageOf(answer.capsules, answer)
    )

  return Capsules.of({
    get,
    page,
    list: (workspaceId, filter = {}) =>
      everyPage<CapsuleFilter & PageQuery, Capsule>((query) => page(workspaceId, query), filter),
    update: (id, change) =>
      Effect.map(answered(capsules.update({ params: { capsuleId: id }, payload: change })), ({ capsule }) => capsule),
    look: (id) => Effect.map(answered(capsules.look({ params: { capsuleId: id }, payload: {} })), ({ look }) => look),
    plan: (id, { refreshOnly, ...once } = {}) =>
      Effect.flatMap(idempotencyHeaders(once), (headers) =>
        Effect.map(
          answered(
            capsules.plan({
              params: { capsuleId: id },
              headers,
              payload: refreshOnly === undefined ? {} : { refreshOnly }
            })
          ),
          ({ run }) => run
        )
      ),
    reconcilePlan: (id, once = {}) =>
      Effect.flatMap(idempotencyHeaders(once), (headers) =>
        Effect.map(
          answered(capsules.reconcilePlan({ params: { capsuleId: id }, headers, payload: {} })),
          ({ run }) => run
        )
      ),
    destroyPlan: (id, once = {}) =>
      Effect.flatMap(idempotencyHeaders(once), (headers) =>
        Effect.map(
          answered(capsules.destroyPlan({ params: { capsuleId: id }, headers, payload: {} })),
          ({ run }) => run
        )
      ),
    driftCheck: (id) =>
      Effect.map(answered(capsules.driftCheck({ params: { capsuleId: id }, payload: {} })), ({ run }) => run),
    configure: Effect.fnUntraced(function* (id, { authorityGuard, ...change }, once = {}) {
      const guard = authorityGuard ?? (yield* get(id)).installConfigReAdoption.authorityGuard
      const payload = yield* configurationPlan({ ...change, expected: { authorityGuard: guard } })
      const headers = yield* idempotencyHeaders(once)
      return (yield* answered(capsules.configurationPlan({ params: { capsuleId: id }, headers, payload }))).run
    }),
    outputs: (id) =>
      Effect.map(answered(capsules.outputs({ params: { capsuleId: id } })), ({ outputs }) =>
        Object.fromEntries(outputs.map((output) => [output.name, output]))
      ),
    stateVersions: (id) =>
      everyPage(
        (query) =>
          Effect.map(answered(capsules.stateVersions({ params: { capsuleId: id }, query })), (answer) =>
            pageOf(answer.stateVersions, answer)
          ),
        {}
      ),
    autoUpdateDecisions: (id) =>
      everyPage(
        (query) =>
          Effect.map(answered(capsules.autoUpdateDecisions({ params: { capsuleId: id }, query })), (answer) =>
            pageOf(answer.decisions, answer)
          ),
        {}
      ),
    dependencies: (id) =>
      everyPage(
        (query) =>
          Effect.map(answered(capsules.dependencies({ params: { capsuleId: id }, query })), (answer) =>
            pageOf(answer.dependencies, answer)
          ),
        {}
      ),
    addDependency: (id, dependency) =>
      Effect.flatMap(newDependency(dependency), (payload) =>
        Effect.map(
          answered(capsules.createDependency({ params: { capsuleId: id }, payload })),
          (answer) => answer.dependency
        )
      ),
    removeDependency: (dependencyId) => answered(capsules.removeDependency({ params: { dependencyId } }))
  })
})

/** Manages Capsules, which are deployed instances of modules. Each change to a Capsule is a Run. */
export class Capsules extends Context.Service<Capsules, CapsulesShape>()("svc/src/client/services/Capsules") {
  static readonly layer: Layer.Layer<Capsules, never, SvcClient> = Layer.effect(Capsules, make)
}
