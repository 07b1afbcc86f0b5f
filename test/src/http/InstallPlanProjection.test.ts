import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { eventually } from "../../support/Eventually.ts"
import { live } from "../cli/support/CommandLine.ts"
import { freshKey, servedPlane } from "./support/ServedPlane.ts"

setDefaultTimeout(60_000)

const files = { "main.tf": `output "greeting" { value = "hello" }` }

/**
 * Fields listed in the specification (Install plans): references to Source, SourceSnapshot, InstallConfig, Capsule and plan,
 * and diagnostics.
 */
const references = ["sourceId", "sourceSnapshotId", "installConfigId", "capsuleId", "planRunId"]
const allowed = new Set(
  ["id", "workspaceId", "phase", "nextAction", "diagnostics", "createdAt", "updatedAt"].concat(references)
)

describe.skipIf(Bun.which("terraform") === null)("Install projection", () => {
  live("an install plan shows only the specified fields from its creation until its review", () =>
    Effect.gen(function* () {
      const { call, repositoryUrl, workspaceId } = yield* servedPlane({ files })
      const at = `/api/v1/workspaces/${workspaceId}/install-plans`
      const request = {
        headers: freshKey(),
        body: { source: { name: "app", url: repositoryUrl }, capsule: { name: "app", environment: "test" } }
      }
      const created = yield* call("POST", at, request)
      expect([created.status, created.body.replayed]).toEqual([201, false])
      const { id } = created.body.installPlan
      const shown = [created.body.installPlan]
      const reviewable = yield* eventually(
        Effect.map(call("POST", `/api/v1/install-plans/${id}/reconcile`, { body: {} }), ({ body }) => {
          shown.push(body.installPlan)
          return body.installPlan
        }),
        ({ nextAction }) => nextAction !== "reconcile"
      )
      expect(reviewable).toMatchObject({ phase: "reviewable", nextAction: "review_run" })
      expect(Object.keys(reviewable).toSorted()).toEqual([...allowed].toSorted())
      const replay = yield* call("POST", at, request)
      expect([replay.status, replay.body.replayed]).toEqual([200, true])
      shown.push(replay.body.installPlan, (yield* call("GET", `/api/v1/install-plans/${id}`)).body.installPlan)
      expect(shown.flatMap((plan) => Object.keys(plan).filter((name) => !allowed.has(name)))).toEqual([])

      const { components } = (yield* call("GET", "/openapi.json")).body
      expect(Object.keys(components.schemas.InstallPlan.properties).toSorted()).toEqual([...allowed].toSorted())
    })
  )
})
