import { expect, setDefaultTimeout } from "bun:test"
import { request as ask } from "node:http"
import { Effect, FileSystem, Layer, Path, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { compileLibrary } from "../../scripts/packages/Library.ts"
import { platform } from "../../src/composition/Platform.ts"
import { hostedServer } from "../e2e/support/HostedServer.ts"
import { it } from "../support/Effect.ts"
import { httpServer } from "../support/HttpServer.ts"
import { startBrowser } from "./support/Browser.ts"
import { lightEnglish } from "./support/Suite.ts"

setDefaultTimeout(300_000)

const module = { "main.tf": 'output "greeting" {\n  value = "hello"\n}\n' }

interface Server {
  readonly url: string
  readonly token: string
  readonly repository: string
}

declare global {
  /** The bundle below defines this global in the page. */
  function useClient(server: Server): Promise<unknown>
}

/** The source of an application on another origin that uses the package as published. */
const application = `
import { Effect, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { followEvents, makeClient } from "../library/src/client/index.js"

const failure = (effect) => Effect.map(Effect.flip(effect), ({ code, message }) => ({ code, message }))

globalThis.useClient = ({ repository, token, url }) =>
  Effect.gen(function* () {
    const options = { baseUrl: url, token: Redacted.make(token), retries: true }
    const client = yield* makeClient(options)
    const read = Effect.map(client.workspaces.list({ query: {} }), ({ workspaces }) => workspaces)
    const [workspace] = yield* read
    yield* read
    const plan = {
      params: { workspaceId: workspace.id },
      headers: { "idempotency-key": "from-a-page" },
      payload: { source: { name: "app", url: repository }, capsule: { name: "app", environment: "test" } }
    }
    const made = yield* client.installPlans.create(plan)
    const again = yield* client.installPlans.create(plan)
    const conflict = yield* failure(
      client.installPlans.create({ ...plan, payload: { ...plan.payload, capsule: { name: "b", environment: "test" } } })
    )
    let run
    while (run === undefined) {
      const { runs } = yield* client.workspaces.runs({ params: plan.params, query: {} })
      run = runs.find(({ type }) => type === "source_sync")
    }
    const all = yield* Stream.runCollect(followEvents(options, run.id))
    const rest = yield* Stream.runCollect(followEvents(options, run.id, all[0].seq))
    const missing = yield* failure(client.runs.read({ params: { runId: "run_aaaaaaaaaaaaaaaaaaaaaaaa" } }))
    return {
      replayed: [made.replayed, again.replayed, made.installPlan.id === again.installPlan.id],
      conflict: conflict.code,
      missing: missing.code,
      events: [all.length > 1, all.at(-1).kind, rest.length === all.length - 1, rest[0].seq === all[1].seq]
    }
  }).pipe(Effect.provide(FetchHttpClient.layer), Effect.runPromise)
`

/** Bundles the published client and the application into one file for a browser. */
const bundle = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("../..", import.meta.url)))
  // The bundle is built here, so that imports resolve to this checkout's packages.
  yield* files.makeDirectory(path.join(root, "dist/test"), { recursive: true })
  const folder = yield* files.makeTempDirectoryScoped({ directory: path.join(root, "dist/test"), prefix: "client-" })
  yield* compileLibrary(root, path.join(folder, "library"), { declarations: false })
  yield* files.makeDirectory(path.join(folder, "application"))
  yield* files.writeFileString(path.join(folder, "application/main.js"), application)
  const built = yield* Effect.promise(() =>
    Bun.build({ entrypoints: [path.join(folder, "application/main.js")], target: "browser", format: "esm" })
  )
  return yield* Effect.promise(() => built.outputs[0]?.text() ?? Promise.reject(new Error("no bundle")))
})

