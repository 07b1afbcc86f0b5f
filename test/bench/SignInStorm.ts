import { Clock, Effect, Fiber, Ref } from "effect"
import { type Figure, percentile } from "./support/Figures.ts"
import { startProduct } from "./support/Product.ts"

const wrongPasswords = 200
const atOnce = 50
const settled = 200

const post = (url: string, body: unknown, from: number) =>
  Effect.promise((signal) =>
    fetch(url, {
      method: "POST",
      signal,
      // Each client has a different address, reported by the trusted proxy, so that the limit per address does not apply.
      headers: { "content-type": "application/json", "x-forwarded-for": `198.51.${from >> 8}.${from & 255}` },
      body: JSON.stringify(body)
    }).then((response) => response.status)
  )

/**
 * Measures read latency while many clients attempt to sign in with passwords, because password hashing must not slow down
 * reads.
 */
export const signInStorm = Effect.gen(function* () {
  const product = yield* startProduct(["--trusted-proxies", "127.0.0.1"])
  const read = Effect.gen(function* () {
    const started = yield* Clock.currentTimeNanos
    yield* product.client.workspaces.list({ query: {} })
    return Number((yield* Clock.currentTimeNanos) - started) / 1e6
  })
  for (let n = 0; n < settled; n++) yield* read
  const over = yield* Ref.make(false)
  const attempts = Array.from({ length: wrongPasswords }, (_, n) => n)
  const storm = yield* Effect.forkChild(
    Effect.forEach(
      attempts,
      (n) => post(`${product.url}/auth/sign-in`, { email: `user${n}@example.com`, password: "not-the-password" }, n),
      { concurrency: atOnce }
    ).pipe(Effect.ensuring(Ref.set(over, true)))
  )
  const millis: Array<number> = []
  while (!(yield* Ref.get(over))) millis.push(yield* read)
  const statuses = yield* Fiber.join(storm)
  const refused = statuses.filter((status) => status === 401).length
  const figure: Figure = {
    name: `reads at the 99th percentile during ${wrongPasswords} wrong passwords`,
    figure: percentile(millis, 0.99),
    unit: "ms",
    target: { atMost: 50 },
    detail: `${millis.length} reads, ${refused} passwords hashed and refused`
  }
  return [figure]
}).pipe(Effect.scoped)
