import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Redacted } from "effect"
import { gunzipSync } from "node:zlib"
import { platform } from "../../src/composition/Platform.ts"
import { eventually } from "../support/Eventually.ts"
import { it } from "../support/Effect.ts"
import { hostedServer } from "./support/HostedServer.ts"

setDefaultTimeout(120_000)

const module = `
variable "region" { default = "none" }
variable "key" {
  type      = string
  sensitive = true
}
resource "terraform_data" "it" { input = [var.region, var.key] }`

describe.skipIf(Bun.which("terraform") === null)("Exports over HTTP", () => {
  it.live("only the browser that requested an export can download it", () =>
    Effect.gen(function* () {
      const server = yield* hostedServer({ "main.tf": module })
      const { client } = server
      const { workspace } = yield* client.workspaces.create({ payload: { handle: "acme", displayName: "Acme" } })
      const { installPlan } = yield* client.installPlans.create({
        params: { workspaceId: workspace.id },
        headers: { "idempotency-key": "install-one" },
        payload: {
          source: { name: "app", url: server.repositoryUrl },
          capsule: { name: "app", environment: "test" },
          variables: { region: "east", key: "export-http-key-55d2" }
        }
      })
      const ready = yield* eventually(
        client.installPlans.read({ params: { installPlanId: installPlan.id } }),
        (answer) => answer.installPlan.planRunId !== undefined
      )
      const { capsuleId = "", planRunId = "" } = ready.installPlan
      yield* eventually(
        client.runs.read({ params: { runId: planRunId } }),
        (answer) => answer.run.status === "waiting_approval"
      )
      yield* client.runs.approve({ params: { runId: planRunId }, payload: {} })
      const { run } = yield* client.runs.apply({ params: { runId: planRunId }, headers: {}, payload: {} })
      yield* eventually(client.runs.read({ params: { runId: run.id } }), (answer) => answer.run.status === "succeeded")

      const path = `/api/v1/capsules/${capsuleId}/exports`
      const refused = yield* Effect.flip(
        client.exports.create({ params: { capsuleId }, headers: {}, payload: { confirm: "app" } })
      )
      expect(refused).toMatchObject({ code: "reauthentication_required" })
      expect((yield* server.browse(path, { body: { confirm: "App" } })).status).toBe(400)
      const granted = yield* server.browse(path, { body: { confirm: "app" } })
      expect(granted.status).toBe(201)
      const { fileName, inputsToSupply, link } = JSON.parse(granted.text).export
      expect(inputsToSupply).toEqual(["key"])

      const get = (headers: Record<string, string>) => Effect.promise(() => fetch(`${server.url}${link}`, { headers }))
      expect((yield* get({})).status).toBe(401)
      const token = yield* get({ authorization: `Bearer ${Redacted.value(server.token)}` })
      expect(token.status).toBe(404)
      expect((yield* get({ cookie: yield* server.anotherCookie })).status).toBe(404)

      const download = yield* get({ cookie: server.cookie, "sec-fetch-site": "same-origin" })
      expect(download.status).toBe(200)
      expect(Object.fromEntries(download.headers)).toMatchObject({
        "content-type": "application/gzip",
        "content-disposition": `attachment; filename="${fileName}"`,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff"
      })
      const text = gunzipSync(yield* Effect.promise(() => download.arrayBuffer())).toString("latin1")
      const holds = (words: string, from = "svc-export-app/") => text.slice(text.indexOf(from)).includes(words)
      expect(holds("svc-export-app/module/terraform.tfstate")).toBe(true)
      expect(holds("export-http-key-55d2")).toBe(true)
      // Only the state contains the value.
      expect(holds('{"region":"east"}', "svc-export-app/module/terraform.tfvars.json")).toBe(true)
      expect(holds("export-http-key-55d2", "svc-export-app/module/terraform.tfvars.json")).toBe(false)

      expect((yield* get({ cookie: server.cookie, "sec-fetch-site": "same-origin" })).status).toBe(409)

      const history = yield* server.browse(`/api/v1/workspaces/${workspace.id}/activity?capsuleId=${capsuleId}`)
      const events: ReadonlyArray<{ readonly action: string }> = JSON.parse(history.text).events
      expect(events.map(({ action }) => action).filter((action) => action.startsWith("capsule.export"))).toEqual([
        "capsule.export_download",
        "capsule.export"
      ])
      expect(history.text).not.toContain(String(link).split(".").at(-1) ?? "")
    }).pipe(Effect.provide(platform))
  )
})
