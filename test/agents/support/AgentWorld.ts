import { expect } from "bun:test"
import { Effect, FileSystem, Option, Redacted, Schedule, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { AccessTokens } from "../../../actors/account/AccessTokens.ts"
import { Users } from "../../../actors/account/Users.ts"
import { serviceContext } from "../../../actors/Command.ts"
import { serveRepository } from "../../../src/cli/demo/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/cli/demo/git-server/RepositoryWriter.ts"
import { makeClient } from "../../../src/client/index.ts"
import { PoolName } from "../../../schema/agent/PoolName.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { storage } from "../../../src/composition/Storage.ts"
import { temporaryFolder, testSettings } from "../../support/ControlPlane.ts"
import { providerMirror } from "../../support/ProviderMirror.ts"
import { svcProgram } from "../../support/SvcProgram.ts"

const provider = "example.test/acme/demo"

/** What must never be found outside of where it is sealed. */
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
output "note" { value = demo_note.a.name }
`

const often = Schedule.spaced("50 millis")

const Told = Schema.fromJsonString(Schema.Struct({ url: Schema.String }))
const Issued = Schema.fromJsonString(Schema.Struct({ token: Schema.String }))

/** The name under which agents have the provider's credential where the control plane does not get it. */
export const ownName = "cloud"

const worldWith = Effect.fn("agentWorld")(function* (leavesCredential: boolean) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* temporaryFolder
  const dataDir = `${folder}/data`
  const mirror = yield* providerMirror
  const gitdir = `${folder}/repository.git`
  yield* createRepository({ gitdir })
  yield* commitFiles({ gitdir, files: { "main.tf": module(mirror.notesDir) } })
  const repository = yield* serveRepository({ gitdir })
  const policy = `${folder}/policy.json`
  yield* files.writeFileString(
    policy,
    JSON.stringify({
      profiles: { far: { pool: "far" } },
      baseConfigs: [{ origin: repository.origin, profile: "far" }]
    })
  )

  const token = yield* Effect.gen(function* () {
    const { subject } = yield* (yield* Users).create(serviceContext, { email: "ada@example.test", isOperator: true })
    const tokens = yield* AccessTokens
    return (yield* tokens.create(serviceContext, subject, { name: "test", scopes: ["read", "write"] })).secret
  }).pipe(Effect.provide(storage(yield* testSettings({ dataDir }))))

  const program = yield* Effect.promise(svcProgram)
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder }

  const ran = (args: ReadonlyArray<string>) =>
    spawner.string(
      ChildProcess.make(program, [...args, "--data-dir", dataDir, "--json"], { cwd: folder, extendEnv: false, env })
    )

  const serve = Effect.fnUntraced(function* (listen: string) {
    const given = {
      "data-dir": dataDir,
      listen,
      "git-allow-origins": repository.origin,
      "policy-file": policy,
      "tool-download": "off",
      "runner-isolation": "off",
      "log-format": "json",
      log: "warn"
    }
    const flags = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
    const server = yield* spawner.spawn(
      ChildProcess.make(program, ["serve", "--json", ...flags], {
        cwd: folder,
        extendEnv: false,
        env,
        stderr: "inherit"
      })
    )
    const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
    const { url } = yield* Schema.decodeEffect(Told)(Option.getOrElse(line, () => ""))
    return { url, pid: server.pid, exitCode: server.exitCode }
  })

  const first = yield* serve("127.0.0.1:0")
  const client = yield* makeClient({ baseUrl: first.url, token })
  const { workspaces } = yield* client.workspaces.list({ query: {} })
  const [workspace] = workspaces
  if (workspace === undefined) return yield* Effect.die(new Error("The account has no Workspace."))
  yield* ran(["admin", "pool", "create", "far"])
  yield* ran(["admin", "pool", "assign", "far", workspace.handle])

  /** The description of what an agent has of its own, for `SVC_AGENT_CREDENTIALS`. */
  const ownCredentials = Effect.gen(function* () {
    const secretFile = `${folder}/credential`
    yield* files.writeFileString(secretFile, `${credential}\n`, { mode: 0o600 })
    const description = `${folder}/credentials.json`
    yield* files.writeFileString(
      description,
      JSON.stringify({ [ownName]: { env: { DEMO_TOKEN: { file: secretFile } } } })
    )
    return { SVC_AGENT_CREDENTIALS: description }
  })

  const agent = Effect.fnUntraced(function* (name: string, more: Readonly<Record<string, string>> = {}) {
    const issued = yield* Schema.decodeEffect(Issued)(yield* ran(["admin", "agent", "token", "--pool", "far"]))
    const start = spawner.spawn(
      ChildProcess.make(
        program,
        ["agent", "--server", first.url, "--pool", "far", "--dir", `${folder}/${name}`, "--name", name],
        {
          cwd: folder,
          extendEnv: false,
          env: {
            ...env,
            SVC_AGENT_TOKEN: issued.token,
            SVC_RUNNER_ISOLATION: "off",
            SVC_PROVIDER_MIRROR: mirror.path,
            SVC_PROVIDER_MIRROR_REQUIRED: "true",
            ...more
          },
          stdout: "inherit",
          stderr: "inherit",
          // Asked to stop, it would end what it has first.
          killSignal: "SIGKILL"
        }
      )
    )
    const rotate = spawner.string(
      ChildProcess.make(program, ["agent", "rotate", "--dir", `${folder}/${name}`, "--json"], {
        cwd: folder,
        extendEnv: false,
        env
      })
    )
    return { start, rotate, folder: `${folder}/${name}` }
  })

  const provided = (word: "provide" | "withhold") => ran(["admin", "pool", word, "far", ownName, workspace.handle])
  const connect = client.connections.create({
    payload: {
      workspaceId: workspace.id,
      provider,
      displayName: "demo",
      ...(leavesCredential
        ? { providedBy: { pool: PoolName.make("far"), name: ownName } }
        : { values: { DEMO_TOKEN: credential } })
    }
  })
  if (leavesCredential) {
    // Not before the operator says so.
    expect(yield* Effect.flip(connect)).toMatchObject({ code: "failed_precondition" })
    yield* provided("provide")
  }
  const { connection } = yield* connect

  let installs = 0
  const installed = Effect.gen(function* () {
    installs += 1
    const { installPlan } = yield* client.installPlans.create({
      params: { workspaceId: workspace.id },
      headers: { "idempotency-key": `install-${installs}` },
      payload: {
        source: { name: `far${installs}`, url: repository.url },
        capsule: { name: `far${installs}`, environment: "test" },
        variables: { password },
        options: { providerBindings: [{ provider, moduleLocalName: "demo", connectionId: connection.id }] }
      }
    })
    const read = client.installPlans.read({ params: { installPlanId: installPlan.id } })
    const plan = yield* Effect.repeat(
      Effect.map(read, (answer) => answer.installPlan),
      { until: ({ phase, planRunId }) => phase === "failed" || planRunId !== undefined, schedule: often }
    )
    if (plan.planRunId === undefined || plan.capsuleId === undefined) {
      return yield* Effect.die(new Error(JSON.stringify(plan.diagnostics)))
    }
    return { planRunId: plan.planRunId, capsuleId: plan.capsuleId }
  })

  type RunId = Effect.Success<typeof installed>["planRunId"]

  const run = (runId: RunId) => Effect.map(client.runs.read({ params: { runId } }), (answer) => answer.run)

  /** Reads through a server that is away for a moment. */
  const until = (runId: RunId, isSo: (found: Run) => boolean) => {
    const read = Effect.retry(run(runId), { schedule: often, times: 400 })
    return Effect.repeat(read, { until: isSo, schedule: often })
  }

  const approvedApply = Effect.fnUntraced(function* (planRunId: RunId) {
    const { planDigest } = yield* run(planRunId)
    yield* client.runs.approve({
      params: { runId: planRunId },
      payload: planDigest === undefined ? {} : { planDigest }
    })
    const answer = yield* client.runs.apply({
      params: { runId: planRunId },
      headers: { "idempotency-key": `apply-${planRunId}` },
      payload: {}
    })
    return answer.run.id
  })

  return {
    client,
    connection,
    ownCredentials,
    provided,
    dataDir,
    notesDir: mirror.notesDir,
    first,
    agent,
    installed,
    run,
    until,
    approvedApply,
    serveAgain: serve(new URL(first.url).host),
    hold: files.writeFileString(`${mirror.notesDir}/hold-apply-a`, ""),
    held: Effect.repeat(files.exists(`${mirror.notesDir}/held-apply-a`), {
      until: (isHeld) => isHeld,
      schedule: often
    }),
    release: files.remove(`${mirror.notesDir}/hold-apply-a`),
    capsule: (capsuleId: Effect.Success<typeof installed>["capsuleId"]) =>
      Effect.map(client.capsules.read({ params: { capsuleId } }), (answer) => answer.capsule),
    token: Redacted.value(token)
  }
}, Effect.provide(FetchHttpClient.layer))

/** A real server without a tool of its own, a pool, and real agents that a test starts, ends and starts again. */
export const agentWorld = () => worldWith(false)

/** The same, whose server is not given the provider's credential: the Connection names what the pool provides. */
export const agentWorldWithOwnCredentials = () => worldWith(true)
