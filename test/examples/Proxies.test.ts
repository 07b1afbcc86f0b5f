import { request } from "node:https"
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Context, Deferred, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { WebSocket } from "ws"
import { AccessTokens } from "../../actors/access/account/AccessTokens.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { makeClient } from "../../src/client/index.ts"
import { freeOrigin } from "../src/accounts/oidc/support/ApacheApplication.ts"
import { folder, live } from "../src/cli/support/CommandLine.ts"
import { serve } from "../src/operator/support/Server.ts"
import { hasProxy, type ProxyName, reverseProxy } from "./support/ReverseProxy.ts"

setDefaultTimeout(60_000)

const proxies: ReadonlyArray<ProxyName> = ["nginx", "caddy"]

test("every proxy is installed if the machine must run all suites", () => {
  if (process.env["SVC_TEST_REQUIRE_ALL"] === "1") expect(proxies.filter((name) => !hasProxy(name))).toEqual([])
})

const at = "2026-01-01T00:00:00.000Z"
const runId = "run_aaaaaaaaaaaaaaaaaaaaaaaa"

/** Sends one request from a loopback address, with the client's own headers, and returns its status. */
const statusFrom = (url: string, localAddress: string, headers: Readonly<Record<string, string>>, body: string) =>
  Effect.callback<number>((resume) => {
    const sent = request(
      url,
      {
        method: "POST",
        localAddress,
        rejectUnauthorized: false,
        headers: { "content-type": "application/json", ...headers }
      },
      (response) => {
        response.resume()
        resume(Effect.succeed(response.statusCode ?? 0))
      }
    )
    sent.on("error", (error) => resume(Effect.die(error)))
    sent.end(body)
  })

/** Starts svc behind an example's proxy, with a person who has a token, and a Run that keeps emitting events. */
const behind = Effect.fnUntraced(function* (name: ProxyName) {
  const origin = `https://localhost:${new URL(yield* freeOrigin).port}`
  const { services, url } = yield* serve(
    `${yield* folder}/data`,
    new Map([
      ["baseUrl", origin],
      ["trustedProxies", "127.0.0.1"]
    ])
  )
  yield* reverseProxy(name, `127.0.0.1:${new URL(origin).port}`, new URL(url).host)
  const user = yield* Context.get(services, Users).create(serviceContext, {
    email: "ada@example.com",
    isOperator: false
  })
  const { secret } = yield* Context.get(services, AccessTokens).create(serviceContext, user.subject, {
    name: "test",
    scopes: ["read", "write"]
  })
  const client = yield* makeClient({ baseUrl: url, token: secret })
  const [workspace] = (yield* client.workspaces.list({ query: {} })).workspaces
  const sql = Context.get(services, SqlClient.SqlClient)
  yield* sql`INSERT INTO runs ${sql.insert({ id: runId, workspace_id: workspace?.id ?? "", type: "plan", status: "waiting_approval", requires_approval: 1, trigger_kind: "user", attempt: 1, spec: "{}", evidence: "{}", created_at: at, queued_at: at })}`
  yield* sql`INSERT INTO run_events ${sql.insert({ run_id: runId, seq: 1, at, kind: "run.queued", data: "{}" })}`
  return { origin, headers: { authorization: `Bearer ${Redacted.value(secret)}` } }
})

for (const name of proxies) {
  describe.skipIf(!hasProxy(name))(`Example for ${name}`, () => {
    live("the proxy forwards requests, WebSockets, events as they arrive, and the client's address", () =>
      Effect.gen(function* () {
        const { headers, origin } = yield* behind(name)
        const tls = { rejectUnauthorized: false }
        const discovery = yield* Effect.promise(async () => (await fetch(`${origin}/.well-known/svc`, { tls })).json())
        expect(discovery).toMatchObject({ apiBaseUrl: `${origin}/api/v1` })

        // The stream remains open because the Run is waiting, so a buffering proxy would forward nothing yet.
        const events = `${origin}/api/v1/runs/${runId}/events`
        const first = yield* Effect.promise(async () => {
          const response = await fetch(events, { tls, headers: { ...headers, accept: "text/event-stream" } })
          const reader = response.body?.getReader()
          let text = ""
          while (!text.includes("run.queued")) text += new TextDecoder().decode((await reader?.read())?.value)
          await reader?.cancel()
          return text
        })
        expect(first).toContain("run.queued")

        const message = yield* Deferred.make<string>()
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            const socket = new WebSocket(events.replace("https:", "wss:"), { headers, rejectUnauthorized: false })
            socket.on("message", (data) => Deferred.doneUnsafe(message, Effect.succeed(String(data))))
            socket.on("error", (error) => Deferred.doneUnsafe(message, Effect.die(error)))
            return socket
          }),
          (socket) => Effect.sync(() => socket.terminate())
        )
        expect(yield* Deferred.await(message)).toContain("run.queued")

        // Each address may send ten wrong passwords per minute. A forged address does not raise the limit, and does not block
        // another client.
        const guess = JSON.stringify({ email: "nobody@example.com", password: "not the password" })
        const attempt = (address: string, claimed: string) =>
          statusFrom(`${origin}/auth/sign-in`, address, { origin, "x-forwarded-for": claimed }, guess)
        const statuses: Array<number> = []
        for (let count = 0; count < 11; count++) statuses.push(yield* attempt("127.0.0.1", `198.51.100.${count}`))
        expect(statuses.at(-1)).toBe(429)
        expect(yield* attempt("127.0.0.2", "198.51.100.1")).toBe(401)
      })
    )
  })
}
