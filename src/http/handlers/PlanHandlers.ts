import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { InstallPlans } from "../../../actors/commands/install-plan/InstallPlans.ts"
import { RevisionPlans } from "../../../actors/commands/revision-plan/RevisionPlans.ts"
import { CreateInstallPlan } from "../../../schema/api/InstallPlansApi.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CapsuleId, InstallPlanId, RevisionPlanId } from "../../../schema/records/Ids.ts"
import { InstallPlan, RevisionPlan } from "../../../schema/records/InstallPlan.ts"
import { answer, authorisedWorkspace, commandContext, idempotent, pathId, repeatableAnswer } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"
import { InstallPlanCommands } from "../../../schema/commands/InstallPlanCommands.ts"
import { RevisionPlanCommands } from "../../../schema/commands/RevisionPlanCommands.ts"

const { installPlans, revisionPlans } = SvcApi.groups
const installPlanAnswer = repeatableAnswer(
  installPlans.endpoints.create,
  Schema.Struct({ installPlan: InstallPlan, replayed: Schema.Boolean })
)
const revisionPlanCreated = repeatableAnswer(
  revisionPlans.endpoints.create,
  Schema.Struct({ revisionPlan: RevisionPlan, replayed: Schema.Boolean })
)
const revisionPlanAnswer = answer(
  revisionPlans.endpoints.reconcile,
  Schema.Struct({ revisionPlan: RevisionPlan }),
  202,
  200
)
const normalised = Schema.encodeEffect(CreateInstallPlan)

export const installPlanHandlers = HttpApiBuilder.group(
  SvcApi,
  "installPlans",
  Effect.fn(function* (handlers) {
    const plans = yield* InstallPlans
    const installPlanCommands = yield* InstallPlanCommands
    return storedAnswers("installPlans", handlers).handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const context = yield* commandContext
        const request = yield* idempotent(headers, yield* Effect.orDie(normalised(payload)))
        const { replayed, value } = yield* plans.create(context, yield* authorisedWorkspace, payload, request)
        return yield* installPlanAnswer({ installPlan: value, replayed }, replayed)
      }),
      read: Effect.fnUntraced(function* ({ params }) {
        return { installPlan: yield* plans.read(yield* pathId(InstallPlanId, params.installPlanId, "Install plan")) }
      }),
      reconcile: Effect.fnUntraced(function* ({ params }) {
        const id = yield* pathId(InstallPlanId, params.installPlanId, "Install plan")
        return { installPlan: yield* installPlanCommands.Reconcile(id, { context: yield* commandContext }) }
      })
    })
  })
)

export const revisionPlanHandlers = HttpApiBuilder.group(
  SvcApi,
  "revisionPlans",
  Effect.fn(function* (handlers) {
    const plans = yield* RevisionPlans
    const revisionPlanCommands = yield* RevisionPlanCommands
    return storedAnswers("revisionPlans", handlers).handleAll({
      create: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* pathId(CapsuleId, params.capsuleId, "Capsule")
        const request = yield* idempotent(headers, { capsuleId: id, ...payload })
        const { replayed, value } = yield* plans.create(yield* commandContext, id, payload, request)
        return yield* revisionPlanCreated({ revisionPlan: value, replayed }, replayed)
      }),
      read: Effect.fnUntraced(function* ({ params }) {
        return {
          revisionPlan: yield* plans.read(yield* pathId(RevisionPlanId, params.revisionPlanId, "Revision plan"))
        }
      }),
      reconcile: Effect.fnUntraced(function* ({ params }) {
        const id = yield* pathId(RevisionPlanId, params.revisionPlanId, "Revision plan")
        const revisionPlan = yield* revisionPlanCommands.Reconcile(id, { context: yield* commandContext })
        // Responds with 202 while the plan is in progress and has to be polled (specification, Revision plans).
        return yield* revisionPlanAnswer({ revisionPlan }, revisionPlan.nextAction === "reconcile" ? 202 : 200)
      })
    })
  })
)
