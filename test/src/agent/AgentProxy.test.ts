import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { selfSignedCertificate } from "../../fixtures/provider/Certificate.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { bufferingProxy, connectProxy } from "../../support/Proxies.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { addPlan, slowModule, snapshotOf, tokenCanary } from "./support/AgentStage.ts"
import { scriptedServer } from "./support/ScriptedServer.ts"

const main = new URL("../../../src/Main.ts", import.meta.url).pathname

describe("Agent proxies", () => {
  it.live(
    "an agent works through a CONNECT proxy and through a proxy that terminates TLS with a private authority",
    () =>
      Effect.gen(function* () {
        const server = yield* scriptedServer
        const folder = yield* temporaryFolder
        const { key, pem } = yield* Effect.promise(() => selfSignedCertificate(new Date()))
        const authority = join(folder, "authority.pem")
        writeFileSync(authority, pem)
        const front = yield* bufferingProxy(server.url, { cert: pem, key })
        const proxy = yield* connectProxy(front.port ?? 0)
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
