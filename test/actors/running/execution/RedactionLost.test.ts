import { writeFile } from "node:fs/promises"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { redactionThreads, RedactionThreads } from "../../../../runner/redaction/Redaction.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, applying, planned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

setDefaultTimeout(120_000)

// The redaction thread stops when it reads `the-thread-ends-here`.
const breaking = new URL("../../../runner/redaction/support/BreakingWorker.ts", import.meta.url)
const tests = suite(testPlane().pipe(Layer.provide(Layer.succeed(RedactionThreads, redactionThreads(breaking)))))
afterAll(tests.dispose)

/**
 * Builds a module whose command assembles the marker when it runs, because the tool also prints the command's source.
 * `first` runs before the command prints.
 */
const printing = (text: string, first = "true") => ({
  "main.tf": `
    variable "secret" {
      type      = string
      sensitive = true
    }
    resource "terraform_data" "a" {
      input = "a"
      provisioner "local-exec" { command = "${first}; echo before-it; echo ${text}; echo after-it" }
    }
    output "plain" { value = "nothing secret" }`
})
const variables = { secret: "lost-canary-secret-2e77" }

const told = Effect.fnUntraced(function* (runId: Parameters<RunStreams["Service"]["logs"]>[0]) {
  const logs = yield* eventually((yield* RunStreams).logs(runId, 0, 1000), ({ done }) => done)
  return logs.items.map(({ text }) => text)
})

describe.skipIf(Bun.which("terraform") === null)("Lost redaction", () => {
  tests.live(
    "a Run that loses its redaction thread continues without showing more output, and does not affect the next Run",
    () =>
      Effect.gen(function* () {
        const capsules = yield* Capsules
        // The command waits until its resource has been shown before it prints, because svc loses output that it reads just
        // as the thread stops.
        const gate = `${(yield* TestPlane).notesDir}/gate`
        Bun.spawnSync(["mkfifo", gate])
        const module = printing("the-thread-$(echo ends)-here", `read -r go < ${gate}`)
        const { capsuleId, plan } = yield* planned("thread-lost", module, { variables })
        expect(plan.outputChanges?.map(({ sensitive }) => sensitive)).toEqual([false])
        const started = yield* applying(plan)
        const shown = (yield* RunStreams).logs(started.id, 0, 1000)
        yield* eventually(shown, ({ items }) =>
          items.some(({ text }) => text.includes("terraform_data.a: Creating..."))
        )
        yield* Effect.promise(() => writeFile(gate, "go\n"))
        const apply = yield* settled(started.id)
        expect(apply.status).toBe("succeeded")
        const lines = yield* told(apply.id)
        const lost = lines.findIndex((line) => line.includes("[redacted]"))
        expect(lines.slice(0, lost).join("\n")).toContain("terraform_data.a: Creating...")
        // The Run shows only output that the thread checked before it stopped.
        expect(lines.slice(lost).filter((line) => /after-it|the-thread|ends-here/.test(line))).toEqual([])
        expect(lines.slice(lost).filter((line) => line.includes("[redacted]")).length).toBeGreaterThan(1)
        expect(yield* capsules.outputs(capsuleId)).toEqual([])

        const next = yield* active("thread-kept", printing("nothing"), { variables })
        expect((yield* told(next.apply.id)).join("\n")).toContain("(local-exec): after-it")
        expect((yield* capsules.outputs(next.capsule.id)).map(({ name }) => name)).toEqual(["plain"])
      })
  )
})
