import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { suite } from "../../support/Effect.ts"
import { agentPool } from "./support/conformance/AgentPool.ts"
import { cases } from "./support/conformance/Cases.ts"
import { localPool } from "./support/conformance/LocalPool.ts"
import { Pools } from "./support/conformance/Pool.ts"

const tests = suite(Layer.effect(Pools, Effect.map(Effect.all({ local: localPool, agent: agentPool }), Pools.of)))
afterAll(tests.dispose)

/** The pool `local` and an agent pool execute Runs in the same way: both pass the same cases and report the same results. */
describe.skipIf(Bun.which("terraform") === null)("Conformance", () => {
  for (const { name, run } of cases) {
    tests.live(
      name,
      () =>
        Effect.gen(function* () {
          const { agent, local } = yield* Pools
          const [here, there] = yield* Effect.all([run(local), run(agent)])
          expect(there).toEqual(here)
          expect(here.length).toBeGreaterThan(0)
        }),
      60_000
    )
  }
})
