import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { Bench, deployed, hostedPlane, webOrigin } from "../../support/HostedPlane.ts"
import { barePlan, received } from "../../support/UnpackedExport.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const tests = suite(hostedPlane)
afterAll(tests.dispose)

const taken = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { context, workspaceId } = yield* Bench
  return yield* received({ context, session: "ses_owner", workspaceId, capsuleId })
})

describe.skipIf(Bun.which("terraform") === null)("values delivered by the service", () => {
  tests.live("are among the inputs unless the service generated them, even after a release", () =>
    Effect.gen(function* () {
      const { context } = yield* Bench
      const sql = yield* SqlClient.SqlClient
      const { capsuleId } = yield* deployed("web", "web")
      const written = sql`SELECT (SELECT COUNT(*) FROM generated_secrets) AS secrets, (SELECT COUNT(*) FROM run_deliveries) AS pinned`
      const before = yield* written
      const first = yield* taken(capsuleId)
      expect(first.answer.inputsToSupply).toEqual(["session_key"])
      expect(yield* first.read("README.md")).toContain("- `session_key` (secret; svc made it")
      expect(JSON.parse(yield* first.read("module/web/terraform.tfvars.json"))).toEqual({ app_url: webOrigin })
      // The module returns it as an Output, so its owner finds it there.
      const state = JSON.parse(yield* first.read("module/web/terraform.tfstate"))
      const folder = `${first.root}/module/web`
      expect(yield* barePlan(folder, { session_key: state.outputs.hidden.value })).toMatchObject({ code: 0 })
      yield* (yield* CapsuleCommands).Release(capsuleId, {
        context,
        request: { confirm: "web", reason: "moved_elsewhere" }
      })
      const late = yield* taken(capsuleId)
      expect(yield* late.read("module/web/terraform.tfvars.json")).toBe(
        yield* first.read("module/web/terraform.tfvars.json")
      )
      expect(yield* written).toEqual(before)
    })
  )
})
