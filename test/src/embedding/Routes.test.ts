import { afterAll, describe, expect } from "bun:test"
import { createServer, request } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient, HttpEffect, HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as Client from "../../../src/client/index.ts"
import { Actor, Administration, ControlPlane, layer, layerRoutes, Sources, Workspaces } from "../../../src/index.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { fetchServer } from "../../support/FetchServer.ts"
import { suite } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { openSession, quiet } from "./support/Plane.ts"
import { migratedFolder } from "../../support/MigratedDatabase.ts"

/** A host application with its own routes, and the API under a prefix. */
class Host extends Context.Service<Host, { readonly url: string }>()("test/embedding/Host") {
  static readonly layer = Layer.effect(
    Host,
    Effect.gen(function* () {
      const plane = yield* Effect.context<ControlPlane>()
      let handle: (request: Request) => Promise<Response> = () => Promise.resolve(new Response(null, { status: 503 }))
      const url = yield* fetchServer((request) => handle(request))
      const routes = Layer.mergeAll(
        HttpRouter.add("GET", "/", HttpServerResponse.text("the host's own page")),
        layerRoutes({ prefix: "/control/plane", origin: url })
      ).pipe(Layer.provide(Layer.succeedContext(plane)), Layer.provide(HttpServer.layerServices))
      const answer = yield* HttpRouter.toHttpEffect(routes)
      handle = HttpEffect.toWebHandlerWith<ControlPlane, Effect.Services<typeof answer>>(plane)(answer)
      return { url }
    })
  )
}

const host = suite(
  Host.layer.pipe(
    Layer.provideMerge(
      Layer.unwrap(Effect.map(migratedFolder, (dataDir) => layer({ dataDir, baseUrl: "https://svc.example.com" })))
    ),
    Layer.provideMerge(FetchHttpClient.layer),
    Layer.provide(platform),
    Layer.provide(quiet),
    Layer.orDie
  )
)
afterAll(host.dispose)

const status = Effect.fnUntraced(function* (path: string, init: RequestInit = {}) {
  const { url } = yield* Host
  return (yield* Effect.promise(() => fetch(`${url}${path}`, init))).status
})

