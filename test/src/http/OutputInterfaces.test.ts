import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { eventually } from "../../support/Eventually.ts"
import { live } from "../cli/support/CommandLine.ts"
import { freshKey, servedPlane } from "./support/ServedPlane.ts"

setDefaultTimeout(60_000)

const files = {
  "main.tf": `
    variable "key" {
      type      = string
      sensitive = true
    }
    output "address" { value = "https://app.example.test" }
    output "password" {
      value     = var.key
      sensitive = true
    }
    output "leak" { value = nonsensitive(var.key) }`
}

const reading = (outputName: string, outputType = "string") => ({
  key: outputName,
  name: `Reads.${outputName}`,
  spec: {
    type: "web",
    version: "1",
    document: {},
    inputs: { value: { source: "output", outputName, outputType } },
    access: { visibility: "workspace" }
  }
})

describe.skipIf(Bun.which("terraform") === null)("Output Interfaces", () => {
  live("a Capsule's Interface can read every Output that is neither sensitive nor private", () =>
    Effect.gen(function* () {
      const { applied, call, capsule, installed, sql, workspaceId } = yield* servedPlane({ files })
      const { capsuleId, planRunId } = yield* installed("app", { variables: { key: "output-interfaces-key-41" } })
      yield* applied(planRunId)
      const proposed = Effect.fnUntraced(function* (...interfaceBlueprints: ReadonlyArray<unknown>) {
        const { installConfigReAdoption } = yield* capsule(capsuleId)
        return yield* call("POST", `/api/v1/capsules/${capsuleId}/configuration-plans`, {
          headers: freshKey(),
          body: { interfaceBlueprints, expected: { authorityGuard: installConfigReAdoption.authorityGuard } }
        })
      })
      const sensitive = yield* proposed(reading("password"))
      expect([sensitive.status, sensitive.body.error.code]).toEqual([400, "invalid_request"])
      expect(sensitive.body.error.message).toContain("neither sensitive nor ephemeral")
      const unknown = yield* proposed(reading("none"))
      expect(unknown.status).toBe(400)

      const accepted = yield* proposed(reading("address", "url"), reading("leak"))
      expect([accepted.status, accepted.body.replayed]).toEqual([201, false])
      yield* applied(accepted.body.planRunId)
      const rows = yield* eventually(
        sql`SELECT interface_key, status, inputs FROM interfaces WHERE capsule_id = ${capsuleId} ORDER BY interface_key`.pipe(
          Effect.orDie
        ),
        (found) => found.every(({ status }) => status !== "pending")
      )
      expect(rows).toEqual([
        { interface_key: "address", status: "resolved", inputs: '{"value":"https://app.example.test"}' },
        { interface_key: "leak", status: "not_ready", inputs: "{}" }
      ])
      const { body } = yield* call("GET", `/api/v1/workspaces/${workspaceId}/interface-materialization-failures`)
      expect(body.failures).toMatchObject([{ code: "output_not_public" }])
      expect(JSON.stringify(body)).not.toContain("output-interfaces-key-41")

      // The dashboard saves exactly the values that it read.
      const { installConfigId } = yield* capsule(capsuleId)
      const read = (yield* call("GET", `/api/v1/capsule-configs/${installConfigId}`)).body.capsuleConfig
      expect(read.outputAllowlist).toEqual([])
      expect((yield* proposed(...read.interfaceBlueprints)).status).toBe(201)
    })
  )
})
