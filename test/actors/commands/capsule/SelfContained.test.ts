import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { applied, planned } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const phasesOf = Effect.fnUntraced(function* (runId: RunId) {
  const { items } = yield* (yield* RunStreams).events(runId, 0, 1000)
  return items.flatMap(({ kind, data }) => (kind === "run.phase" ? [data["phase"]] : []))
})

const resource = 'resource "terraform_data" "a" {\n  input = 1\n}\n'
const backend = 'terraform {\n  backend "s3" {\n    bucket = "not-ours"\n  }\n}\n'

describe.skipIf(Bun.which("terraform") === null)("Self-contained modules", () => {
  tests.live(
    "if a module has no providers and declares no backend, svc plans and applies it without running init",
    () =>
      Effect.gen(function* () {
        const alone = yield* planned("self-contained", { "main.tf": resource })
        expect(yield* phasesOf(alone.plan.id)).toEqual(["prepare", "plan", "show"])
        const apply = yield* applied(alone.plan)
        expect(apply.status).toBe("succeeded")
        expect(yield* phasesOf(apply.id)).toEqual(["prepare", "apply", "state", "outputs"])

        const elsewhere = yield* planned("state-elsewhere", { "main.tf": resource, "backend.tf": backend })
        expect(yield* phasesOf(elsewhere.plan.id)).toEqual(["prepare", "init", "plan", "show"])
        expect((yield* applied(elsewhere.plan)).status).toBe("succeeded")
      })
  )
})
