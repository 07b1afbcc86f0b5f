// Creates a fixture with realistic data: runs a short scenario against the server from a checkout, stops the server, and
// packs the data folder. `bun test/upgrade/Main.ts [--checkout FOLDER]`. Run this command once for each new table version,
// with the release that introduces the version.
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, FileSystem, Redacted, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { signInForFirstTime } from "../../src/cli/demo/DemoSession.ts"
import { platform } from "../../src/composition/Platform.ts"
import { repositoryOf } from "../bench/support/Modules.ts"
import { startServer } from "../bench/support/Product.ts"
import { encodeFixture, fixtureFile, fixtureFolder, type Fixture } from "./Fixture.ts"

class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", { message: Schema.String }) {}

const files = {
  "main.tf": `variable "name" {
  type    = string
  default = "old"
}

variable "password" {
  type      = string
  sensitive = true
  default   = ""
}

resource "terraform_data" "one" {
  input = var.name
}

resource "terraform_data" "private" {
  input = var.password
}

output "greeting" {
  value = terraform_data.one.output
}
`
}

// The fields that the responses of all releases have in common.
const decodeWorkspaces = HttpClientResponse.schemaBodyJson(
  Schema.Struct({ workspaces: Schema.Array(Schema.Struct({ id: Schema.String })) })
)
const decodeInstallPlan = HttpClientResponse.schemaBodyJson(
  Schema.Struct({
    installPlan: Schema.Struct({
      id: Schema.String,
      phase: Schema.String,
      capsuleId: Schema.optionalKey(Schema.String),
      planRunId: Schema.optionalKey(Schema.String)
    })
  })
)
const decodeRun = HttpClientResponse.schemaBodyJson(
  Schema.Struct({
    run: Schema.Struct({
      id: Schema.String,
      status: Schema.String,
      planDigest: Schema.optionalKey(Schema.String)
    })
  })
)

const ended: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled", "superseded", "waiting_approval"])

/** Creates an applied Capsule, a Capsule whose plan is waiting, and a Connection with a secret. */
const live = Effect.fn("live")(function* (url: string, secret: string, repositoryUrl: string) {
  const http = yield* HttpClient.HttpClient
  const token = yield* signInForFirstTime(url, Redacted.make(secret))
  const send = (method: "GET" | "POST", path: string, body?: Schema.Json) =>
    HttpClientRequest.make(method)(`${url}/api/v1/${path}`).pipe(
      HttpClientRequest.setHeaders({
        authorization: `Bearer ${Redacted.value(token)}`,
        ...(method === "GET" ? {} : { "idempotency-key": `fixture-${path}`.slice(0, 60).replaceAll("/", "-") })
      }),
      body === undefined ? (request) => request : HttpClientRequest.bodyJsonUnsafe(body),
      http.execute,
      Effect.tap((response) =>
        response.status < 300
          ? Effect.void
          : Effect.flatMap(response.text, (text) =>
              Effect.fail(new Unexpected({ message: `${method} ${path}: ${response.status} ${text}` }))
            )
      )
    )
  const settled = (runId: string) =>
    Effect.repeat(Effect.flatMap(send("GET", `runs/${runId}`), decodeRun), {
      until: ({ run }) => ended.has(run.status),
      schedule: Schedule.spaced("100 millis")
    })
  const { workspaces } = yield* Effect.flatMap(send("GET", "workspaces"), decodeWorkspaces)
  const workspaceId = workspaces[0]?.id ?? ""
  const install = Effect.fnUntraced(function* (name: string) {
    const { installPlan } = yield* Effect.flatMap(
      http.execute(
        HttpClientRequest.post(`${url}/api/v1/workspaces/${workspaceId}/install-plans`).pipe(
          HttpClientRequest.setHeaders({
            authorization: `Bearer ${Redacted.value(token)}`,
            "idempotency-key": `fixture-install-${name}`
          }),
          HttpClientRequest.bodyJsonUnsafe({
            source: { name: `source-${name}`, url: repositoryUrl },
            capsule: { name, environment: "production" },
            variables: { name, password: "twelve chars" }
          })
        )
      ),
      decodeInstallPlan
    )
    const planned = yield* Effect.repeat(
      Effect.flatMap(send("GET", `install-plans/${installPlan.id}`), decodeInstallPlan),
      {
        until: ({ installPlan: { phase, planRunId } }) => phase === "failed" || planRunId !== undefined,
        schedule: Schedule.spaced("100 millis")
      }
    )
    const { capsuleId, planRunId } = planned.installPlan
    if (capsuleId === undefined || planRunId === undefined)
      return yield* new Unexpected({ message: `The install of ${name} failed: ${JSON.stringify(planned)}` })
    const { run } = yield* settled(planRunId)
    if (run.status !== "waiting_approval")
      return yield* new Unexpected({ message: `The plan of ${name}: ${run.status}` })
    return { capsuleId, plan: run }
  })
  const applied = yield* install("applied")
  const { planDigest } = applied.plan
  yield* send("POST", `runs/${applied.plan.id}/approve`, planDigest === undefined ? {} : { planDigest })
  const { run: apply } = yield* Effect.flatMap(send("POST", `runs/${applied.plan.id}/apply`, {}), decodeRun)
  const { run } = yield* settled(apply.id)
  if (run.status !== "succeeded") return yield* new Unexpected({ message: `The apply: ${run.status}` })
  const waiting = yield* install("waiting")
  return {
    token: Redacted.value(token),
    workspaceId,
    appliedCapsuleId: applied.capsuleId,
    waitingCapsuleId: waiting.capsuleId,
    waitingPlanId: waiting.plan.id,
    gitOrigin: new URL(repositoryUrl).origin
  }
})

const { values } = parseArgs({ options: { checkout: { type: "string" } } })
const checkout = values.checkout ?? fileURLToPath(new URL("../..", import.meta.url))

const versionOf = (file: string) => {
  const database = new DatabaseSync(file)
  const row = database.prepare("SELECT MAX(migration_id) AS newest FROM svc_migrations").get()
  database.close()
  return Number(row?.["newest"])
}

const program = Effect.gen(function* () {
  const system = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* system.makeTempDirectoryScoped({ prefix: "svc-fixture-" })
  const dataDir = `${folder}/data`
  const { origin, url } = yield* repositoryOf(files)
  const lived = yield* Effect.scoped(
    Effect.gen(function* () {
      const server = yield* startServer({
        dataDir,
        flags: ["--git-allow-origins", origin],
        program: [process.execPath, `${checkout}/src/Main.ts`]
      })
      return yield* live(server.url, (server.setupLink ?? "").split("#")[1] ?? "", url)
    })
  )
  const version = versionOf(`${dataDir}/svc.sqlite`)
  const fixture: Fixture = { version, ...lived }
  yield* system.writeFileString(`${folder}/fixture.json`, yield* encodeFixture(fixture))
  yield* system.makeDirectory(fixtureFolder, { recursive: true })
  yield* spawner.exitCode(
    ChildProcess.make("tar", [
      "-C",
      folder,
      "--sort=name",
      "--owner=0",
      "--group=0",
      "--exclude=data/runs",
      // Files that the running tool and server create. They are in the data folder because the data folder is the server's
      // home directory here.
      "--exclude=data/.bun",
      "--exclude=data/*.sqlite-shm",
      "-czf",
      fixtureFile(version),
      "data",
      "fixture.json"
    ])
  )
  const { size } = yield* system.stat(fixtureFile(version))
  yield* Console.log(`Version ${version}: ${size} bytes`)
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(platform)))
