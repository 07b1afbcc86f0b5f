// A control plane from the packages: prints where it is, serves until its input ends, closes it, and prints what is left. It never
// calls exit.
import { Context, Effect, Layer, Redacted } from "effect"
import { TestPlane } from "@svc-dev/server/testing"

const inputEnded = Effect.callback((resume) => {
  process.stdin.on("end", () => resume(Effect.void))
  process.stdin.resume()
})

const program = Effect.gen(function* () {
  const plane = Context.get(yield* Layer.build(TestPlane.layer({ gitAllowOrigins: process.argv[2] ?? "" })), TestPlane)
  const { token, workspaceId } = yield* plane.createAccount("ada@example.test")
  console.log(JSON.stringify({ url: plane.url, token: Redacted.value(token), workspaceId }))
  yield* inputEnded
}).pipe(Effect.scoped)

await Effect.runPromise(program)
process.stdin.destroy()
// Two turns of the loop: handles that were just closed are gone then.
await new Promise((resolve) => setTimeout(resolve, 50))
console.log(JSON.stringify({ left: process.getActiveResourcesInfo?.() ?? [] }))
