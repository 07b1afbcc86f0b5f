import { Effect } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import type { StateUploadId } from "../../schema/records/Ids.ts"
import { Broken, holds } from "./CrashClient.ts"
import type { NeverReady } from "./ServerProcess.ts"
import { canaries } from "./CrashWorld.ts"
import { isExcused, type Traveller } from "./Traveller.ts"

const mostAttempts = 8

/** An uploaded state, by its id and digest; another one for every attempt. */
type Upload = (
  attempt: number
) => Effect.Effect<{ readonly uploadId: StateUploadId; readonly sha256: string }, ApiError | Broken | NeverReady>

/** Installs the module; an install that a crash has ended is made again. */
export const install = Effect.fnUntraced(function* (traveller: Traveller, label: string, upload?: Upload) {
  const { acknowledged, client, repositoryUrl, world } = traveller
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const adopt = upload === undefined ? {} : { adopt: yield* upload(attempt) }
    const { installPlan: created } = yield* client.call(({ installPlans }) =>
      installPlans.create({
        params: { workspaceId: world.workspaceId },
        headers: { "idempotency-key": `${label}-${attempt}` },
        payload: {
          source: { name: "crash", url: repositoryUrl },
          capsule: { name: `${label}-${attempt}`, environment: "test" },
          options: {
            providerBindings: [
              { provider: "example.test/acme/demo", moduleLocalName: "demo", connectionId: world.connectionId }
            ]
          },
          variables: { greeting: "hello", secret: canaries.variable },
          ...adopt
        }
      })
    )
    acknowledged.installPlans.add(created.id)
    for (;;) {
      const { installPlan } = yield* client.call(({ installPlans }) =>
        installPlans.read({ params: { installPlanId: created.id } })
      )
      if (installPlan.capsuleId !== undefined && installPlan.nextAction === "none") {
        // Imported: it is planned once the import is confirmed.
        acknowledged.capsules.add(installPlan.capsuleId)
        return { capsuleId: installPlan.capsuleId, plan: undefined }
      }
      if (installPlan.capsuleId !== undefined && installPlan.planRunId !== undefined) {
        acknowledged.capsules.add(installPlan.capsuleId)
        acknowledged.runs.add(installPlan.planRunId)
        const plan = yield* client.settled(installPlan.planRunId)
        return { capsuleId: installPlan.capsuleId, plan }
      }
      if (installPlan.phase === "failed") {
        const reasons = installPlan.diagnostics.map(({ code }) => code)
        yield* holds(
          reasons.some((code) => isExcused(traveller, code)),
          `The install failed for no crash: ${JSON.stringify(reasons)}`
        )
        break
      }
      yield* Effect.sleep("25 millis")
    }
  }
  return yield* new Broken({ message: "The install never came to a plan" })
})
