import { Effect, FileSystem, Option, Redacted, Schedule, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { followEvents, makeClient } from "../../../src/client/index.ts"
import { storage } from "../../../src/composition/Storage.ts"
import { temporaryFolder, testSettings } from "../../support/ControlPlane.ts"
import { providerMirror } from "../../support/ProviderMirror.ts"
import { svcProgram } from "../../support/SvcProgram.ts"
import { placeMigratedDatabase } from "../../support/MigratedDatabase.ts"

const provider = "example.test/acme/demo"

/** Values that must never leave the service: a provider credential and a variable. The token is invented. */
export const canaries = ["the-credential-of-the-provider", "the-value-of-the-variable"] as const
const [credential, password] = canaries

const module = (notesDir: string) => `
terraform {
  required_providers {
    demo = { source = "${provider}" }
  }
}
provider "demo" {
  dir = ${JSON.stringify(notesDir)}
}
variable "password" {
  type      = string
  sensitive = true
}
resource "demo_note" "a" {
  name    = "a"
  content = "c"
  secret  = var.password
}
`

const often = Schedule.spaced("20 millis")

const Told = Schema.fromJsonString(Schema.Struct({ url: Schema.String, operatorUrl: Schema.String }))

/** The test did not reach the state that it needs. */
class NotReached extends Schema.TaggedError<NotReached>()("NotReached", { message: Schema.String }) {}

/**
 * Runs a real `svc serve` whose apply has created a resource and waits in its provider until `release`. Modules run without
 * a sandbox, so that the provider can write its notes to a folder outside the Run's folder.
 */
export const heldApply = Effect.fn("heldApply")(function* (options: {
  readonly flags?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
}) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* temporaryFolder
  const dataDir = `${folder}/data`
  yield* placeMigratedDatabase(dataDir)
  const mirror = yield* providerMirror
  const gitdir = `${folder}/repository.git`
  yield* createRepository({ gitdir })
  yield* commitFiles({ gitdir, files: { "main.tf": module(mirror.notesDir) } })
  const repository = yield* serveRepository({ gitdir })

  const token = yield* Effect.gen(function* () {
    const { subject } = yield* (yield* Users).create(serviceContext, { email: "ada@example.test", isOperator: true })
    const tokens = yield* AccessTokens
    return (yield* tokens.create(serviceContext, subject, { name: "test", scopes: ["read", "write"] })).secret
  }).pipe(Effect.provide(storage(yield* testSettings({ dataDir }))))

  const given = {
    "data-dir": dataDir,
    listen: "127.0.0.1:0",
    "operator-listen": "127.0.0.1:0",
    "git-allow-origins": repository.origin,
    "provider-mirror": mirror.path,
    "provider-mirror-required": "true",
    "tool-download": "off",
    "runner-isolation": "off",
    "log-format": "json"
  }
  const flags = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
  const server = yield* spawner.spawn(
    ChildProcess.make(yield* Effect.promise(svcProgram), ["serve", "--json", ...flags, ...(options.flags ?? [])], {
      cwd: folder,
      extendEnv: false,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...options.environment }
    })
  )
  const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
  const { operatorUrl, url } = yield* Schema.decodeEffect(Told)(Option.getOrElse(line, () => ""))
  const log = yield* Effect.forkScoped(Stream.mkString(Stream.decodeText(server.stderr)))

  const at = { baseUrl: url, token }
  const client = yield* makeClient(at)
  const { workspaces } = yield* client.workspaces.list({ query: {} })
  const [workspace] = workspaces
  if (workspace === undefined) return yield* new NotReached({ message: "The account has no Workspace." })
  const workspaceId = workspace.id
  const { connection } = yield* client.connections.create({
    payload: { workspaceId, provider, displayName: "demo", values: { DEMO_TOKEN: credential } }
  })
  const { installPlan } = yield* client.installPlans.create({
    params: { workspaceId },
    headers: { "idempotency-key": "held" },
    payload: {
      source: { name: "held", url: repository.url },
      capsule: { name: "held", environment: "test" },
      variables: { password },
      options: { providerBindings: [{ provider, moduleLocalName: "demo", connectionId: connection.id }] }
    }
  })
  const read = client.installPlans.read({ params: { installPlanId: installPlan.id } })
  const { diagnostics, planRunId } = yield* Effect.repeat(
    Effect.map(read, (answer) => answer.installPlan),
    { until: ({ phase, planRunId }) => phase === "failed" || planRunId !== undefined, schedule: often }
  )
  if (planRunId === undefined) return yield* new NotReached({ message: JSON.stringify(diagnostics) })
  /** Waits for the first event of the given kind. */
  const reached = Effect.fnUntraced(function* (runId: string, kind: string) {
    const found = yield* Stream.runHead(Stream.filter(followEvents(at, runId), (event) => event.kind === kind))
    if (Option.isNone(found)) return yield* new NotReached({ message: `${runId} ended without ${kind}` })
  })
  yield* reached(planRunId, "run.waiting_approval")
  const { run: plan } = yield* client.runs.read({ params: { runId: planRunId } })
  yield* client.runs.approve({
    params: { runId: planRunId },
    payload: plan.planDigest === undefined ? {} : { planDigest: plan.planDigest }
  })
  yield* files.writeFileString(`${mirror.notesDir}/hold-apply-a`, "")
  const { run } = yield* client.runs.apply({
    params: { runId: planRunId },
    headers: { "idempotency-key": "apply" },
    payload: {}
  })
  yield* Effect.repeat(files.exists(`${mirror.notesDir}/held-apply-a`), {
    until: (isHeld) => isHeld,
    schedule: often
  })
  return {
    url,
    operatorUrl,
    token: Redacted.value(token),
    workspaceId,
    runId: run.id,
    dataDir,
    release: files.remove(`${mirror.notesDir}/hold-apply-a`),
    signal: (name: "SIGTERM" | "SIGINT") => Effect.sync(() => process.kill(server.pid, name)),
    exitCode: Effect.map(server.exitCode, Number),
    log
  }
}, Effect.provide(FetchHttpClient.layer))
