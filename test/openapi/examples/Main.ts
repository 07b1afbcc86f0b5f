// `npm run docs:examples`: writes the examples in `/openapi.json`, which are responses from a real server to a short series
// of requests.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Path, type Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { HttpApi } from "effect/http-api"
import { platform } from "../../../src/composition/Platform.ts"
import { ServerApi } from "../../../src/http/ServerApi.ts"
import { hostedServer, publicOrigin } from "../../e2e/support/HostedServer.ts"
import { recorder, type Sent, textAt } from "./Recorder.ts"

const module = (words: string) => ({
  "main.tf": `variable "greeting" {
  type    = string
  default = "${words}"
}
resource "terraform_data" "app" {
  input = var.greeting
}
output "greeting" {
  value = terraform_data.app.output
}
`
})

/** Operations without an example: their responses contain a secret or a sealed archive, or are the description itself. */
const left = new Set(["invitations.create", "backups.archive", "documents.openapi"])

const journey = Effect.gen(function* () {
  const server = yield* hostedServer(module("hello"))
  const { call, examples } = recorder({ url: server.url, origin: publicOrigin, cookie: server.cookie })
  const post = (path: string, body: Schema.Json, more: Sent = {}) => call("POST", path, { body, ...more })
  const { answer: listed } = yield* call("GET", "/api/v1/workspaces")
  const workspaceId = textAt(listed, "workspaces", 0, "id")
  const workspace = `/api/v1/workspaces/${workspaceId}`

  const ended = Effect.fnUntraced(function* (runId: string) {
    for (;;) {
      const status = textAt((yield* call("GET", `/api/v1/runs/${runId}`)).answer, "run", "status")
      if (status !== "queued" && status !== "running") return status
      yield* Effect.sleep("50 millis")
    }
  })
  const applied = Effect.fnUntraced(function* (planRunId: string) {
    yield* post(`/api/v1/runs/${planRunId}/approve`, { comment: "Looks right." })
    const apply = yield* post(`/api/v1/runs/${planRunId}/apply`, {}, { headers: { "idempotency-key": planRunId } })
    yield* post(`/api/v1/runs/${planRunId}/apply`, {}, { headers: { "idempotency-key": planRunId } })
    yield* ended(textAt(apply.answer, "run", "id"))
  })

  const asked = {
    source: { name: "app", url: server.repositoryUrl },
    capsule: { name: "app", environment: "production" }
  }
  const key = { headers: { "idempotency-key": "install" } }
  const { answer: created } = yield* post(`${workspace}/install-plans`, asked, key)
  yield* post(`${workspace}/install-plans`, asked, key)
  const installPlanId = textAt(created, "installPlan", "id")
  const installed = Effect.gen(function* () {
    for (;;) {
      const { answer } = yield* call("GET", `/api/v1/install-plans/${installPlanId}`)
      if (textAt(answer, "installPlan", "phase") === "reviewable") return answer
      yield* Effect.sleep("50 millis")
    }
  })
  const plan = yield* installed
  // The first read returns a plan whose creation is in progress.
  examples.set("installPlans.read 200", plan)
  yield* post(`/api/v1/install-plans/${installPlanId}/reconcile`, {})
  const planRunId = textAt(plan, "installPlan", "planRunId")
  const capsuleId = textAt(plan, "installPlan", "capsuleId")
  const sourceId = textAt(plan, "installPlan", "sourceId")
  const capsule = `/api/v1/capsules/${capsuleId}`
  examples.delete("runs.read 200")
  yield* call("GET", `/api/v1/runs/${planRunId}`)
  yield* applied(planRunId)

  yield* post(`${workspace}/projects`, { name: "Shop" })
  yield* post(`${workspace}/teams`, { name: "Platform", members: [server.subject] })
  yield* post(`${workspace}/invitations`, { email: "grace@example.test", role: "member" })
  yield* post(`${workspace}/approval-rules`, { approvals: 1, environments: ["production"] })
  yield* call("PATCH", workspace, { body: { displayName: "Ada's Workspace" } })
  yield* call("PATCH", capsule, { body: { name: "shop" } })
  const { answer: again } = yield* post(`${capsule}/plan`, {})
  yield* ended(textAt(again, "run", "id"))
  yield* post(`/api/v1/runs/${textAt(again, "run", "id")}/cancel`, { reason: "Not today." })
  yield* post(`${capsule}/look`, {})
  const { answer: drift } = yield* post(`${capsule}/drift-check`, {})
  yield* ended(textAt(drift, "run", "id"))
  yield* post(`/api/v1/sources/${sourceId}/revisions`, {})
  const { answer: synced } = yield* post(`/api/v1/sources/${sourceId}/sync`, {})
  yield* ended(textAt(synced, "run", "id"))
  const { answer: backup } = yield* post(`${capsule}/backups`, {})
  const { answer: group } = yield* post(`${workspace}/drift-check`, {})
  const { answer: revision } = yield* post(
    `${capsule}/revision-plans`,
    { ref: "main" },
    { headers: { "idempotency-key": "revision" } }
  )
  const { answer: destroy } = yield* post(`${capsule}/destroy-plan`, {})

  const snapshots = yield* call("GET", `/api/v1/sources/${sourceId}/snapshots`)
  const states = yield* call("GET", `${capsule}/state-versions`)
  const installedCapsule = yield* call("GET", capsule)
  const configs = yield* call("GET", `/api/v1/capsule-configs?workspaceId=${workspaceId}`)
  const projects = yield* call("GET", `${workspace}/projects`)
  const optional = (answer: Schema.Json, ...path: ReadonlyArray<string | number>) =>
    Effect.option(Effect.try(() => textAt(answer, ...path)))
  const known = new Map<string, string>([
    ["workspaceId", workspaceId],
    ["capsuleId", capsuleId],
    ["sourceId", sourceId],
    ["installPlanId", installPlanId],
    ["runId", planRunId],
    ["subject", server.subject]
  ])
  for (const [name, answer, path] of [
    ["sourceSnapshotId", snapshots.answer, ["sourceSnapshots", 0, "id"]],
    ["stateVersionId", states.answer, ["stateVersions", 0, "id"]],
    ["capsuleConfigId", configs.answer, ["capsuleConfigs", 0, "id"]],
    ["projectId", projects.answer, ["projects", 0, "id"]],
    ["reportId", installedCapsule.answer, ["capsule", "compatibilityReportId"]],
    ["runGroupId", group, ["runGroup", "id"]],
    ["revisionPlanId", revision, ["revisionPlan", "id"]],
    ["backupId", backup, ["backup", "id"]],
    ["destroyRunId", destroy, ["run", "id"]]
  ] as const) {
    const found = yield* optional(answer, ...path)
    if (found._tag === "Some") known.set(name, found.value)
  }

  // The paths of all GET routes. A path is read if the records that it identifies were created above.
  const reads: Array<string> = []
  HttpApi.reflect(ServerApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      if (endpoint.method === "GET") reads.push(endpoint.path)
    }
  })
  for (const path of reads) {
    const missing = [...path.matchAll(/:(\w+)/g)].some(([, name = ""]) => !known.has(name))
    if (missing) continue
    const filled = path.replace(/:(\w+)/g, (_, name: string) => known.get(name) ?? "")
    yield* call("GET", filled)
    yield* call("GET", `${filled}?workspaceId=${workspaceId}`)
    yield* call("GET", `${filled}?path=main.tf`)
    yield* call("GET", `${filled}?modulePath=.`)
  }
  const { origin } = new URL(server.repositoryUrl)
  return { examples, places: [[origin, "https://git.example.com"]] as const }
})

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { examples, places } = yield* journey
  const lines = [...examples]
    .filter(([key]) => !left.has(key.split(" ")[0] ?? ""))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, answer]) => {
      const text = places.reduce((said, [from, to]) => said.replaceAll(from, to), JSON.stringify(answer))
      return `  ${JSON.stringify(key)}: ${JSON.stringify(text)}`
    })
  const head = [
    "/**",
    " * Answers of a real server, as JSON, by operation and status. `npm run docs:examples` writes them: do not edit.",
    " */",
    "export const answerExamples: Readonly<Record<string, string>> = {"
  ]
  const file = path.join(import.meta.dirname, "../../../src/http/AnswerExamples.ts")
  yield* files.writeFileString(file, `${[...head, lines.join(",\n"), "}"].join("\n")}\n`)
  yield* Console.log(`${lines.length} examples, ${lines.join("").length} characters`)
}).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(platform, FetchHttpClient.layer)))

NodeRuntime.runMain(program)
