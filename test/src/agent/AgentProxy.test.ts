import { writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { selfSignedCertificate } from "../../fixtures/provider/Certificate.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { addPlan, slowModule, snapshotOf, tokenCanary } from "./support/AgentStage.ts"
import { scriptedServer } from "./support/ScriptedServer.ts"

const main = new URL("../../../src/Main.ts", import.meta.url).pathname

/** A proxy that ends TLS in front of a server, and buffers whole requests and answers. */
const tlsProxy = (upstream: string, tls: { readonly cert: string; readonly key: string }) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        tls,
        fetch: async (request) => {
          const { pathname } = new URL(request.url)
          const body = request.method === "GET" ? undefined : await request.arrayBuffer()
          const headers = new Headers(request.headers)
          headers.delete("host")
          const answer = await fetch(`${upstream}${pathname}`, {
            method: request.method,
            headers,
            ...(body === undefined ? {} : { body })
          })
          return new Response(await answer.arrayBuffer(), { status: answer.status })
        }
      })
    ),
    (server) => Effect.promise(() => server.stop(true))
  )

/** A proxy that only tunnels, and records the destinations. */
const connectProxy = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<{ readonly port: number; readonly tunnels: Array<string>; readonly close: () => void }>((resolve) => {
        const tunnels: Array<string> = []
        const server = createServer((client) => {
          client.once("data", (head) => {
            const [, host = "", port = ""] = /^CONNECT ([^:]+):(\d+)/.exec(head.toString("latin1")) ?? []
            tunnels.push(`${host}:${port}`)
            const target = connect(Number(port), "127.0.0.1", () => {
              client.write("HTTP/1.1 200 Connection established\r\n\r\n")
              client.pipe(target).pipe(client)
            })
            target.on("error", () => client.destroy())
          })
          client.on("error", () => undefined)
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resolve({ port, tunnels, close: () => server.close() })
        })
      })
  ),
  ({ close }) => Effect.sync(close)
)

describe("an agent behind proxies", () => {
  it.live(
    "works through a CONNECT proxy and a proxy that ends TLS with a private authority",
    () =>
      Effect.gen(function* () {
        const server = yield* scriptedServer
        const folder = yield* temporaryFolder
        const { key, pem } = selfSignedCertificate(new Date())
        const authority = join(folder, "authority.pem")
        writeFileSync(authority, pem)
        const front = yield* tlsProxy(server.url, { cert: pem, key: String(key) })
        const proxy = yield* connectProxy
        const snapshot = yield* snapshotOf(server, slowModule(1))
        const plan = yield* addPlan(server, snapshot)
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            Bun.spawn(
              [
                process.execPath,
                main,
                "agent",
                "--server",
                `https://localhost:${front.port}`,
                "--pool",
                "eu",
                "--dir",
                join(folder, "agent")
              ],
              {
                stdio: ["ignore", "ignore", process.env["SVC_TEST_LOG"] === undefined ? "ignore" : "inherit"],
                env: {
                  PATH: process.env["PATH"] ?? "",
                  SVC_AGENT_TOKEN: tokenCanary,
                  HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
                  NODE_EXTRA_CA_CERTS: authority
                }
              }
            )
          ),
          (child) =>
            Effect.promise(() => {
              child.kill("SIGKILL")
              return child.exited
            })
        )
        yield* eventually(
          Effect.sync(() => plan.results.length),
          (count) => count > 0
        )
        expect(plan.results).toMatchObject([{ kind: "plan", status: "ended" }])
        expect(new Set(proxy.tunnels)).toEqual(new Set([`localhost:${front.port}`]))
      }),
    120_000
  )
})
