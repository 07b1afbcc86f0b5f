import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import { checkBounds } from "../../../actors/ledger/configuration/VariableRules.ts"
import { Dependencies } from "../../../actors/ledger/dependency/Dependencies.ts"
import { ConfigurationPlanRequest, ReAdoptionRequest } from "../../../schema/api/ConfigurationRequests.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CapsuleId, DependencyId, InstallConfigId, RunId } from "../../../schema/records/Ids.ts"
import { Run } from "../../../schema/records/Run.ts"
import { currentRequestId } from "../../http-kit/Exchange.ts"
import { retiredResponse } from "../RetiredRoutes.ts"
import {
  authorisedWorkspace,
  commandContext,
  cursorOf,
  idempotent,
  maybeIdempotent,
  pageRequest,
  pathId,
  repeatableAnswer
} from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"

const { configurationPlan, destroyPlan, plan } = SvcApi.groups.capsules.endpoints
const runOnly = Schema.Struct({ run: Run })
const planAnswer = repeatableAnswer(plan, runOnly)
const destroyPlanAnswer = repeatableAnswer(destroyPlan, runOnly)
const configurationPlanAnswer = repeatableAnswer(
  configurationPlan,
  Schema.Struct({
    replayed: Schema.Boolean,
    targetInstallConfigId: InstallConfigId,
    planRunId: RunId,
    run: Run
  })
)
const normalisedConfiguration = Schema.encodeEffect(ConfigurationPlanRequest)
const normalisedReAdoption = Schema.encodeEffect(ReAdoptionRequest)

const capsuleOf = (params: { readonly capsuleId: string }) => pathId(CapsuleId, params.capsuleId, "Capsule")
// Reached only if the routes are mounted without the authorisation layer, because that layer refuses retired mutations.
const retired = () => Effect.map(currentRequestId, retiredResponse)

