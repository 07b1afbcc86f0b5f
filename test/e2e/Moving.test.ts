import { readFileSync } from "node:fs"
import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Redacted, Schema } from "effect"
import { platform } from "../../src/composition/Platform.ts"
import { SealedBackup } from "../../schema/api/SealedBackup.ts"
import { eventually } from "../support/Eventually.ts"
import { it } from "../support/Effect.ts"
import { hostedServer } from "./support/HostedServer.ts"

setDefaultTimeout(180_000)

const module = {
  "main.tf": `
variable "greeting" { type = string }
resource "terraform_data" "it" { input = var.greeting }
output "greeting" { value = terraform_data.it.output }`
}
const page = readFileSync(new URL("../../docs/moving.md", import.meta.url), "utf8")
const [keys = "", install = "", confirm = ""] = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(
  ([, block = ""]) => block
)

const needed = ["bash", "curl", "jq", "terraform"].filter((program) => Bun.which(program) === null)

const encodeFile = Schema.encodeEffect(Schema.fromJsonString(SealedBackup))

describe.skipIf(needed.length > 0 && process.env["SVC_TEST_REQUIRE_ALL"] !== "1")("docs/moving.md", () => {
  it.live("moves an applied Capsule to another server by its commands", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-moving-" })
      const old = yield* hostedServer(module)
      const created = yield* old.client.workspaces.create({ payload: { handle: "acme", displayName: "Acme" } })
      const { installPlan } = yield* old.client.installPlans.create({
        params: { workspaceId: created.workspace.id },
        headers: { "idempotency-key": "install-one" },
        payload: {
          source: { name: "app", url: old.repositoryUrl },
          capsule: { name: "app", environment: "prod" },
          variables: { greeting: "hello" }
        }
      })
      const { capsuleId = "", planRunId = "" } = (yield* eventually(
        old.client.installPlans.read({ params: { installPlanId: installPlan.id } }),
        ({ installPlan: { phase } }) => phase === "reviewable"
      )).installPlan
      yield* old.client.runs.approve({ params: { runId: planRunId }, payload: {} })
      const { run } = yield* old.client.runs.apply({ params: { runId: planRunId }, headers: {}, payload: {} })
      yield* eventually(
        old.client.runs.read({ params: { runId: run.id } }),
        (answer) => answer.run.status === "succeeded"
      )
      const { backup } = yield* old.client.capsules.backup({ params: { capsuleId }, payload: {} })
      const sealed = yield* old.inPerson.backups.archive({ params: { backupId: backup.id } })
      yield* files.writeFileString(`${folder}/app.backup`, yield* encodeFile(sealed))

      const bash = (script: string, env: Readonly<Record<string, string>> = {}) =>
        Effect.promise(async () => {
          const { exited, stdout } = Bun.spawn(["bash", "-euo", "pipefail", "-c", script], {
            cwd: folder,
            env: { PATH: process.env["PATH"], ...env },
            stderr: "inherit"
          })
          const out = await new Response(stdout).text()
          return { code: await exited, out }
        })
      yield* files.copyFile(`${old.dataDir}/master.key`, `${folder}/old.key`)
      // Another installation's key of its own.
      const spare = yield* hostedServer(module)
      yield* files.copyFile(`${spare.dataDir}/master.key`, `${folder}/own.key`)
      expect(yield* bash(keys)).toEqual({ code: 0, out: "" })

      const there = yield* hostedServer(module, { masterKeyFile: `${folder}/both.key` })
      const { workspace } = yield* there.client.workspaces.create({ payload: { handle: "acme", displayName: "Acme" } })
      const env = {
        SVC: there.url,
        TOKEN: Redacted.value(there.token),
        WORKSPACE: workspace.id,
        REPOSITORY: there.repositoryUrl
      }
      const moved = yield* bash(`${install}\necho "$CAPSULE"`, env)
      expect(moved.code).toBe(0)
      const imported = moved.out.trim().split("\n").at(-1) ?? ""
      const waiting = yield* there.client.capsules.read({ params: { capsuleId: imported } })
      expect(waiting.capsule.status).toBe("disabled")
      expect(String(waiting.capsule.import?.from.capsuleId)).toBe(capsuleId)

      yield* old.client.capsules.release({
        params: { capsuleId },
        payload: { confirm: "app", reason: "moved_elsewhere" }
      })
      const first = yield* bash(
        `json() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; }\n${confirm}\necho "$RUN"`,
        {
          ...env,
          CAPSULE: imported
        }
      )
      expect(first.code).toBe(0)
      const runId = first.out.trim().split("\n").at(-1) ?? ""
      const plan = yield* there.client.runs.read({ params: { runId } })
      expect(plan.run.status).toBe("waiting_approval")
      expect(plan.run.planSummary).toMatchObject({ add: 0, change: 0, replace: 0, destroy: 0 })
      yield* there.client.runs.approve({ params: { runId }, payload: {} })
      const { run: apply } = yield* there.client.runs.apply({ params: { runId }, headers: {}, payload: {} })
      yield* eventually(
        there.client.runs.read({ params: { runId: apply.id } }),
        (answer) => answer.run.status === "succeeded"
      )
      const { outputs } = yield* there.client.capsules.outputs({ params: { capsuleId: imported } })
      expect(outputs.map(({ name, value }) => [name, value])).toEqual([["greeting", "hello"]])
    }).pipe(Effect.provide(platform))
  )
})
