import { describe, expect } from "bun:test"
import { readdir, readFile, readlink } from "node:fs/promises"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, References, Schema, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { application } from "../../examples/embedded/Application.ts"
import { Deployments } from "../../examples/embedded/Deployments.ts"
import { Actor, SvcClient } from "../../src/index.ts"
import { layer, TestControlPlane } from "../../src/testing/index.ts"
import { it } from "../support/Effect.ts"

/** Returns the child processes that are still running. */
const children = Effect.promise(async () => {
  const listed = (await readFile(`/proc/self/task/${process.pid}/children`, "utf8")).trim().split(/\s+/)
  const states = await Promise.all(listed.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")))
  // The process state follows the name in brackets; Z means that the process has exited and the runtime has not reaped it yet.
  return listed.filter((_, index) => /\) [^Z]/.test(states[index] ?? ""))
})

/** Returns the open files below a folder. */
const openFiles = (folder: string) =>
  Effect.promise(async () => {
    const handles = await readdir("/proc/self/fd")
    const targets = await Promise.all(handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => "")))
    return targets.filter((target) => target.startsWith(folder))
  })

const moduleOf = (body: string) => ({ "main.tf": body })
const greeting = moduleOf(`resource "terraform_data" "greeting" {
  input = "Hello"
}

output "greeting" {
  value = terraform_data.greeting.output
}
`)

const Deployed = Schema.Struct({
  status: Schema.String,
  runId: Schema.String,
  because: Schema.optionalKey(Schema.String),
  outputs: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
})

const tool = Bun.which("tofu") ?? Bun.which("terraform")
const many = moduleOf(`resource "terraform_data" "many" {
  count = 21
  input = count.index
}
`)

/** Starts the application as its Main does, with the test's control plane. */
const served = HttpRouter.serve(application, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(Deployments.layer.pipe(Layer.provide(TestControlPlane.actor))),
  Layer.provideMerge(layer({ repositories: { greeting, many } })),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "Error"))
)

describe.skipIf(tool === null)("Embedded example", () => {
  it.live(
    "the embedded example deploys under its own policy, shows a Run live, and offers the API to its clients",
    () =>
      Effect.gen(function* () {
        const before = new Set(yield* children)
        const scope = yield* Scope.make()
        const services = yield* Layer.buildWithScope(served, scope)
        const url = HttpServer.formatAddress(Context.get(services, HttpServer.HttpServer).address)
        const { dataDir, repository, token, workspace } = Context.get(services, TestControlPlane)
        const post = (path: string, body: object) =>
          Effect.promise(() =>
            fetch(`${url}${path}`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify(body)
            })
          )
        const deployed = Effect.fnUntraced(function* (response: Response) {
          return yield* Schema.decodeUnknownEffect(Deployed)(yield* Effect.promise(() => response.json()))
        })

        const routine = yield* post("/deployments", {
          name: "greeting",
          url: repository("greeting").url,
          environment: "production"
        })
        expect(routine.status).toBe(201)
        const first = yield* deployed(routine)
        expect(first).toMatchObject({ status: "deployed", outputs: { greeting: "Hello" } })
        const live = yield* Effect.promise(() => fetch(`${url}/deployments/${first.runId}/events`))
        const frames = yield* Effect.promise(() => live.text())
        expect(frames).toStartWith("id: 1\nevent: run.queued\n")
        expect(frames).toContain("event: resource.completed\n")

        const large = yield* post("/deployments", {
          name: "many",
          url: repository("many").url,
          environment: "production"
        })
        expect(large.status).toBe(202)
        const second = yield* deployed(large)
        expect(second).toMatchObject({ status: "needs_review", because: expect.stringContaining("more than 20") })

        // An API client below the prefix reads the plan, and the application approves the reviewed plan.
        const client = Layer.provideMerge(SvcClient.layer({ baseUrl: `${url}/svc`, token }), Actor.token(token))
        const plan = yield* Effect.provide(
          Effect.flatMap(SvcClient, ({ runs }) => runs.read({ params: { runId: second.runId } })),
          client
        )
        expect(plan.run.workspaceId).toBe(workspace.id)
        const digest = `sha256:${"0".repeat(64)}`
        expect((yield* post(`/deployments/${second.runId}/review`, { planDigest: digest })).status).toBe(409)
        const { planDigest } = plan.run
        expect((yield* post(`/deployments/${second.runId}/review`, { planDigest })).status).toBe(201)
        expect((yield* post("/deployments", { name: "incomplete" })).status).toBe(400)

        yield* Scope.close(scope, yield* Effect.exit(Effect.void))
        // The application's Scope has closed, so no tool that it executed and no database that it opened may remain open.
        expect(yield* openFiles(dataDir)).toEqual([])
        expect((yield* children).filter((pid) => !before.has(pid))).toEqual([])
      }),
    120_000
  )
})
