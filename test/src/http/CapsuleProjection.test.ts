import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { live } from "../cli/support/CommandLine.ts"
import { freshKey, servedPlane } from "./support/ServedPlane.ts"

setDefaultTimeout(60_000)

const files = { "main.tf": `output "greeting" { value = "hello" }` }

describe.skipIf(Bun.which("terraform") === null)("Capsule projection", () => {
  live("every route that returns a Capsule (GET, lists, PATCH, re-adoption, removal) returns the same fields", () =>
    Effect.gen(function* () {
      const { applied, call, installed, workspaceId } = yield* servedPlane({ files })
      const { capsuleId, installPlan, planRunId } = yield* installed("app")
      yield* applied(planRunId)
      const at = `/api/v1/capsules/${capsuleId}`
      const { capsule } = (yield* call("GET", at)).body
      expect(capsule).toMatchObject({
        status: "active",
        compatibilityReportId: expect.stringMatching(/^rep_/),
        adoptedCommitDescription: { authorName: expect.any(String) }
      })
      const listed = (yield* call("GET", `/api/v1/workspaces/${workspaceId}/capsules`)).body.capsules
      expect(listed).toEqual([capsule])

      const patched = (yield* call("PATCH", at, { body: {} })).body.capsule
      expect({ ...patched, updatedAt: "" }).toEqual({ ...capsule, updatedAt: "" })

      const reAdopted = yield* call("POST", `${at}/install-config-re-adoptions`, {
        headers: freshKey(),
        body: {
          baseInstallConfigId: capsule.installConfigId,
          sourceSnapshotId: installPlan.sourceSnapshotId,
          reason: "reviewed",
          expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
        }
      })
      expect(reAdopted.status).toBe(200)
      expect(reAdopted.body.capsule).toEqual((yield* call("GET", at)).body.capsule)
      expect(Object.keys(reAdopted.body.capsule).sort()).toEqual(Object.keys(capsule).sort())

      const overview = (yield* call("GET", `/api/v1/dashboard/overview?workspaceId=${workspaceId}`)).body
      expect(overview.capsules.every((one: unknown) => Bun.deepEquals(one, reAdopted.body.capsule))).toBe(true)

      const unapplied = yield* installed("never")
      yield* call("POST", `/api/v1/runs/${unapplied.planRunId}/cancel`, { body: {} })
      const read = (yield* call("GET", `/api/v1/capsules/${unapplied.capsuleId}`)).body.capsule
      const removed = yield* call("DELETE", `/api/v1/capsules/${unapplied.capsuleId}`)
      expect(Object.keys(removed.body.capsule).sort()).toEqual(Object.keys(read).sort())
      const after = (yield* call("GET", `/api/v1/capsules/${unapplied.capsuleId}`)).body.capsule
      expect(removed.body.capsule).toEqual(after)
    })
  )
})
