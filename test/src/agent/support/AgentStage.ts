import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Deferred, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { moduleFolder, runFolderPaths } from "../../../../runner/execution/RunFolder.ts"
import { ApplyJob, PlanJob } from "../../../../runner/execution/RunJob.ts"
import type { PlanOutcome } from "../../../../runner/execution/RunOutcome.ts"
import { makeArchiveWriter } from "../../../../runner/snapshot/ArchiveWriter.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { agentProcess } from "../../../../src/agent/AgentProcess.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { logging } from "../../../../src/observability/Logging.ts"
import { bundledGuard } from "../../../support/BundledGuard.ts"
import { eventually } from "../../../support/Eventually.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { terraform } from "../../../runner/execution/support/RunnerHarness.ts"
import type { ScriptedRun } from "./ScriptedRun.ts"
import { type ScriptedServer, scriptedServer } from "./ScriptedServer.ts"

export const secretCanary = "input-canary-9f2c41d7"
export const tokenCanary = "enrolment-token-canary"

const encodePlan = Schema.encodeEffect(Schema.fromJsonString(PlanJob))
const encodeApply = Schema.encodeEffect(Schema.fromJsonString(ApplyJob))

/** Packs these files into an archive in the snapshot format. */
export const archiveOf = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const path = join(yield* temporaryFolder, "snapshot.tar.zst")
  const { archiveDigest } = yield* Effect.gen(function* () {
    const writer = yield* makeArchiveWriter(path, [])
    for (const name of Object.keys(files).toSorted()) {
      yield* writer.add({ path: name, executable: false }, new TextEncoder().encode(files[name]))
    }
    return yield* writer.finish
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  return { path, archiveDigest }
})

/** Stores a snapshot of these files on the server. */
export const snapshotOf = Effect.fnUntraced(function* (
  server: ScriptedServer,
  files: Readonly<Record<string, string>>
) {
  const { archiveDigest, path } = yield* archiveOf(files)
  server.snapshots.set(archiveDigest, path)
  return archiveDigest
})

let runs = 0
export const nextRunId = () => {
  runs += 1
  return RunId.make(`run_01${String(runs).padStart(24, "0")}`)
}

const common = (runId: RunId, snapshot: string) => ({
  runId,
  module: { snapshotDigest: snapshot, path: "." },
  localModules: [],
  tool: { name: terraform.name, version: terraform.version },
  credentials: [],
  selfContained: true,
  network: false
})

/** Returns a module whose inputs contain the canary. The apply stops halfway through its changes until `command` exits. */
const moduleWith = (command: string) => ({
  "main.tf": `
variable "password" {
  type      = string
  sensitive = true
}
resource "terraform_data" "first" { input = var.password }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "${command}" }
}
resource "terraform_data" "last" { depends_on = [terraform_data.slow] }
`
})

export const slowModule = (seconds: number) =>
  moduleWith(`for i in $(seq ${seconds * 10}); do echo working on $i; sleep 0.1; done`)

const release = "continue"

/** A module whose apply does not finish until `released` is called. */
const heldModule = moduleWith(`until [ -e ${release} ]; do sleep 0.1; done`)

/** Lets the apply of a held module continue. */
export const released = (folder: string, { fence, runId }: ScriptedRun) =>
  Effect.sync(() => {
    const { sandbox } = runFolderPaths(join(folder, "runs", `${runId}-${fence}`, "run"))
    writeFileSync(join(sandbox, moduleFolder("."), release), "")
  })

interface PlanOptions {
  /** A script that builds the module before planning. */
  readonly builtBy?: string
  readonly isForged?: boolean
  readonly leaseSeconds?: number
}

export const addPlan = Effect.fnUntraced(function* (
  server: ScriptedServer,
  snapshot: string,
  { builtBy, isForged = false, leaseSeconds = 60 }: PlanOptions = {}
) {
  const runId = nextRunId()
  const job = yield* encodePlan({
    ...common(runId, snapshot),
    mode: "create_or_update",
    ...(builtBy === undefined
      ? {}
      : { sourceBuild: { commands: [{ argv: ["sh", "-c", builtBy] }], outputs: ["dist"], network: false } }),
    variables: { password: { value: Redacted.make(secretCanary), sensitive: true } }
  })
  return server.add({ runId, fence: 1, kind: "plan", job, snapshot, secrets: {}, isForged, leaseSeconds })
})

export const addApply = Effect.fnUntraced(function* (
  server: ScriptedServer,
  snapshot: string,
  plan: { readonly outcome: PlanOutcome; readonly planFile: Uint8Array },
  leaseSeconds = 60
) {
  const runId = nextRunId()
  const job = yield* encodeApply({
    ...common(runId, snapshot),
    planFile: Redacted.make(new Uint8Array(0)),
    planDigest: plan.outcome.planDigest,
    secrets: plan.outcome.secrets
  })
  return server.add({
    runId,
    fence: 1,
    kind: "apply",
    job,
    snapshot,
    secrets: { plan_file: plan.planFile },
    leaseSeconds
  })
})

/** Starts an agent in this process. `drained` completes when all of its Runs have ended. */
export const startAgent = Effect.fnUntraced(function* (server: ScriptedServer, folder: string) {
  const drain = yield* Deferred.make<void>()
  const stop = yield* Deferred.make<void>()
  const fiber = yield* agentProcess({
    server: server.url,
    pool: "eu",
    folder,
    places: 2,
    name: "test",
    labels: {},
    token: Effect.succeedSome(Redacted.make(tokenCanary)),
    drain: Deferred.await(drain),
    stop: Deferred.await(stop)
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        bundledGuard,
        platform,
        logging({ level: process.env["SVC_TEST_LOG"] ?? "none", format: "pretty" })
      )
    ),
    Effect.forkScoped
  )
  return {
    fiber,
    stop: Deferred.succeed(stop, undefined),
    drained: Effect.andThen(Deferred.succeed(drain, undefined), Fiber.join(fiber))
  }
})

export const over = (run: ScriptedRun) =>
  eventually(
    Effect.sync(() => run.results.length),
    (count) => count > 0
  )

export const heard = (run: ScriptedRun, message: string) =>
  eventually(
    Effect.sync(() => run.heard.includes(message)),
    (has) => has
  )

export const planned = Effect.fnUntraced(function* (server: ScriptedServer, snapshot: string) {
  const plan = yield* addPlan(server, snapshot)
  yield* over(plan)
  const [result] = plan.results
  if (result?.kind !== "plan" || result.status !== "ended") throw new Error(`no plan: ${JSON.stringify(result)}`)
  return { run: plan, outcome: result.outcome, planFile: plan.files.get("plan_file") ?? new Uint8Array(0) }
})

export const roomsOf = (folder: string) => readdirSync(join(folder, "runs"))

export const empty = (folder: string) =>
  eventually(
    Effect.sync(() => roomsOf(folder)),
    (rooms) => rooms.length === 0
  )

/**
 * Prepares a server with a module whose apply takes this many seconds or waits for `released`, and an agent that the test
 * can start.
 */
export const staged = Effect.fnUntraced(function* (lasting: number | "held") {
  const server = yield* scriptedServer
  const folder = join(yield* temporaryFolder, "agent")
  const snapshot = yield* snapshotOf(server, lasting === "held" ? heldModule : slowModule(lasting))
  return { server, folder, snapshot, start: startAgent(server, folder) }
})
