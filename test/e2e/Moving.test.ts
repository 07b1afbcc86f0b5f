import { describe, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import type { CreateInstallPlan } from "../../schema/api/InstallPlansApi.ts"
import { StateUploadId } from "../../schema/records/Ids.ts"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"
import { eventually } from "../support/Eventually.ts"
import { hostedServer } from "./support/HostedServer.ts"

setDefaultTimeout(180_000)

const page = readFileSync(join(import.meta.dir, "../../docs/moving.md"), "utf8")
const module = /^```hcl\n([\s\S]*?)\n```$/m.exec(page)?.[1] ?? ""
const canary = "moving-canary-8812"
const [oldKey, newKey] = ["1".repeat(64), "2".repeat(64)]

type Server = Effect.Success<ReturnType<typeof hostedServer>>

const reviewed = Effect.fnUntraced(function* ({ client }: Server, runId: string) {
  const { run } = yield* eventually(
    client.runs.read({ params: { runId } }),
    (answer) => answer.run.status === "waiting_approval"
  )
  return run
})

const applied = Effect.fnUntraced(function* ({ client }: Server, runId: string) {
  yield* client.runs.approve({ params: { runId }, payload: {} })
  const { run } = yield* client.runs.apply({ params: { runId }, headers: {}, payload: {} })
  yield* eventually(client.runs.read({ params: { runId: run.id } }), (answer) => answer.run.status === "succeeded")
})

/** Creates a Workspace, and installs the page's module. */
const beginning = Effect.fnUntraced(function* (server: Server) {
  const { client, repositoryUrl } = server
  const { workspace } = yield* client.workspaces.create({ payload: { handle: "acme", displayName: "Acme" } })
  const installed = Effect.fnUntraced(function* (more: Pick<CreateInstallPlan, "adopt">) {
    const { installPlan } = yield* client.installPlans.create({
      params: { workspaceId: workspace.id },
      headers: { "idempotency-key": "install-app" },
      payload: {
        source: { name: "app", url: repositoryUrl },
        capsule: { name: "app", environment: "test" },
        variables: { password: canary },
        ...more
      }
    })
    const ended = yield* eventually(
      client.installPlans.read({ params: { installPlanId: installPlan.id } }),
      (answer) => answer.installPlan.capsuleId !== undefined || answer.installPlan.phase === "failed"
    )
    return ended.installPlan
  })
  return { workspace, installed }
})

describe.skipIf(Bun.which("terraform") === null)("Moving Capsules", () => {
  it.live("only one installation at a time manages a moving Capsule", () =>
    Effect.gen(function* () {
      const from = yield* hostedServer({ "main.tf": module }, { masterKey: oldKey ?? "" })
      const original = yield* beginning(from)
      const { capsuleId = "", planRunId = "" } = yield* original.installed({})
      yield* reviewed(from, planRunId)
      yield* applied(from, planRunId)
      const { backup } = yield* from.client.capsules.backup({ params: { capsuleId }, payload: {} })
      const archive = yield* from.browse(`/api/v1/backups/${backup.id}/archive`)
      expect(archive.status).toBe(200)
      expect(archive.text).not.toContain(canary)
      yield* from.client.capsules.release({
        params: { capsuleId },
        payload: { confirm: "app", reason: "moved_elsewhere" }
      })

      const upload = (server: Server, workspaceId: string) =>
        Effect.promise(async () => {
          const response = await fetch(`${server.url}/api/v1/workspaces/${workspaceId}/backup-uploads`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${Redacted.value(server.token)}`,
              "content-type": "application/octet-stream",
              "idempotency-key": "move-app"
            },
            body: archive.text
          })
          return { status: response.status, body: await response.json() }
        })

      // A server without the key rejects the import, and the error contains the key's id.
      const stranger = yield* hostedServer({ "main.tf": module }, { masterKey: newKey ?? "" })
      const { workspace: elsewhere } = yield* beginning(stranger)
      const refused = yield* upload(stranger, elsewhere.id)
      expect(refused).toMatchObject({ status: 409, body: { error: { code: "backup_key_missing" } } })
      expect(refused.body.error.message).toContain(JSON.parse(archive.text).masterKeyIds[0])

      const to = yield* hostedServer({ "main.tf": module }, { masterKey: `${newKey},${oldKey}` })
      const { installed, workspace } = yield* beginning(to)
      const uploaded = yield* upload(to, workspace.id)
      expect(uploaded).toMatchObject({
        status: 201,
        body: { stateUpload: { importedFrom: { capsuleId, name: "app" } } }
      })
      const { id: uploadId, sha256 } = uploaded.body.stateUpload
      const imported = yield* installed({ adopt: { uploadId: StateUploadId.make(uploadId), sha256 } })
      expect(imported.diagnostics.map(({ code }) => code)).toEqual(["import_unconfirmed"])
      const params = { capsuleId: imported.capsuleId ?? "" }
      expect((yield* to.client.capsules.read({ params })).capsule.status).toBe("disabled")
      const early = yield* Effect.flip(to.client.capsules.plan({ params, headers: {}, payload: {} }))
      expect(early).toMatchObject({ code: "failed_precondition" })

      // Confirming needs a session and the typed name, so only a person can confirm.
      const path = `/api/v1/capsules/${params.capsuleId}/import-confirmation`
      const byToken = yield* Effect.flip(to.client.backupImports.confirm({ params, payload: { confirm: "app" } }))
      expect(byToken).toMatchObject({ code: "permission_denied" })
      expect((yield* to.browse(path, { body: { confirm: "App" } })).status).toBe(400)
      expect((yield* to.browse(path, { body: { confirm: "app" } })).status).toBe(200)

      const { run } = yield* to.client.capsules.plan({ params, headers: {}, payload: {} })
      const plan = yield* reviewed(to, run.id)
      expect(plan.planSummary).toMatchObject({ add: 0, change: 0, replace: 0, destroy: 0 })
      expect(plan.diagnostics?.[0]?.summary).toContain("the installation it comes from is not locked")
      yield* applied(to, run.id)
      expect((yield* to.client.capsules.read({ params })).capsule).toMatchObject({
        status: "active",
        currentStateGeneration: 2
      })
      const outputs = yield* to.client.capsules.outputs({ params })
      const before = yield* from.client.capsules.outputs({ params: { capsuleId } })
      expect(outputs.outputs.map(({ value }) => value)).toEqual(before.outputs.map(({ value }) => value))
    }).pipe(Effect.provide(platform))
  )
})
