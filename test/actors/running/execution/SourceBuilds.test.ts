import { readdirSync, readFileSync, renameSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { cleanUpBuilds } from "../../../../actors/ledger/build/BuildCleanup.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { suite } from "../../../support/Effect.ts"
import { applied, planned, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const build = {
  commands: [{ argv: ["sh", "-c", "mkdir out && cat words.txt > out/made.txt && date +%N >> out/made.txt"] }],
  outputs: [RelativePath.make("out")]
}
const files = {
  "words.txt": "built words ",
  "main.tf": `
    resource "terraform_data" "a" { input = file("\${path.module}/out/made.txt") }
    output "made" { value = terraform_data.a.output }`
}

/** Backdates every archive, so that cleanup treats it as old. */
const age = (folder: string) => {
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), 0, 0)
}

describe.skipIf(Bun.which("terraform") === null)("Source builds", () => {
  tests.live(
    "a source build is created once per plan, reviewed with the plan, and used by its apply and later drift checks",
    () =>
      Effect.gen(function* () {
        const { context, dataDir } = yield* TestPlane
        const folder = join(dataDir, "builds")
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const runs = yield* RunCommands
        const { capsuleId, plan } = yield* planned("build", files, { initialConfiguration: { sourceBuild: build } })
        expect(plan.sourceBuild).toEqual(build)
        const [first] = readdirSync(folder)
        expect(first).toMatch(/^[0-9a-f]{64}\.tar$/)
        const made = /built words (\d+)/.exec(readFileSync(join(folder, first ?? "")).toString("latin1"))?.[1]
        expect(made).toBeDefined()

        // The apply uses its plan's build instead of building again.
        const apply = yield* applied(plan)
        expect(apply.error).toBeUndefined()
        expect(apply.sourceBuild).toEqual(build)
        const [output] = yield* capsules.outputs(capsuleId)
        expect(output?.value).toBe(`built words ${made}\n`)
        const drift = yield* settled((yield* capsuleCommands.DriftCheck(capsuleId, { context })).id)
        expect([drift.status, drift.drifted]).toEqual(["succeeded", false])

        // Cleanup removes a superseded plan with its build, but keeps the build of the current state.
        const lost = yield* replanned(capsuleId)
        expect(readdirSync(folder)).toHaveLength(2)
        yield* runs.Cancel(lost.id, { context })
        age(folder)
        yield* cleanUpBuilds
        expect(readdirSync(folder)).toEqual([first ?? ""])

        // If the build is missing, svc does not apply an approved plan, and a drift check reports why it cannot run.
        const next = yield* replanned(capsuleId)
        expect(next.status).toBe("waiting_approval")
        age(folder)
        yield* cleanUpBuilds
        expect(readdirSync(folder)).toHaveLength(2)
        for (const name of readdirSync(folder)) renameSync(join(folder, name), join(dataDir, name))
        const refused = yield* applied(next)
        expect([refused.status, refused.error?.code]).toEqual(["failed", "plan_not_usable"])
        const missing = yield* settled((yield* capsuleCommands.DriftCheck(capsuleId, { context })).id)
        expect([missing.status, missing.error?.code]).toEqual(["failed", "build_missing"])
        expect((yield* capsules.read(capsuleId)).status).toBe("active")

        // svc rejects a different archive with the same name, because nobody reviewed it.
        renameSync(join(dataDir, first ?? ""), join(folder, first ?? ""))
        const later = yield* replanned(capsuleId)
        const [second] = readdirSync(folder).filter((name) => name !== first)
        renameSync(join(folder, first ?? ""), join(folder, second ?? ""))
        expect((yield* applied(later)).status).toBe("failed")
        expect((yield* capsules.read(capsuleId)).currentStateGeneration).toBe(1)
        expect((yield* capsules.read(capsuleId)).runtimeSafety).toBe("safe")
      }),
    120_000
  )
})
