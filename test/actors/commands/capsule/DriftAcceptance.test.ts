import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  applied,
  bound,
  demoConnection,
  demoModule,
  freshKey,
  note,
  planned,
  replanned,
  settled
} from "../../../support/Journey.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const token = "accepted-drift-token-5b1e"

/** The objects in the demo provider's cloud, keyed by name, with functions that change them from outside svc. */
const cloudIn = (folder: string) => {
  const fileOf = (name: string) =>
    join(folder, readdirSync(folder).find((entry) => entry.startsWith(`${name}-`)) ?? "missing")
  const read = (name: string) => JSON.parse(readFileSync(fileOf(name), "utf8"))
  return {
    content: (name: string) => read(name).content,
    edit: (name: string, content: string) => writeFileSync(fileOf(name), JSON.stringify({ ...read(name), content })),
    remove: (name: string) => rmSync(fileOf(name))
  }
}

const stateOf = Effect.fnUntraced(function* ({ currentStateVersionId }: Capsule) {
  const states = yield* StateVersions
  const version = yield* states.find(currentStateVersionId ?? null)
  if (version === undefined) return yield* Effect.die(new Error("The Capsule has no state"))
  return new TextDecoder().decode(Redacted.value(yield* states.open(version)))
})

/** Returns the state that the tool writes when it accepts the same drift outside svc. */
const acceptedOutside = Effect.fnUntraced(function* (module: string, state: string) {
  const { notesDir } = yield* TestPlane
  const mirror = yield* providerMirror
  const folder = yield* temporaryFolder
  writeFileSync(join(folder, "main.tf"), module)
  writeFileSync(join(folder, "terraform.tfstate"), state)
  const run = async (...args: ReadonlyArray<string>) => {
    const child = Bun.spawn(["terraform", ...args], {
      cwd: folder,
      env: {
        ...mirror.environment,
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        DEMO_DIR: notesDir,
        DEMO_TOKEN: token
      },
      stdout: "pipe",
      stderr: "pipe"
    })
    const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()])
    if (code !== 0) throw new Error(`terraform ${args[0]}: ${text}`)
  }
  yield* Effect.promise(async () => {
    await run("init", "-input=false")
    await run("plan", "-refresh-only", "-input=false", "-out=accepted")
    await run("apply", "-input=false", "accepted")
  })
  return readFileSync(join(folder, "terraform.tfstate"), "utf8")
})

const module = demoModule(`${note("kept")}${note("gone")}
output "content" { value = demo_note.kept.content }
`)