/** Runs in the page, and returns the response headers that the page can read. */
const readHeaders = async ({ token, url }: Server) => {
  const answer = await fetch(`${url}/api/v1/runs/run_unknown`, { headers: { authorization: `Bearer ${token}` } })
  const { error } = await answer.json()
  return { status: answer.status, sameId: answer.headers.get("x-request-id") === error.requestId, code: error.code }
}

it.live("the published client works only on pages from a listed origin", () =>
  Effect.gen(function* () {
    const script = yield* bundle
    const served = httpServer((request, response) => {
      response.setHeader("content-type", request.url === "/main.js" ? "text/javascript" : "text/html")
      response.end(
        request.url === "/main.js"
          ? script
          : '<!doctype html><title>An application</title><script type="module" src="/main.js"></script>'
      )
    })
    const [named, stranger] = [yield* served, yield* served]
    const server = yield* hostedServer(module, { corsOrigins: named.origin })
    const target = new URL(server.url)
    /** The browser's requests, as the server in front records them. */
    const seen: Array<{ readonly method: string; readonly path: string; readonly headers: string }> = []
    const credentialsAllowed: Array<unknown> = []
    const origins = new Set<unknown>()
    const front = yield* httpServer((request, response) => {
      const { headers, method = "", url: path = "" } = request
      seen.push({ method, path, headers: String(headers["access-control-request-headers"] ?? "") })
      const forwarded = ask({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
        credentialsAllowed.push(answer.headers["access-control-allow-credentials"])
        origins.add(answer.headers["access-control-allow-origin"])
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      forwarded.on("error", () => response.destroy())
      response.on("close", () => forwarded.destroy())
      request.pipe(forwarded)
    })
    yield* server.browse("/api/v1/workspaces")
    const given = { url: front.origin, token: Redacted.value(server.token), repository: server.repositoryUrl }
    const browser = yield* Effect.acquireRelease(
      Effect.promise(() => startBrowser()),
      (started) => Effect.promise(() => started.close())
    )
    const at = Effect.fnUntraced(function* (origin: string) {
      const { page } = yield* Effect.promise(() => browser.open(lightEnglish))
      yield* Effect.promise(() => page.goto(origin))
      yield* Effect.promise(() => page.waitForFunction(() => "useClient" in globalThis))
      return page
    })

    const page = yield* at(named.origin)
    expect(yield* Effect.promise(() => page.evaluate((server) => globalThis.useClient(server), given))).toEqual({
      replayed: [false, true, true],
      conflict: "idempotency_conflict",
      missing: "not_found",
      events: [true, "run.succeeded", true, true]
    })
    expect(yield* Effect.promise(() => page.evaluate(readHeaders, given))).toEqual({
      status: 404,
      sameId: true,
      code: "not_found"
    })
    const asked = new Set(seen.flatMap(({ headers }) => headers.split(",").map((name) => name.trim())))
    expect([...asked].filter((name) => name !== "").toSorted()).toEqual([
      "authorization",
      "b3",
      "content-type",
      "idempotency-key",
      "last-event-id",
      "traceparent"
    ])
    // A second read of the list sends no second preflight request.
    const listed = seen.filter(({ path }) => path === "/api/v1/workspaces").map(({ method }) => method)
    expect(listed).toEqual(["OPTIONS", "GET", "GET"])
    expect([...origins]).toEqual([named.origin])

    const before = seen.length
    const other = yield* at(stranger.origin)
    const refused = yield* Effect.promise(() =>
      other.evaluate(
        (server) =>
          globalThis.useClient(server).then(
            () => "answered",
            () => "refused"
          ),
        given
      )
    )
    expect(refused).toBe("refused")
    expect(new Set(seen.slice(before).map(({ method }) => method))).toEqual(new Set(["OPTIONS"]))
    expect(origins).toEqual(new Set([named.origin, undefined]))
    expect(new Set(credentialsAllowed)).toEqual(new Set([undefined]))
  }).pipe(Effect.provide(Layer.mergeAll(platform, FetchHttpClient.layer)))
)
