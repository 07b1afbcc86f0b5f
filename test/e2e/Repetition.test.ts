import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import type { RunId } from "../../schema/records/Ids.ts"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"
import { eventually } from "../support/Eventually.ts"
import { hostedServer } from "./support/HostedServer.ts"

setDefaultTimeout(180_000)

const files = {
  "main.tf": `
variable "greeting" {
  type    = string
  default = "hello"
}
output "greeting" {
  value = var.greeting
}
`
}

/** Sends a request twice, like a client that lost the first response, and compares the responses. */
const twice = Effect.fnUntraced(function* <A, E, R>(ask: Effect.Effect<A, E, R>, id: (answer: A) => string) {
  const first = yield* ask
  const again = yield* ask
  expect(id(again)).toBe(id(first))
  return first
})

describe.skipIf(Bun.which("terraform") === null)("Repeated requests", () => {
  it.live("every route that accepts an idempotency key returns the same response to a repeated request", () =>
    Effect.gen(function* () {
      const { client, inPerson, repositoryUrl } = yield* hostedServer(files)
      const { workspace } = yield* client.workspaces.create({ payload: { handle: "acme" } })
      const over = (runId: RunId) =>
        Effect.map(
          eventually(
            client.runs.read({ params: { runId } }),
            ({ run }) => run.status !== "queued" && run.status !== "running"
          ),
          ({ run }) => run
        )

      const { installPlan } = yield* twice(
        client.installPlans.create({
          params: { workspaceId: workspace.id },
          headers: { "idempotency-key": "install" },
          payload: { source: { name: "app", url: repositoryUrl }, capsule: { name: "app", environment: "test" } }
        }),
        (answer) => answer.installPlan.id
      )
      const { capsuleId, planRunId } = yield* Effect.map(
        eventually(
          client.installPlans.read({ params: { installPlanId: installPlan.id } }),
          ({ installPlan: { phase } }) => phase === "reviewable" || phase === "failed"
        ),
        (answer) => answer.installPlan
      )
      if (capsuleId === undefined || planRunId === undefined) return yield* Effect.die(new Error("No plan was made"))
      const params = { capsuleId }

      const reviewed = yield* over(planRunId)
      yield* client.runs.approve({
        params: { runId: planRunId },
        payload: reviewed.planDigest === undefined ? {} : { planDigest: reviewed.planDigest }
      })
      const apply = client.runs.apply({
        params: { runId: planRunId },
        headers: { "idempotency-key": "apply" },
        payload: {}
      })
      const applied = yield* twice(apply, ({ run }) => run.id)
      expect((yield* over(applied.run.id)).status).toBe("succeeded")

      for (const kind of ["plan", "destroyPlan"] as const) {
        const ask = client.capsules[kind]({ params, headers: { "idempotency-key": kind }, payload: {} })
        const { run } = yield* twice(ask, (answer) => answer.run.id)
        expect((yield* over(run.id)).status).toBe("waiting_approval")
      }

      const { capsule } = yield* client.capsules.read({ params })
      const configured = yield* twice(
        client.capsules.configurationPlan({
          params,
          headers: { "idempotency-key": "configure" },
          payload: {
            variablePatch: { set: { greeting: "good day" } },
            expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
          }
        }),
        ({ run }) => run.id
      )
      yield* over(configured.run.id)

      yield* twice(
        client.revisionPlans.create({
          params,
          headers: { "idempotency-key": "revise" },
          payload: { ref: "main" }
        }),
        ({ revisionPlan }) => revisionPlan.id
      )

      const { source } = yield* client.sources.read({ params: { sourceId: capsule.sourceId } })
      yield* twice(
        inPerson.sources.renewHookSecret({
          params: { sourceId: source.id },
          headers: { "idempotency-key": "renew" },
          payload: { hookSecretVersion: source.hookSecretVersion }
        }),
        (answer) => `${answer.source.hookSecretVersion}`
      )
    }).pipe(Effect.provide(Layer.mergeAll(platform, FetchHttpClient.layer)))
  )
})
