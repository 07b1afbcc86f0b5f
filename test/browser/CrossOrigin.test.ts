import { expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { platform } from "../../src/composition/Platform.ts"
import { hostedServer } from "../e2e/support/HostedServer.ts"
import { it } from "../support/Effect.ts"
import { httpServer } from "../support/HttpServer.ts"
import { startBrowser } from "./support/Browser.ts"
import { lightEnglish } from "./support/Suite.ts"

setDefaultTimeout(240_000)

const module = { "main.tf": 'output "greeting" {\n  value = "hello"\n}\n' }

interface Server {
  readonly url: string
  readonly token: string
  readonly repository: string
}

/** Runs in the page, and makes every request that an application on another origin would make. */
const use = async ({ repository, token, url }: Server) => {
  const authorization = `Bearer ${token}`
  const read = async (path: string) => (await fetch(`${url}${path}`, { headers: { authorization } })).json()
  const { product } = await (await fetch(`${url}/.well-known/svc`)).json()
  const listed = await fetch(`${url}/api/v1/workspaces`, { headers: { authorization } })
  const { workspaces } = await listed.json()
  const created = await fetch(`${url}/api/v1/workspaces/${workspaces[0].id}/install-plans`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", "idempotency-key": "from-a-page" },
    body: JSON.stringify({ source: { name: "app", url: repository }, capsule: { name: "app", environment: "test" } })
  })
  await created.json()
  let runId: string | undefined
  while (runId === undefined) {
    const { runs } = await read(`/api/v1/workspaces/${workspaces[0].id}/runs?type=source_sync`)
    runId = runs[0]?.id
  }
  const live = await fetch(`${url}/api/v1/runs/${runId}/events`, {
    headers: { authorization, accept: "text/event-stream", "last-event-id": "0" }
  })
  const frames = await live.text()
  const missing = await fetch(`${url}/api/v1/runs/run_unknown`, { headers: { authorization } })
  return {
    product,
    statuses: [listed.status, created.status, live.status, missing.status],
    requestId: listed.headers.get("x-request-id") !== null && missing.headers.get("x-request-id") !== null,
    live: [frames.includes('"run.succeeded"'), frames.trimEnd().endsWith('data: {"done":true}')]
  }
}

/** Runs in the page, and returns the requests that the browser blocks. */
const attempt = async ({ token, url }: Server) => {
  const tried = async (ask: () => Promise<Response>) => {
    try {
      return (await ask()).status
    } catch {
      return "refused"
    }
  }
  return {
    byToken: await tried(() =>
      fetch(`${url}/api/v1/workspaces`, { headers: { authorization: `Bearer ${token}` }, cache: "no-store" })
    ),
    withCookies: await tried(() => fetch(`${url}/api/v1/workspaces`, { credentials: "include" })),
    withoutCredential: await tried(() => fetch(`${url}/api/v1/workspaces`)),
    session: await tried(() => fetch(`${url}/auth/session`)),
    unlisted: await tried(() => fetch(`${url}/api/v1/workspaces`, { headers: { "x-svc-account-session": token } }))
  }
}

it.live("a page from a listed origin can use the API with a token, and a page from any other origin cannot", () =>
  Effect.gen(function* () {
    const page = yield* httpServer((_, response) => {
      response.setHeader("content-type", "text/html")
      response.end("<!doctype html><title>An application</title>")
    })
    const stranger = yield* httpServer((_, response) => response.end("<!doctype html><title>Another</title>"))
    const server = yield* hostedServer(module, { corsOrigins: `${page.origin},https://app.example.test` })
    yield* server.browse("/api/v1/workspaces")
    const given = { url: server.url, token: Redacted.value(server.token), repository: server.repositoryUrl }
    const browser = yield* Effect.acquireRelease(
      Effect.promise(() => startBrowser()),
      (started) => Effect.promise(() => started.close())
    )
    const at = Effect.fnUntraced(function* (origin: string) {
      const opened = yield* Effect.promise(() => browser.open(lightEnglish))
      yield* Effect.promise(() => opened.page.goto(origin))
      return opened.page
    })
    const named = yield* at(page.origin)
    expect(yield* Effect.promise(() => named.evaluate(use, given))).toEqual({
      product: "svc",
      statuses: [200, 201, 200, 404],
      requestId: true,
      live: [true, true]
    })
    expect(yield* Effect.promise(() => named.evaluate(attempt, given))).toEqual({
      byToken: 200,
      withCookies: "refused",
      withoutCredential: 401,
      session: "refused",
      unlisted: "refused"
    })
    const other = yield* at(stranger.origin)
    expect(yield* Effect.promise(() => other.evaluate(attempt, given))).toEqual({
      byToken: "refused",
      withCookies: "refused",
      withoutCredential: "refused",
      session: "refused",
      unlisted: "refused"
    })
  }).pipe(Effect.provide(Layer.mergeAll(platform, FetchHttpClient.layer)))
)