describe.skipIf(Bun.which("terraform") === null)("Accepting drift", () => {
  tests.live(
    "accepting drift changes only the state, exactly as the tool would, and needs a review like any other plan",
    () =>
      Effect.gen(function* () {
        const { commit, context, notesDir } = yield* TestPlane
        const capsules = yield* Capsules
        const commands = yield* CapsuleCommands
        const connection = yield* demoConnection(token)
        const bindings = { options: { providerBindings: [bound(connection.id)] } }
        const { capsule } = yield* active("accepted", { "main.tf": module }, bindings)
        const cloud = cloudIn(notesDir)
        cloud.edit("kept", "edited by hand")
        cloud.remove("gone")
        expect((yield* settled((yield* commands.DriftCheck(capsule.id, { context })).id)).drifted).toBe(true)
        const expected = yield* acceptedOutside(module, yield* stateOf(capsule))

        // Adds a newer commit that nobody has applied.
        yield* commit("accepted", { "main.tf": `${module}${note("newer")}` })
        yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
        const before = yield* capsules.read(capsule.id)
        expect(before.status).toBe("stale")

        const key = freshKey("accepted")
        const given = { context, refreshOnly: true, idempotency: key }
        const asked = yield* commands.Plan(capsule.id, given)
        const again = yield* commands.Plan(capsule.id, given)
        expect([again.replayed, again.value.id]).toEqual([true, asked.value.id])
        const plan = yield* settled(asked.value.id)
        expect([plan.type, plan.status, plan.refreshOnly, plan.purpose, plan.requiresApproval]).toEqual([
          "plan",
          "waiting_approval",
          true,
          "accept_drift",
          true
        ])
        expect(plan.resolvedCommit).toBe(before.adoptedSourceRevision?.resolvedCommit)
        expect(plan.resourceChanges).toEqual([])
        expect(plan.planSummary).toEqual({ add: 0, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 })
        expect(plan.driftedResources).toBe(2)
        expect(plan.resourceDrift?.map(({ actions, address }) => [address, actions])).toEqual([
          ["demo_note.gone", ["delete"]],
          ["demo_note.kept", ["update"]]
        ])
        expect(plan.outputChanges).toMatchObject([{ name: "content", before: "hello kept", after: "edited by hand" }])
        expect((yield* capsules.read(capsule.id)).driftStatus).toBe("drifted")

        const apply = yield* applied(plan)
        expect([apply.type, apply.status, apply.refreshOnly, apply.purpose]).toEqual([
          "apply",
          "succeeded",
          true,
          "accept_drift"
        ])
        // The plan changes only the state.
        expect(cloud.content("kept")).toBe("edited by hand")
        expect(readdirSync(notesDir).filter((name) => name.startsWith("gone-"))).toEqual([])
        const after = yield* capsules.read(capsule.id)
        expect([after.driftStatus, after.status, after.staleReasons, after.adoptedSourceRevision]).toEqual([
          "none",
          "stale",
          before.staleReasons,
          before.adoptedSourceRevision
        ])
        expect(after.currentStateGeneration).toBe(before.currentStateGeneration + 1)
        expect(JSON.parse(yield* stateOf(after))).toEqual(JSON.parse(expected))
        expect((yield* capsules.outputs(capsule.id)).map(({ name, value }) => [name, value])).toEqual([
          ["content", "edited by hand"]
        ])

        // The next ordinary plan starts from the accepted state.
        const next = yield* replanned(capsule.id)
        expect(next.refreshOnly).toBeUndefined()
        expect(next.resourceChanges?.map(({ actions, address }) => [address, actions])).toEqual([
          ["demo_note.gone", ["create"]],
          ["demo_note.kept", ["update"]],
          ["demo_note.newer", ["create"]]
        ])
      }),
    60_000
  )

  tests.live(
    "svc refuses to accept drift if the state has a different configuration than the Capsule, or if the plan is outdated",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* Capsules
        const commands = yield* CapsuleCommands
        const files = {
          "main.tf": `variable "name" {}
resource "terraform_data" "a" {}
output "name" { value = var.name }`
        }
        const { capsule } = yield* active("accepted-moved", files, { variables: { name: "one" } })
        const accept = { context, refreshOnly: true }
        const unchanged = yield* settled((yield* commands.Plan(capsule.id, accept)).value.id)
        expect([unchanged.status, unchanged.driftedResources, unchanged.resourceDrift]).toEqual([
          "waiting_approval",
          0,
          []
        ])

        const { authorityGuard } = (yield* capsules.read(capsule.id)).installConfigReAdoption
        const { planRunId } = (yield* commands.ConfigurationPlan(capsule.id, {
          context,
          request: { variablePatch: { set: { name: "two" }, remove: [] }, expected: { authorityGuard } },
          idempotency: freshKey("accepted-moved")
        })).value
        expect((yield* (yield* Runs).read(unchanged.id)).status).toBe("superseded")
        const refused = yield* Effect.flip(commands.Plan(capsule.id, accept))
        expect([refused.code, refused.message]).toEqual([
          "failed_precondition",
          "The configuration has changed since the last apply. Plan the Capsule and apply the plan first; a check then finds what still differs."
        ])
        yield* applied(yield* settled(planRunId))
        const again = yield* settled((yield* commands.Plan(capsule.id, accept)).value.id)
        expect([again.status, again.refreshOnly]).toEqual(["waiting_approval", true])
        const key = freshKey("accept")
        yield* commands.Plan(capsule.id, { ...accept, idempotency: key })
        const other = yield* Effect.flip(
          commands.Plan(capsule.id, { context, idempotency: { ...key, requestDigest: "plan" } })
        )
        expect(other.code).toBe("idempotency_conflict")
      })
  )

  tests.live("svc refuses to accept drift if nothing is deployed", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { capsuleId } = yield* planned("accepted-new", { "main.tf": `resource "terraform_data" "a" {}` })
      const refused = yield* Effect.flip((yield* CapsuleCommands).Plan(capsuleId, { context, refreshOnly: true }))
      expect(refused.code).toBe("failed_precondition")
      expect(refused.message).toContain("never applied")
    })
  )
})
