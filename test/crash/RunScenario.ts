import { readdirSync } from "node:fs"
import { Cause, Effect, FileSystem, Redacted } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { serveRepository } from "../../runner/git/GitServer.ts"
import { commitFiles, createRepository } from "../../runner/git/RepositoryWriter.ts"
import type { Run } from "../../schema/records/Run.ts"
import { sweep } from "./CanarySweep.ts"
import { Broken, crashClient, holds } from "./CrashClient.ts"
import { crashHost } from "./CrashHost.ts"
import { canaries, type CrashWorld } from "./CrashWorld.ts"
import { nothingAcknowledged, travel } from "./Journey.ts"
import { readCloud, readLedger } from "./Ledger.ts"
import type { Scenario } from "./Points.ts"
import { untruths } from "./Truth.ts"
import { killVictim } from "./Victims.ts"

const module = (notesDir: string, more: string) => `
terraform {
  required_providers {
    demo = { source = "example.test/acme/demo" }
  }
}
variable "greeting" { type = string }
variable "secret" {
  type      = string
  sensitive = true
}
provider "demo" { dir = ${JSON.stringify(notesDir)} }
resource "demo_note" "a" {
  name    = "a"
  content = var.greeting
}
resource "demo_note" "b" {
  name           = "b"
  content        = demo_note.a.id
  secret         = var.secret
  delay_after_ms = 400
}
output "hidden" {
  value     = var.secret
  sensitive = true
}
${more}`

const slowNote = `
resource "demo_note" "c" {
  name           = "c"
  content        = "slow"
  delay_after_ms = 60000
}
`

/** Every secret that may stand nowhere in the clear. */
const secretsOf = (world: CrashWorld) => [...Object.values(canaries), Redacted.value(world.token)]

const copyFolder = Effect.fnUntraced(function* (from: string, to: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  yield* spawner.exitCode(ChildProcess.make("cp", ["-a", from, to]))
})

/** Plays one scenario on a data folder of its own. Fails with what was not as promised. */
export const runScenario = Effect.fn("runScenario")(
  function* (world: CrashWorld, scenario: Scenario, index: number) {
    const files = yield* FileSystem.FileSystem
    const folder = `${world.folder}/${index}`
    const dataDir = `${folder}/data`
    const logs = `${folder}/logs`
    const notesDir = `${folder}/notes`
    yield* files.makeDirectory(folder, { mode: 0o711 })
    yield* files.makeDirectory(logs)
    yield* files.makeDirectory(notesDir)
    yield* copyFolder(world.template, dataDir)
    const gitdir = `${folder}/repository.git`
    yield* createRepository({ gitdir })
    const commit = (more: string) => commitFiles({ gitdir, files: { "main.tf": module(notesDir, more) } })
    yield* commit("")
    const repository = yield* serveRepository({ gitdir })

    const acknowledged = nothingAcknowledged()
    const seen: Array<string> = []
    const leaks = (exceptRuns: boolean) =>
      Effect.sync(() => {
        seen.push(
          ...sweep([dataDir, logs], secretsOf(world), (file) => exceptRuns && file.startsWith(`${dataDir}/runs/`))
        )
      })
    const host = yield* crashHost(
      {
        dataDir,
        gitOrigin: repository.origin,
        mirror: world.mirror,
        notesDir,
        logFile: `${logs}/server.log`,
        token: world.token,
        ...(scenario.isolation === undefined ? {} : { isolation: scenario.isolation })
      },
      scenario.kills,
      {
        // A running tool needs its inputs in the clear; nothing else does at any moment.
        dead: leaks(true),
        restarted: ({ client }) =>
          Effect.andThen(
            leaks(true),
            Effect.forEach(
              acknowledged.runs,
              (runId) =>
                client.runs.read({ params: { runId } }).pipe(
                  Effect.catchTag("ApiError", (error) =>
                    Effect.sync(() => seen.push(`${runId} is lost: ${error.message}`))
                  ),
                  Effect.ignore
                ),
              { discard: true }
            )
          )
      }
    )
    const client = crashClient(host)
    const applyFailed = Effect.fnUntraced(function* (apply: Run) {
      const { capsule } = yield* client
        .call((api) => api.capsules.read({ params: { capsuleId: apply.capsuleId ?? "" } }))
        .pipe(Effect.mapError(({ message }) => new Broken({ message })))
      const uncertain = apply.stateVersionId !== undefined || (apply.possiblyCreated ?? []).length > 0
      yield* holds(
        !uncertain || (capsule.status === "error" && capsule.runtimeSafety === "unknown"),
        `After an apply that left something, the Capsule is ${capsule.status} and ${capsule.runtimeSafety}`
      )
    })
    let victims = 0
    const hunt =
      scenario.victim === undefined
        ? Effect.void
        : Effect.gen(function* () {
            const server = yield* host.current
            while (victims === 0) {
              yield* Effect.sleep("5 millis")
              // Only once something was really created is there anything to lose.
              if ((yield* readCloud(notesDir)).created.length < 2) continue
              if (yield* killVictim(server.pid, scenario.victim ?? "tool")) victims++
            }
          })
    yield* Effect.forkScoped(Effect.ignore(hunt))
    yield* travel(
      { client, world, repositoryUrl: repository.url, acknowledged, applyFailed },
      scenario.journey,
      Effect.orDie(commit(slowNote))
    ).pipe(
      Effect.timeoutOrElse({
        duration: "90 seconds",
        orElse: () => Effect.fail(new Broken({ message: "The journey did not end within 90 seconds" }))
      })
    )
    const code = yield* host.stop
    yield* leaks(false)
    const left = readdirSync(`${dataDir}/runs`)
    const ledger = yield* readLedger(dataDir)
    const cloud = yield* readCloud(notesDir)
    const wrong = [
      ...seen,
      ...untruths(ledger, cloud, acknowledged),
      ...left.map((name) => `The run folder ${name} stayed`),
      ...(code === 0 ? [] : [`The last server ended with ${code}`]),
      ...(scenario.mustKill && host.kills() + victims < Math.max(1, scenario.kills.length)
        ? [`Only ${host.kills() + victims} of the kills happened`]
        : [])
    ]
    yield* holds(wrong.length === 0, [...new Set(wrong)].join("\n    "))
    return host.kills() + victims
  },
  Effect.scoped,
  (effect, world, _, index) =>
    effect.pipe(
      Effect.tap(() =>
        Effect.flatMap(FileSystem.FileSystem, (files) =>
          Effect.ignore(files.remove(`${world.folder}/${index}`, { recursive: true }))
        )
      ),
      Effect.catchCause((cause) =>
        Effect.fail(
          new Broken({
            message:
              Cause.squash(cause) instanceof Broken
                ? String(Cause.prettyErrors(cause)[0]?.message)
                : Cause.pretty(cause)
          })
        )
      )
    )
)
