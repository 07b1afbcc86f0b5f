import { Effect, FileSystem, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { serveRepository } from "../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../src/testing/git-server/RepositoryWriter.ts"
import { crashClient } from "../crash/CrashClient.ts"
import { crashHost, type Kill } from "../crash/CrashHost.ts"
import { crashWorldOf } from "../crash/CrashWorld.ts"
import { liveProgram } from "./LiveProgram.ts"

class NoPlan extends Schema.TaggedError<NoPlan>()("NoPlan", { message: Schema.String }) {}

const module = (notesDir: string, lines: number) => `
terraform {
  required_providers {
    demo = { source = "example.test/acme/demo" }
  }
}
provider "demo" {
  dir       = ${JSON.stringify(notesDir)}
  log_lines = ${lines}
}
resource "demo_note" "a" {
  name    = "a"
  content = "c"
}
`

/**
 * Starts a real server with an install in progress whose plan prints `lines` lines. `prepare` may modify the data folder before
 * the server opens it.
 */
export const livePlane = Effect.fn("livePlane")(function* <A, E, R>(options: {
  readonly lines: number
  readonly kills: ReadonlyArray<Kill>
  readonly prepare: (program: string, dataDir: string) => Effect.Effect<A, E, R>
}) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const world = yield* crashWorldOf(liveProgram)
  const folder = `${world.folder}/live`
  const dataDir = `${folder}/data`
  const notesDir = `${folder}/notes`
  yield* files.makeDirectory(notesDir, { recursive: true })
  yield* spawner.exitCode(ChildProcess.make("cp", ["-a", world.template, dataDir]))
  const prepared = yield* options.prepare(world.program, dataDir)
  const gitdir = `${folder}/repository.git`
  yield* createRepository({ gitdir })
  yield* commitFiles({ gitdir, files: { "main.tf": module(notesDir, options.lines) } })
  const repository = yield* serveRepository({ gitdir })
  const host = yield* crashHost(
    {
      program: world.program,
      dataDir,
      gitOrigin: repository.origin,
      mirror: world.mirror,
      notesDir,
      logFile: `${folder}/server.log`,
      token: world.token
    },
    options.kills,
    { dead: Effect.void, restarted: () => Effect.void }
  )
  const client = crashClient(host)
  const { installPlan } = yield* client.call(({ installPlans }) =>
    installPlans.create({
      params: { workspaceId: world.workspaceId },
      headers: { "idempotency-key": "live" },
      payload: {
        source: { name: "live", url: repository.url },
        capsule: { name: "live", environment: "test" },
        options: {
          providerBindings: [
            { provider: "example.test/acme/demo", moduleLocalName: "demo", connectionId: world.connectionId }
          ]
        }
      }
    })
  )
  for (;;) {
    const read = yield* client.call(({ installPlans }) =>
      installPlans.read({ params: { installPlanId: installPlan.id } })
    )
    const { diagnostics, phase, planRunId } = read.installPlan
    if (planRunId !== undefined) return { world, host, client, planRunId, prepared }
    if (phase === "failed") return yield* new NoPlan({ message: JSON.stringify(diagnostics) })
    yield* Effect.sleep("10 millis")
  }
})
