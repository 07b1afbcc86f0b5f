import { expect } from "bun:test"
import { Context, type Duration, Effect, Exit, Fiber, FileSystem, Layer, Scope, Stream } from "effect"
import type { RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { platform } from "../../../src/composition/Platform.ts"
import {
  Administration,
  Capsules,
  Connections,
  ControlPlane,
  type Embedded,
  handler,
  InstallPlans,
  layer,
  Runs
} from "../../../src/index.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { providerMirror } from "../../support/ProviderMirror.ts"
import { placeMigratedDatabase } from "../../support/MigratedDatabase.ts"
import { quiet, temporaryFolder } from "./support/Plane.ts"

const baseUrl = "https://svc.example.com"
const provider = "example.test/acme/demo"

const module = (notesDir: string) => `
terraform {
  required_providers {
    demo = { source = "${provider}" }
  }
}
provider "demo" {
  dir = ${JSON.stringify(notesDir)}
}
resource "demo_note" "a" {
  name    = "a"
  content = "c"
}
`

/** Runs the program as this person. */
const asPerson = <A, E>(
  services: Context.Context<Embedded>,
  subject: string,
  program: Effect.Effect<A, E, Layer.Success<ReturnType<typeof ControlPlane.user>> | Embedded>
) => program.pipe(Effect.provide(ControlPlane.user(subject)), Effect.provideContext(services))

/** Installs a module and applies it. */
const applied = Effect.fnUntraced(function* (workspaceId: WorkspaceId, url: string) {
  const connection = yield* (yield* Connections).create({
    workspaceId,
    provider,
    displayName: "demo",
    values: { DEMO_TOKEN: "the-credential" }
  })
  const installs = yield* InstallPlans
  const { id } = yield* installs.create(workspaceId, {
    source: { name: "held", url },
    capsule: { name: "held", environment: "test" },
    options: { providerBindings: [{ provider, moduleLocalName: "demo", connectionId: connection.id }] }
  })
  const planned = yield* installs.waitFor(id)
  const runs = yield* Runs
  yield* runs.approve(planned)
  return (yield* runs.apply(planned.id)).id
})

/** Closes a control plane's Scope while an apply waits for its provider, reopens the control plane, and returns the records. */
const stoppedAtWork = Effect.fnUntraced(function* (
  grace: Duration.Input,
  whileItStops: (release: Effect.Effect<void>) => Effect.Effect<void>
) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* temporaryFolder
  const mirror = yield* providerMirror
  const gitdir = `${folder}/repository.git`
  yield* createRepository({ gitdir })
  yield* commitFiles({ gitdir, files: { "main.tf": module(mirror.notesDir) } })
  const { origin, url } = yield* serveRepository({ gitdir })
  yield* placeMigratedDatabase(`${folder}/data`)
  const plane = layer({
    dataDir: `${folder}/data`,
    baseUrl,
    drain: { grace },
    settings: {
      gitAllowOrigins: [origin],
      toolDownload: "off",
      providerMirror: mirror.path,
      providerMirrorRequired: true,
      // The sandbox is off because the provider writes its notes next to the data folder.
      runnerIsolation: "off"
    }
  })
  const scope = yield* Scope.make()
  const services = yield* Layer.buildWithScope(plane, scope)
  const handle = yield* Effect.provideContext(handler, services)
  const { user, workspace } = yield* Context.get(services, Administration).createAccount({ email: "ada@example.com" })
  const hold = `${mirror.notesDir}/hold-apply-a`
  yield* files.writeFileString(hold, "")
  const runId = yield* asPerson(services, user.subject, applied(workspace.id, url))
  yield* eventually(files.exists(`${mirror.notesDir}/held-apply-a`), (isHeld) => isHeld)

  const closing = yield* Effect.forkScoped(Scope.close(scope, Exit.void))
  yield* eventually(
    Effect.promise(() => handle(new Request(`${baseUrl}/readyz`))),
    ({ status }) => status === 503
  )
  yield* whileItStops(Effect.orDie(files.remove(hold)))
  yield* Fiber.join(closing)
  return yield* found(yield* Layer.build(plane), user.subject, runId)
})

const found = (services: Context.Context<Embedded>, subject: string, runId: RunId) =>
  asPerson(
    services,
    subject,
    Effect.gen(function* () {
      const runs = yield* Runs
      const run = yield* runs.get(runId)
      const kinds = yield* Stream.runCollect(Stream.map(runs.events(runId), ({ kind }) => kind))
      const states = yield* Stream.runCollect((yield* Capsules).stateVersions(run.capsuleId ?? ""))
      return { run, kinds, resources: states.map(({ resourceCount }) => resourceCount) }
    })
  )

const live = (name: string, body: Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>) =>
  it.live(name, () => Effect.provide(body, Layer.merge(platform, quiet)), 60_000)

const tool = Bun.which("tofu") ?? Bun.which("terraform")

live(
  "a Run in progress can finish within the grace period after the Scope closes",
  Effect.gen(function* () {
    if (tool === null) return
    const { kinds, resources, run } = yield* stoppedAtWork("1 hour", (release) => release)
    expect(run.status).toBe("succeeded")
    expect(kinds.at(-1)).toBe("run.succeeded")
    expect(resources).toEqual([1])
  })
)

live(
  "without a grace period a Run is interrupted, and svc keeps the state of the resources that the Run created",
  Effect.gen(function* () {
    if (tool === null) return
    const { kinds, resources, run } = yield* stoppedAtWork(0, () => Effect.void)
    expect(run.status).not.toBe("succeeded")
    expect(kinds.at(-1)).not.toBe("run.succeeded")
    expect(resources).toEqual([1])
  })
)
