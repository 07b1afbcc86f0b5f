import { expect } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../actors/commands/capsule/Capsules.ts"
import type { CommandContext } from "../../schema/commands/Command.ts"
import { InstallPlans } from "../../actors/commands/install-plan/InstallPlans.ts"
import { Runs, RunStreams } from "../../actors/ledger/run/Runs.ts"
import { Sources } from "../../actors/ledger/source/Sources.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { Workspaces } from "../../actors/ledger/workspace/Workspaces.ts"
import { serveRepository } from "../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../src/testing/git-server/RepositoryWriter.ts"
import { platform } from "../../src/composition/Platform.ts"
import { controlPlane, temporaryFolder, testSettings } from "../support/ControlPlane.ts"
import { it } from "../support/Effect.ts"
import { eventually } from "../support/Eventually.ts"
import { settled } from "../support/Journey.ts"
import { CapsuleCommands } from "../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../schema/commands/RunCommands.ts"

const moduleText = (greeting: string) => `
variable "name" {
  type = string
}
variable "secret" {
  type      = string
  sensitive = true
}
resource "terraform_data" "note" {
  input = "${greeting} \${var.name}"
}
output "note" {
  value = terraform_data.note.output
}
output "hidden" {
  value     = var.secret
  sensitive = true
}
`

const canary = "canary-7f3a9b-private"

it.live(
  "svc installs, applies, updates and destroys a module from a Git URL",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const gitdir = `${folder}/repository.git`
      yield* createRepository({ gitdir })
      yield* commitFiles({ gitdir, files: { "main.tf": moduleText("hello") } })
      const repository = yield* serveRepository({ gitdir })
      const settings = yield* testSettings({
        dataDir: `${folder}/data`,
        gitAllowOrigins: [repository.origin],
        // Each Run has its own network, as in the default configuration.
        runnerNetwork: "auto"
      })

      yield* Effect.gen(function* () {
        const setup: CommandContext = { actor: { kind: "service" }, actorKey: "test" }
        const user = yield* (yield* Users).create(setup, { email: "a@example.test", isOperator: true })
        const context: CommandContext = { actor: { kind: "user", subject: user.subject }, actorKey: user.subject }
        const workspaces = yield* Workspaces
        yield* workspaces.ensurePersonal(context, user.subject)
        const workspace = (yield* workspaces.list(user.subject, { limit: 10 })).workspaces[0]
        if (workspace === undefined) return yield* Effect.die("no Workspace")

        const plans = yield* InstallPlans
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const sources = yield* Sources

        const request = {
          source: { name: "demo", url: repository.url },
          capsule: { name: "first", environment: "test" },
          variables: { name: "world", secret: canary }
        }
        const key = { key: "k1", requestDigest: "d1" }
        const created = yield* plans.create(context, workspace.id, request, key)
        expect(created.replayed).toBe(false)
        const again = yield* plans.create(context, workspace.id, request, key)
        expect(again.replayed).toBe(true)
        expect(again.value.id).toBe(created.value.id)

        // The service performs all of these steps automatically.
        const reviewable = yield* eventually(
          plans.read(created.value.id),
          ({ nextAction }) => nextAction !== "reconcile"
        )
        expect(reviewable.diagnostics).toEqual([])
        expect(reviewable.phase).toBe("reviewable")
        if (reviewable.planRunId === undefined || reviewable.capsuleId === undefined)
          return yield* Effect.die("no plan")

        const plan = yield* settled(reviewable.planRunId)
        expect(plan.status).toBe("waiting_approval")
        expect(plan.planSummary).toMatchObject({ add: 1, change: 0, destroy: 0 })
        expect(JSON.stringify(plan)).not.toContain(canary)

        const refused = yield* Effect.flip(runs.apply(context, plan.id, undefined))
        expect(refused.code).toBe("failed_precondition")
        const wrong = yield* Effect.flip(
          runCommands.Approve(plan.id, { context, planDigest: `sha256:${"0".repeat(64)}` })
        )
        expect(wrong.code).toBe("guard_conflict")
        yield* runCommands.Approve(plan.id, { context, planDigest: plan.planDigest ?? "" })
        const apply = yield* runs.apply(context, plan.id, { key: "a1", requestDigest: "a" })
        const applied = yield* settled(apply.value.id)
        expect(applied.error).toBeUndefined()
        expect(applied.status).toBe("succeeded")
        expect((yield* Effect.flip(runs.apply(context, plan.id, undefined))).code).toBe("run_conflict")

        const active = yield* capsules.read(reviewable.capsuleId)
        expect(active.status).toBe("active")
        expect(active.currentStateGeneration).toBe(1)
        expect(active.adoptedSourceRevision?.resolvedCommit).toBe(plan.resolvedCommit)
        const outputs = yield* capsules.outputs(active.id)
        expect(outputs.map((output) => [output.name, output.value])).toEqual([["note", "hello world"]])

        // A second commit makes the Capsule stale, and an update plan adopts it.
        yield* commitFiles({ gitdir, files: { "main.tf": moduleText("goodbye") } })
        const sync = yield* sources.sync(context, active.sourceId, {})
        expect((yield* settled(sync.id)).status).toBe("succeeded")
        expect((yield* capsules.read(active.id)).status).toBe("stale")
        const update = yield* capsuleCommands.Plan(active.id, { context })
        const updatePlan = yield* settled(update.value.id)
        expect(updatePlan.error).toBeUndefined()
        expect(updatePlan.planSummary).toMatchObject({ change: 1 })
        yield* runCommands.Approve(updatePlan.id, { context })
        const updated = yield* settled((yield* runs.apply(context, updatePlan.id, undefined)).value.id)
        expect(updated.status).toBe("succeeded")
        expect((yield* capsules.outputs(active.id))[0]?.value).toBe("goodbye world")

        const drift = yield* settled((yield* capsuleCommands.DriftCheck(active.id, { context })).id)
        expect(drift.status).toBe("succeeded")
        expect((yield* capsules.read(active.id)).driftStatus).toBe("none")

        const destroy = yield* settled((yield* capsuleCommands.DestroyPlan(active.id, { context })).value.id)
        expect(destroy.planSummary).toMatchObject({ destroy: 1 })
        yield* runCommands.Approve(destroy.id, { context })
        const destroyed = yield* settled((yield* runs.apply(context, destroy.id, undefined)).value.id)
        expect(destroyed.status).toBe("succeeded")
        expect((yield* capsules.read(active.id)).status).toBe("destroyed")

        const streams = yield* RunStreams
        const events = yield* streams.events(apply.value.id, 0, 1000)
        expect(events.done).toBe(true)
        expect(events.items.map((event) => event.seq)).toEqual(events.items.map((_, index) => index + 1))
        const logs = yield* streams.logs(apply.value.id, 0, 1000)
        expect(logs.done).toBe(true)
        expect(logs.items.length).toBeGreaterThan(0)
      }).pipe(Effect.provide(controlPlane(settings)))
    }).pipe(Effect.provide(platform)),
  120_000
)
