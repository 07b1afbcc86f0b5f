import { afterAll, describe, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { applied, freshKey, planned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const secret = "apply-canary-secret-5c20d7"
const encoded = Buffer.from(secret).toString("base64")

const leaking = (end: string) => ({
  "main.tf": `
    variable "secret" {
      type      = string
      sensitive = true
    }
    resource "terraform_data" "a" {
      input = "a"
      provisioner "local-exec" {
        command = "echo \${nonsensitive(var.secret)} \${nonsensitive(base64encode(var.secret))}; ${end}"
      }
    }
    output "address" { value = "https://user:\${nonsensitive(var.secret)}@example.test/" }
    output "plain" { value = "nothing secret" }`
})

/** Although the variable is sensitive, the module's state contains its value without marking it as sensitive. */
const unmarked = {
  "main.tf": `
    variable "secret" {
      type      = string
      sensitive = true
    }
    resource "terraform_data" "a" { input = nonsensitive(var.secret) }
    output "a" { value = terraform_data.a.output }`
}

/** Returns all text that svc shows about a Run. */
const toldOf = Effect.fnUntraced(function* (runId: Parameters<Runs["Service"]["read"]>[0]) {
  const streams = yield* RunStreams
  // A Run's last log lines may arrive after the Run has ended.
  const logs = yield* eventually(streams.logs(runId, 0, 1000), ({ done }) => done)
  return JSON.stringify([yield* (yield* Runs).read(runId), (yield* streams.events(runId, 0, 1000)).items, logs.items])
})

describe.skipIf(Bun.which("terraform") === null)("Secret inputs", () => {
  tests.live("an apply's secrets are hidden in all output of the tool, even when the tool fails", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* TestPlane
      for (const [branch, end, status] of [
        ["apply-prints", "true", "succeeded"],
        ["apply-fails", "exit 3", "failed"]
      ] as const) {
        const { plan } = yield* planned(branch, leaking(end), { variables: { secret } })
        const apply = yield* applied(plan)
        expect(apply.status).toBe(status)
        const told = yield* toldOf(apply.id)
        expect(told).toContain("local-exec")
        expect([told.includes(secret), told.includes(encoded)]).toEqual([false, false])
      }
      // svc removes the run folders once their Runs are settled.
      const files = yield* FileSystem.FileSystem
      yield* eventually(files.readDirectory(`${dataDir}/runs`), (names) => names.length === 0)
      expect(canarySweep(dataDir, [secret])).toEqual([])
    })
  )

  tests.live("an apply and the admission of its plan count secrets in the same way", () =>
    Effect.gen(function* () {
      const module = {
        "main.tf": `
        variable "secrets" {
          type      = list(string)
          sensitive = true
        }
        resource "terraform_data" "a" { input = var.secrets }`
      }
      const secrets = Array.from({ length: 1500 }, (_, at) => `${at}-`.padEnd(400, String(Bun.hash(String(at)))))
      const { plan } = yield* planned("many-secrets", module, { variables: { secrets } })
      expect((yield* applied(plan)).status).toBe("succeeded")
    })
  )

  tests.live("an Output that repeats an apply's secret does not reveal it", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("output-repeats", leaking("true"), { variables: { secret } })
      expect((yield* applied(plan)).status).toBe("succeeded")
      const outputs = yield* (yield* Capsules).outputs(capsuleId)
      expect(outputs.map(({ name }) => name)).toEqual(["plain"])
    })
  )

  tests.live("replaced secrets stay hidden, because the state contains the previous values", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const earlier = "earlier-canary-secret-0b71"
      const later = "later-canary-secret-9e42"
      const { capsuleId, plan } = yield* planned("secret-changes", unmarked, { variables: { secret: earlier } })
      expect((yield* applied(plan)).status).toBe("succeeded")
      const guard = (yield* capsules.read(capsuleId)).installConfigReAdoption.authorityGuard
      const changed = yield* capsuleCommands.ConfigurationPlan(capsuleId, {
        context,
        request: { variablePatch: { set: { secret: later } }, expected: { authorityGuard: guard } },
        idempotency: freshKey()
      })
      const change = yield* settled(changed.value.planRunId)
      expect(change.resourceChanges).toHaveLength(1)
      const applyOfChange = yield* applied(change)
      const destroy = yield* settled((yield* capsuleCommands.DestroyPlan(capsuleId, { context })).value.id)
      for (const run of [change, applyOfChange, destroy]) {
        const told = yield* toldOf(run.id)
        expect([told.includes(earlier), told.includes(later)]).toEqual([false, false])
      }
      expect((yield* capsules.outputs(capsuleId)).map(({ name }) => name)).toEqual([])
    })
  )
})