describe("API prefix", () => {
  host.live(
    "an API under a prefix serves a client whose base URL has that path, and discovery reports the prefixed location",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Host
        const administration = yield* Administration
        const { user, workspace } = yield* administration.createAccount({ email: "ada@example.com" })
        const token = yield* administration.createToken(user.subject, { name: "host" })
        for (const baseUrl of [`${url}/control/plane`, `${url}/control/plane/`]) {
          const found = yield* Effect.gen(function* () {
            const sources = yield* Sources
            const { source } = yield* sources.create({
              workspaceId: workspace.id,
              name: "over the prefix",
              url: "https://git.example.com/module.git"
            })
            const listed = yield* Stream.runCollect(sources.list(workspace.id))
            yield* sources.remove(source.id)
            expect((yield* (yield* Workspaces).get(workspace.id)).role).toBe("owner")
            return listed.map(({ name }) => name)
          }).pipe(Effect.provide(Layer.merge(Client.layer({ baseUrl }), Actor.token(token))))
          expect(found).toEqual(["over the prefix"])
        }
        for (const path of ["/.well-known/svc", "/api/v1/capabilities"]) {
          const response = yield* Effect.promise(() => fetch(`${url}/control/plane${path}`))
          const entrance = `${url}/control/plane`
          expect(yield* Effect.promise(() => response.json())).toMatchObject({
            apiBaseUrl: `${entrance}/api/v1`,
            endpoints: { openapi: `${entrance}/openapi.json`, oidc_issuer: "https://svc.example.com" }
          })
        }
        const document = yield* Effect.promise(() => fetch(`${url}/control/plane/openapi.json`))
        const described = yield* Effect.promise(() => document.json())
        expect(described.servers).toEqual([{ url: `${url}/control/plane` }])
        expect(described.paths["/api/v1/runs/{runId}"]).toBeDefined()
        expect(Object.keys(described.paths).filter((path) => path.startsWith("/auth"))).toEqual([])
      })
  )

  host.live("an API under a prefix removes a Source whose first sync fails, if the client requested the removal", () =>
    Effect.gen(function* () {
      const { url } = yield* Host
      const administration = yield* Administration
      const { user, workspace } = yield* administration.createAccount({ email: "reader@example.com" })
      const token = yield* administration.createToken(user.subject, { name: "reader" })
      yield* Effect.gen(function* () {
        const sources = yield* Sources
        const created = yield* sources.create({
          workspaceId: workspace.id,
          name: "mistyped",
          url: "https://nowhere.invalid/module.git",
          firstSync: { onFailure: "remove" }
        })
        const read = (yield* Client.Runs).get(created.run?.id ?? "")
        const run = yield* eventually(read, ({ status }) => status !== "queued" && status !== "running")
        expect([run.type, run.status]).toEqual(["source_sync", "failed"])
        const left = yield* eventually(sources.get(created.source.id), ({ removedAt }) => removedAt !== undefined)
        expect(left.status).toBe("disabled")
        expect(yield* Stream.runCollect(sources.list(workspace.id))).toEqual([])
      }).pipe(Effect.provide(Layer.merge(Client.layer({ baseUrl: `${url}/control/plane` }), Actor.token(token))))
    })
  )

  host.live("an API under a prefix accepts no cookie, and exposes only the API, webhooks, discovery and health", () =>
    Effect.gen(function* () {
      expect(yield* status("/")).toBe(200)
      expect(yield* status("/control/plane/healthz")).toBe(200)
      expect(yield* status("/control/plane/readyz")).toBe(200)
      expect(yield* status("/control/plane/hooks/sources/src_unknown", { method: "POST", body: "{}" })).toBe(404)
      expect(yield* status("/control/plane/api/v1/workspaces")).toBe(401)
      for (const path of ["/", "/setup", "/auth/session", "/oauth/authorize", "/api/v1/../../auth/session"]) {
        expect([path, yield* status(`/control/plane${path}`)]).toEqual([path, 404])
      }
      expect(yield* status("/control/plane/api/v1/%2e%2e/%2e%2e/auth/session")).toBe(404)
    })
  )

  host.live("no request path can leave the prefix of the API, even if the server does not normalise paths", () =>
    Effect.gen(function* () {
      const plane = yield* Effect.context<ControlPlane>()
      const served = yield* Layer.build(
        HttpRouter.serve(layerRoutes({ prefix: "/svc" }), { disableLogger: true, disableListenLog: true }).pipe(
          Layer.provide(Layer.succeedContext(plane)),
          Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
        )
      )
      const port = new URL(HttpServer.formatAddress(Context.get(served, HttpServer.HttpServer).address)).port
      const statusOf = (path: string) =>
        Effect.callback<number | undefined>((resume) => {
          request({ host: "127.0.0.1", port, path }, (response) => {
            response.resume()
            resume(Effect.succeed(response.statusCode))
          }).end()
        })
      expect(yield* statusOf("/svc/api/v1/workspaces")).toBe(401)
      for (const path of ["/svc/api/v1/../../auth/session", "/svc/api/v1/%2e%2e/%2E%2e/auth/session"]) {
        expect([path, yield* statusOf(path)]).toEqual([path, 404])
      }
    })
  )

  host.live("an API under a prefix ignores the session cookie that a browser sends", () =>
    Effect.gen(function* () {
      const { handle } = yield* ControlPlane
      const administration = yield* Administration
      const { user } = yield* administration.createAccount({ email: "grace@example.com" })
      const cookie = `__Host-svc_session=${Redacted.value(yield* openSession(user.subject))}`
      const own = new Request("https://svc.example.com/api/v1/workspaces", { headers: { cookie } })
      expect((yield* Effect.promise(() => handle(own))).status).toBe(200)
      expect(yield* status("/control/plane/api/v1/workspaces", { headers: { cookie } })).toBe(401)
    })
  )
})