export const capsuleHandlers = HttpApiBuilder.group(
  SvcApi,
  "capsules",
  Effect.fn(function* (handlers) {
    const capsules = yield* Capsules
    const capsuleCommands = yield* CapsuleCommands
    const dependencies = yield* Dependencies
    return storedAnswers("capsules", handlers).handleAll({
      read: Effect.fnUntraced(function* ({ params }) {
        return { capsule: yield* capsules.read(yield* capsuleOf(params)) }
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        return {
          capsule: yield* capsuleCommands.Update(yield* capsuleOf(params), {
            context: yield* commandContext,
            ...payload
          })
        }
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        return yield* capsuleCommands.Remove(yield* capsuleOf(params), { context: yield* commandContext })
      }),
      release: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* capsuleCommands.Release(yield* capsuleOf(params), {
          context: yield* commandContext,
          request: payload
        })
      }),
      outputs: Effect.fnUntraced(function* ({ params }) {
        return { outputs: yield* capsules.outputs(yield* capsuleOf(params)) }
      }),
      usageSummary: Effect.fnUntraced(function* ({ params }) {
        return { usage: yield* capsules.usage(yield* capsuleOf(params)) }
      }),
      autoUpdateDecisions: Effect.fnUntraced(function* ({ params, query }) {
        const page = yield* capsules.autoUpdateDecisions(yield* capsuleOf(params), yield* pageRequest(query))
        return { decisions: page.items, ...cursorOf(page) }
      }),
      stateVersions: Effect.fnUntraced(function* ({ params, query }) {
        const page = yield* capsules.stateVersions(yield* capsuleOf(params), yield* pageRequest(query))
        return { stateVersions: page.items, ...cursorOf(page) }
      }),
      dependencies: Effect.fnUntraced(function* ({ params, query }) {
        const page = yield* dependencies.list(yield* capsuleOf(params), yield* pageRequest(query))
        return { dependencies: page.items, ...cursorOf(page) }
      }),
      createDependency: Effect.fnUntraced(function* ({ params, payload }) {
        const consumer = yield* capsuleOf(params)
        return { dependency: yield* dependencies.create(yield* commandContext, consumer, payload) }
      }),
      removeDependency: Effect.fnUntraced(function* ({ params }) {
        const id = yield* pathId(DependencyId, params.dependencyId, "Dependency")
        yield* dependencies.remove(yield* commandContext, id)
      }),
      providerBindings: Effect.fnUntraced(function* ({ params }) {
        return { providerBindings: yield* capsules.providerBindings(yield* capsuleOf(params)) }
      }),
      replaceProviderBindings: retired,
      configs: Effect.fnUntraced(function* ({ query }) {
        const page = yield* capsules.installConfigs(yield* authorisedWorkspace, yield* pageRequest(query))
        return { capsuleConfigs: page.items, ...cursorOf(page) }
      }),
      config: Effect.fnUntraced(function* ({ params }) {
        const id = yield* pathId(InstallConfigId, params.capsuleConfigId, "Configuration")
        return { capsuleConfig: yield* capsules.installConfig(yield* authorisedWorkspace, id) }
      }),
      updateConfig: retired,
      plan: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* capsuleOf(params)
        const refresh = payload?.refreshOnly === true ? { refreshOnly: true } : {}
        const request = yield* maybeIdempotent(headers, { capsuleId: id, ...refresh })
        const { replayed, value } = yield* capsuleCommands.Plan(id, {
          ...refresh,
          context: yield* commandContext,
          idempotency: request
        })
        return yield* planAnswer({ run: value }, replayed)
      }),
      look: Effect.fnUntraced(function* ({ params }) {
        return { look: yield* capsules.look(yield* commandContext, yield* capsuleOf(params)) }
      }),
      configurationPlan: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* capsuleOf(params)
        const body = yield* Effect.orDie(normalisedConfiguration(payload))
        const request = yield* idempotent(headers, { capsuleId: id, body })
        const { replayed, value } = yield* capsuleCommands.ConfigurationPlan(id, {
          context: yield* commandContext,
          request: payload,
          idempotency: request
        })
        return yield* configurationPlanAnswer({ replayed, ...value }, replayed)
      }),
      reconcilePlan: Effect.fnUntraced(function* ({ headers, params }) {
        const id = yield* capsuleOf(params)
        const request = yield* maybeIdempotent(headers, { capsuleId: id })
        const { replayed, value } = yield* capsuleCommands.ReconcilePlan(id, {
          context: yield* commandContext,
          idempotency: request
        })
        return yield* planAnswer({ run: value }, replayed)
      }),
      destroyPlan: Effect.fnUntraced(function* ({ headers, params }) {
        const id = yield* capsuleOf(params)
        const request = yield* maybeIdempotent(headers, { capsuleId: id })
        const { replayed, value } = yield* capsuleCommands.DestroyPlan(id, {
          context: yield* commandContext,
          idempotency: request
        })
        return yield* destroyPlanAnswer({ run: value }, replayed)
      }),
      driftCheck: Effect.fnUntraced(function* ({ params }) {
        return { run: yield* capsuleCommands.DriftCheck(yield* capsuleOf(params), { context: yield* commandContext }) }
      }),
      backup: Effect.fnUntraced(function* ({ params }) {
        const id = yield* capsuleOf(params)
        return { backup: yield* capsules.backup(yield* commandContext, yield* authorisedWorkspace, id) }
      }),
      reAdopt: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* capsuleOf(params)
        if (payload.reviewedUserVariables !== undefined) {
          yield* checkBounds("reviewedUserVariables", payload.reviewedUserVariables)
        }
        const body = yield* Effect.orDie(normalisedReAdoption(payload))
        const request = yield* idempotent(headers, { capsuleId: id, body })
        const { replayed, value } = yield* capsuleCommands.ReAdopt(id, {
          context: yield* commandContext,
          request: payload,
          idempotency: request
        })
        const { capsule, ...installConfigReAdoption } = value
        return { capsule, installConfigReAdoption: { replayed, ...installConfigReAdoption } }
      })
    })
  })
)
