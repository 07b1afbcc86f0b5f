import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import type { CommandContext } from "../../../../schema/commands/Command.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { WorkspaceId } from "../../../../schema/records/Ids.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { suite } from "../../../support/Effect.ts"
import {
  applied,
  eventOf,
  freshKey,
  type InstallOptions,
  requestOf,
  settled,
  stepped
} from "../../../support/Journey.ts"
import { newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { InstallPlanCommands } from "../../../../schema/commands/InstallPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const plain = { "main.tf": `resource "terraform_data" "a" { input = "a" }` }

interface Tenant {
  readonly context: CommandContext
  readonly workspaceId: WorkspaceId
}

/** Creates a tenant's Capsule and waits until its first plan has been computed. */
const installed = Effect.fnUntraced(function* (
  { context, workspaceId }: Tenant,
  name: string,
  branch: string,
  more: InstallOptions = {}
) {
  const plans = yield* InstallPlans
  const installPlanCommands = yield* InstallPlanCommands
  const request = yield* requestOf(branch, more)
  const named = { ...request, capsule: { ...request.capsule, name } }
  const { value } = yield* plans.create(context, workspaceId, named, freshKey())
  const plan = yield* stepped(installPlanCommands.Reconcile(value.id, { context }))
  if (plan.capsuleId === undefined || plan.planRunId === undefined) {
    return yield* Effect.die(new Error(JSON.stringify(plan.diagnostics)))
  }
  return { capsuleId: plan.capsuleId, plan: yield* settled(plan.planRunId) }
})

describe.skipIf(Bun.which("terraform") === null)("Queue fairness", () => {
  tests.live(
    "six builds of one member delay neither other Workspaces nor the member's own applies",
    () =>
      Effect.gen(function* () {
        const { commit, context, notesDir, workspaceId } = yield* TestPlane
        const capsules = yield* CapsuleCommands
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        const sources = yield* Sources
        const member = { context, workspaceId }
        const other = yield* newOwner("other")
        yield* commit("plain", plain)
        const own = yield* installed(member, "own", "plain")
        const theirs = yield* installed(other, "theirs", "plain")

        // Builds wait until the file `go` exists. It exists while the first plans are built.
        const go = join(notesDir, "go")
        const script = `mkdir out && echo x > out/x && until [ -e ${go} ]; do sleep 0.05; done`
        const sourceBuild = { commands: [{ argv: ["sh", "-c", script] }], outputs: [RelativePath.make("out")] }
        writeFileSync(go, "")
        const six = yield* Effect.forEach(
          [1, 2, 3, 4, 5, 6],
          (n) => installed(member, `built-${n}`, "plain", { initialConfiguration: { sourceBuild } }),
          { concurrency: "unbounded" }
        )
        expect(six.map(({ plan }) => plan.status)).toEqual(Array.from(six, () => "waiting_approval"))
        rmSync(go)

        const builds = yield* Effect.forEach(six, ({ capsuleId }) =>
          Effect.map(capsules.Plan(capsuleId, { context }), ({ value }) => value.id)
        )
        // Two of the builds continue until the test lets them finish.
        for (const id of builds.slice(0, 2)) yield* eventOf(id, "run.phase", 2)

        // These Runs can start only because the builds do not occupy every place.
        const plan = yield* settled((yield* capsules.Plan(theirs.capsuleId, { context: other.context })).value.id)
        expect(plan.status).toBe("waiting_approval")
        const source = (yield* sources.list(other.workspaceId, { limit: 1 })).items[0]
        if (source === undefined) return yield* Effect.die("no Source")
        const sync = yield* settled((yield* sources.sync(other.context, source.id, {})).id)
        expect(sync.status).toBe("succeeded")
        expect((yield* applied(own.plan)).status).toBe("succeeded")

        const [first, second, ...waiting] = yield* Effect.forEach(builds, (id) => runs.read(id))
        expect([first?.status, second?.status]).toEqual(["running", "running"])
        expect(waiting.map(({ queue }) => queue)).toEqual(
          [1, 2, 3, 4].map((position) => ({
            position,
            pool: "builds",
            reason: "workspace_limit",
            limit: 2,
            ...(first === undefined ? {} : { heldByRunId: first.id }),
            message:
              "The Workspace has 2 syncs, checks and builds executing, which is its limit. The next starts when one of them ends."
          }))
        )

        for (const { id } of waiting) yield* runCommands.Cancel(id, { context })
        writeFileSync(go, "")
        for (const id of builds.slice(0, 2)) expect((yield* settled(id)).status).toBe("waiting_approval")
      }),
    180_000
  )
})
