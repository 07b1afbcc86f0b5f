import { expect } from "bun:test"
import { fileURLToPath } from "node:url"
import { Effect, Layer, Schema } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { StateResources } from "../../../../actors/ledger/state/StateResources.ts"
import { CommandContext } from "../../../../schema/commands/Command.ts"
import { CapsuleId, RunId, SourceId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { it } from "../../../support/Effect.ts"
import { applied, demoModule, eventOf, note, replanned, settled } from "../../../support/Journey.ts"
import { countCreations, providerMirror } from "../../../support/ProviderMirror.ts"
import { placeMigratedDatabase } from "../../../support/MigratedDatabase.ts"
import { planeAt, servedRepository, TestPlane } from "../../../support/TestPlane.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const script = fileURLToPath(new URL("../../support/ApplyUntilKilled.ts", import.meta.url))
const token = "killed-canary-token-77e1c0"

const Told = Schema.fromJsonString(
  Schema.Struct({
    context: CommandContext,
    workspaceId: WorkspaceId,
    capsuleId: CapsuleId,
    sourceId: SourceId,
    planId: RunId,
    applyId: RunId,
    buildingId: RunId
  })
)

/** Runs the script until it reports that it has reached the kill point, then kills it. */
const killedAt = Effect.fnUntraced(function* (given: object) {
  const child = Bun.spawn([process.execPath, script, JSON.stringify(given)], { stdout: "pipe", stderr: "inherit" })
  yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
  const told = yield* Effect.promise(async () => {
    let text = ""
    for await (const part of child.stdout) {
      text += new TextDecoder().decode(part)
      // Skips other lines, because the service may log a warning first.
      const line = /^\{.*$(?=\n)/m.exec(text)?.[0]
      if (line !== undefined) return line
    }
    return text
  })
  child.kill("SIGKILL")
  yield* Effect.promise(() => child.exited)
  return yield* Schema.decodeUnknownEffect(Told)(told)
})

it.live(
  "a service killed during an apply loses no state, repeats no apply, and restarts an interrupted plan",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const mirror = yield* providerMirror
      const { commit, moveBranch, origin, url } = yield* servedRepository(`${folder}/repository.git`)
      // The note `quick` already exists when creation of the note `slow` begins.
      const slow = note("slow", "delay_after_ms = 600000\n depends_on = [demo_note.quick]")
      yield* commit("killed", { "main.tf": demoModule(note("quick") + slow) })
      yield* commit("building", { "main.tf": `resource "terraform_data" "a" { input = "a" }` })
      const dataDir = `${folder}/data`
      yield* placeMigratedDatabase(dataDir)
      const told = yield* killedAt({ dataDir, mirror, origin, url, token })
      const { applyId, buildingId, capsuleId, context, workspaceId } = told
      const plane = Layer.succeed(
        TestPlane,
        TestPlane.of({
          context,
          workspaceId,
          dataDir,
          notesDir: mirror.notesDir,
          url,

          commit,
          moveBranch
        })
      )

      yield* Effect.gen(function* () {
        const capsules = yield* Capsules
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        const apply = yield* runs.read(applyId)
        expect([apply.status, apply.error?.code, apply.attempt]).toEqual(["failed", "apply_interrupted", 1])
        expect(apply.possiblyCreated).toEqual(["demo_note.slow"])
        // The killed process recorded the tool while it prepared the apply.
        const { tool } = yield* runs.read(told.planId)
        expect([apply.tool, apply.providerResolutions?.length]).toEqual([tool, 1])
        expect(tool).toBeDefined()
        const capsule = yield* capsules.read(capsuleId)
        expect([capsule.status, capsule.runtimeSafety, capsule.currentStateGeneration]).toEqual(["error", "unknown", 1])
        const [version] = (yield* capsules.stateVersions(capsuleId, { limit: 10 })).items
        expect(version).toMatchObject({ id: apply.stateVersionId, partial: true, resourceCount: 1, generation: 1 })
        const created = yield* countCreations(mirror.notesDir)
        expect(created).toBeGreaterThan(0)

        // The next service starts the plan a second time, but not the apply.
        const started = (yield* (yield* RunStreams).events(buildingId, 0, 100)).items.filter(
          ({ kind }) => kind === "run.queued"
        )
        expect(started).toHaveLength(2)
        yield* eventOf(buildingId, "run.started", 2)
        yield* runCommands.Cancel(buildingId, { context })
        const plan = yield* settled(buildingId)
        expect([plan.status, plan.attempt]).toEqual(["cancelled", 2])

        // svc does not apply again automatically, and the used plan cannot be applied again.
        expect(yield* countCreations(mirror.notesDir)).toBe(created)
        expect((yield* Effect.flip(runs.apply(context, told.planId, undefined))).code).toBe("run_conflict")
        expect(canarySweep(dataDir, [token])).toEqual([])

        // The next apply adopts the existing notes and creates the missing ones, which makes the Capsule safe again.
        yield* commit("killed", { "main.tf": demoModule(note("quick") + note("slow")) })
        yield* settled((yield* (yield* Sources).sync(context, told.sourceId, {})).id)
        const repair = yield* replanned(capsuleId)
        expect(repair.planSummary).toMatchObject({ add: 1, destroy: 0 })
        expect((yield* applied(repair)).status).toBe("succeeded")
        const safe = yield* capsules.read(capsuleId)
        expect([safe.status, safe.runtimeSafety, safe.currentStateGeneration]).toEqual(["active", "safe", 2])
      }).pipe(
        Effect.provide(
          plane.pipe(
            Layer.provideMerge(
              planeAt({ dataDir, mirror, origins: [origin] }, { run: { timing: { planGrace: "1 second" } } })
            )
          )
        )
      )
    }).pipe(Effect.provide(platform)),
  180_000
)

