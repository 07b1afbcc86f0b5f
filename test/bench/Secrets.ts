import { Clock, Effect, Fiber, Schedule } from "effect"
import { type Figure, percentile } from "./support/Figures.ts"
import { repositoryOf } from "./support/Modules.ts"
import { startProduct } from "./support/Product.ts"

/** Close to the maximum number of secrets that a Run may hide and a request may contain. */
const count = 2_400
const length = 400

const module = `
variable "secrets" {
  type      = list(string)
  sensitive = true
}
resource "terraform_data" "a" { input = length(var.secrets) }
output "size" { value = nonsensitive(length(var.secrets)) }
`

const secrets = Array.from({ length: count }, (_, index) => {
  const hasher = new Bun.CryptoHasher("sha512").update(String(index))
  return hasher
    .digest("base64")
    .repeat(Math.ceil(length / 88))
    .slice(0, length)
})

/**
 * Measures the latency of `/healthz`, in milliseconds, while a plan with the maximum number of secrets is installed, computed and
 * stored.
 */
export const manySecrets = (binary: string, tool: string) =>
  Effect.gen(function* () {
    const repository = yield* repositoryOf({ "main.tf": module })
    const product = yield* startProduct(["--git-allow-origins", repository.origin, "--tool", tool], [binary])
    const answers: Array<number> = []
    const ask = Effect.gen(function* () {
      const asked = performance.now()
      const answer = yield* Effect.promise(() => fetch(`${product.url}/healthz`))
      yield* Effect.promise(() => answer.arrayBuffer())
      answers.push(performance.now() - asked)
    })
    yield* Effect.repeat(ask, Schedule.recurs(50))
    answers.length = 0
    const asking = yield* ask.pipe(Effect.repeat(Schedule.spaced("5 millis")), Effect.forkScoped)
    const started = yield* Clock.currentTimeMillis
    const { installPlan } = yield* product.client.installPlans.create({
      params: { workspaceId: product.workspaceId },
      headers: { "idempotency-key": "many" },
      payload: {
        source: { name: "many", url: repository.url },
        capsule: { name: "many", environment: "bench" },
        variables: { secrets }
      }
    })
    const planned = yield* Effect.repeat(
      product.client.installPlans.read({ params: { installPlanId: installPlan.id } }),
      {
        until: (read) => read.installPlan.phase === "reviewable" || read.installPlan.phase === "failed",
        schedule: Schedule.spaced("100 millis")
      }
    )
    if (planned.installPlan.phase === "failed") {
      return yield* Effect.die(new Error(`The plan failed: ${JSON.stringify(planned.installPlan.diagnostics)}`))
    }
    const took = (yield* Clock.currentTimeMillis) - started
    yield* Fiber.interrupt(asking)
    const figures: ReadonlyArray<Figure> = [
      {
        name: `/healthz while ${count} secrets of ${length} characters are planned, p99`,
        figure: percentile(answers, 0.99),
        unit: "ms",
        target: { atMost: 100 },
        detail: `${answers.length} answers, slowest ${Math.max(...answers).toFixed(0)} ms; the plan took ${took} ms`
      }
    ]
    return figures
  }).pipe(Effect.scoped, Effect.withSpan("manySecrets"))