const keyCanary = "TOPSECRET-instance"
const users = [`quick-${keyCanary}-1`, `slow-${keyCanary}-2`]

it.live(
  "a service killed during an apply records secret instance keys only in hidden form",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const mirror = yield* providerMirror
      const { commit, origin, url } = yield* servedRepository(`${folder}/repository.git`)
      const isSlow = `startswith(each.key, "slow")`
      yield* commit("killed", {
        "main.tf": demoModule(`variable "users" {
            type      = list(string)
            sensitive = true
          }
          resource "demo_note" "user" {
            for_each       = nonsensitive(toset(var.users))
            name           = ${isSlow} ? "slow" : "quick"
            content        = "same"
            delay_after_ms = ${isSlow} ? 600000 : 0
          }`)
      })
      yield* commit("building", { "main.tf": `resource "terraform_data" "a" { input = "a" }` })
      const dataDir = `${folder}/data`
      yield* placeMigratedDatabase(dataDir)
      const { applyId, buildingId, capsuleId, context, planId } = yield* killedAt({
        dataDir,
        mirror,
        origin,
        url,
        token,
        variables: { users }
      })

      yield* Effect.gen(function* () {
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        yield* eventOf(buildingId, "run.started", 2)
        yield* runCommands.Cancel(buildingId, { context })
        yield* settled(buildingId)
        const apply = yield* runs.read(applyId)
        expect([apply.status, apply.error?.code]).toEqual(["failed", "apply_interrupted"])
        const resources = (yield* (yield* StateResources).list(capsuleId, {}, { limit: 10 })).items
        const [made, ...others] = resources.map(({ address }) => address)
        expect(made).toMatch(/^demo_note\.user\["\[redacted key [0-9a-f]{12}\]"\]$/)
        expect(others).toEqual([])
        const planned = ((yield* runs.read(planId)).resourceChanges ?? []).map(({ address }) => address)
        expect(planned).toHaveLength(2)
        expect(planned).toContain(made ?? "")
        // The state contains the created object, so only the unfinished object is uncertain.
        expect(apply.possiblyCreated).toEqual(planned.filter((address) => address !== made))
        const streams = yield* RunStreams
        const events = (yield* streams.events(applyId, 0, 1000)).items
        const logs = (yield* streams.logs(applyId, 0, 1000)).items
        const shown = JSON.stringify([apply, resources, events, logs])
        expect(shown).not.toContain(keyCanary)
        expect(events.flatMap(({ data, kind }) => (kind === "resource.completed" ? [data.address] : []))).toEqual([
          made ?? ""
        ])
        // Searches the database together with its write-ahead log, and a copy without a log. Both contain every record of
        // the Run.
        yield* (yield* DatabaseFile).backup(`${dataDir}/backup.db`)
        expect(canarySweep(dataDir, [keyCanary])).toEqual([])
      }).pipe(
        Effect.provide(planeAt({ dataDir, mirror, origins: [origin] }, { run: { timing: { planGrace: "1 second" } } }))
      )
    }).pipe(Effect.provide(platform)),
  180_000
)
