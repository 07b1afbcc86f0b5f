import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { ConfigProvider, Effect, Layer, Option, Redacted, Schema } from "effect"
import { AgentFolder, type AgentIdentity } from "../../../../runner/agent/AgentFolder.ts"
import { AgentId } from "../../../../schema/records/Ids.ts"
import { PoolName } from "../../../../schema/agent/PoolName.ts"
import { tokenOf } from "../../../../src/cli/agent/AgentFlags.ts"
import { HttpListener } from "../../../../src/http/HttpListener.ts"
import { Draining } from "../../../../src/streams/Draining.ts"
import { WebSockets } from "../../../../src/streams/WebSockets.ts"
import { fetchServer } from "../../../support/FetchServer.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { live, svc as commandLine } from "../support/CommandLine.ts"

const main = new URL("../../../../src/Main.ts", import.meta.url).pathname

const Report = Schema.fromJsonString(
  Schema.Struct({
    healthy: Schema.Boolean,
    findings: Schema.Array(Schema.Struct({ check: Schema.String, status: Schema.String, message: Schema.String }))
  })
)

const identity: AgentIdentity = {
  version: 1,
  server: "http://127.0.0.1:8",
  serverKeys: { sign: "a".repeat(43), seal: "b".repeat(43) },
  installationId: "inst_1",
  agentId: AgentId.make("agt_00000000000000000000000000"),
  pool: PoolName.make("eu")
}

const environmentOf = (env: Readonly<Record<string, string>>) => ({ PATH: process.env["PATH"] ?? "", ...env })

const svc = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  commandLine(["agent", ...args]).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environmentOf(env))))
  )

/** Runs the same command in a separate process, as if a person had started it. */
const svcApart = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const child = Bun.spawn([process.execPath, main, "agent", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: environmentOf(env)
    })
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, error }
  })

describe("svc agent", () => {
  live("svc agent enrols only over a connection that nobody can eavesdrop on or impersonate", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "agent")
      const plain = yield* svc(["--server", "http://svc.example.com", "--pool", "eu", "--dir", folder])
      expect(plain).toMatchObject({ code: 2, out: "" })
      expect(plain.error).toContain("https")
      const withPath = yield* svc(["--server", "https://svc.example.com/agents", "--pool", "eu", "--dir", folder])
      expect(withPath.error).toContain("origin")
      expect(existsSync(folder)).toBe(false)
    })
  )

  live("svc agent reports a missing server, a missing pool, and a missing token at the first startup", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "agent")
      expect((yield* svc([])).error).toContain("--server")
      expect((yield* svc(["--server", "https://svc.example.com"])).error).toContain("--pool")
      const local = yield* svc(["--server", "https://svc.example.com", "--pool", "local", "--dir", folder])
      expect(local.error).toContain("control plane")
      const first = yield* svcApart(["--server", "http://127.0.0.1:9", "--pool", "eu", "--dir", folder])
      expect([first.code, first.error]).toEqual([1, expect.stringContaining("SVC_AGENT_TOKEN")])
    })
  )

  live("svc agent reads its token without the trailing newline, and does not print an invalid token", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = join(folder, "token")
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, "first\nsecond-canary\n")
      const read = (given: Option.Option<string>, env: Readonly<Record<string, string>>) =>
        Effect.flatten(tokenOf(given)).pipe(
          Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(env))),
          Effect.map(Option.map(Redacted.value))
        )
      expect(yield* read(Option.none(), {})).toEqual(Option.none())
      expect(yield* read(Option.none(), { SVC_AGENT_TOKEN: " given\n" })).toEqual(Option.some("given"))
      const refusals = [
        [file, yield* Effect.flip(read(Option.some(file), { SVC_AGENT_TOKEN: "given" }))],
        ["SVC_AGENT_TOKEN", yield* Effect.flip(read(Option.none(), { SVC_AGENT_TOKEN: "given second-canary" }))]
      ] as const
      for (const [place, { message }] of refusals) {
        expect(message).toContain(`${place} contains no token`)
        expect(message).not.toContain("canary")
      }
    })
  )

  live("svc agent rotates keys early, and explains the steps if somebody has read the keys", () =>
    Effect.gen(function* () {
      const { code, out } = yield* svc(["rotate", "--help"])
      expect(code).toBe(0)
      expect(out).toContain("svc admin agent revoke")
      expect(out).not.toContain("When somebody may have read")
    })
  )

  live("the agent's doctor checks everything that the agent needs, and changes nothing", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "agent")
      const origin = yield* fetchServer(() => new Response("no agents here", { status: 404 }))
      const { code, out } = yield* svcApart(["doctor", "--server", origin, "--dir", folder, "--json"], {
        HTTPS_PROXY: "http://someone:proxy-password@proxy.example.com:3128",
        NODE_EXTRA_CA_CERTS: join(folder, "missing.pem")
      })
      const { findings, healthy } = yield* Schema.decodeEffect(Report)(out)
      const of = (check: string) => findings.find((finding) => finding.check === check)
      expect(findings.map(({ check }) => check)).toEqual([
        "address",
        "proxy",
        "ca",
        "clock",
        "key",
        "disk",
        "tool",
        "sandbox",
        "limits",
        "network",
        "credentials"
      ])
      expect({ code, healthy }).toEqual({ code: 1, healthy: false })
      expect(of("address")).toMatchObject({ status: "error", message: expect.stringContaining("no pool yet") })
      expect(of("proxy")?.message).toBe("http://proxy.example.com:3128.")
      expect(of("ca")).toMatchObject({ status: "error" })
      expect(of("clock")?.message).toContain("server")
      expect(existsSync(folder)).toBe(false)
    })
  )

  live("the agent's doctor compares the local clock with the clock of a server that it reaches directly", () =>
    Effect.gen(function* () {
      const { url } = yield* HttpListener
      const folder = join(yield* temporaryFolder, "agent")
      const { out } = yield* svc(["doctor", "--server", url, "--dir", folder, "--json"])
      const { findings } = yield* Schema.decodeEffect(Report)(out)
      expect(findings.find(({ check }) => check === "clock")?.message).toMatch(/^\d+ s (ahead of|behind) the server\.$/)
    }).pipe(
      Effect.provide(
        HttpListener.layer({ host: "127.0.0.1", port: 0 }).pipe(
          Layer.provide(WebSockets.layer),
          Layer.provide(Draining.layer)
        )
      )
    )
  )

  live("the agent's doctor reports a wrong clock, an invalid proxy, and a file without a certificate", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const authority = join(folder, "authority.pem")
      writeFileSync(authority, "not a certificate")
      const hourAgo = new Date(Date.now() - 3_600_000).toUTCString()
      const origin = yield* fetchServer(() => new Response("", { status: 502, headers: { date: hourAgo } }))
      const env = { HTTPS_PROXY: "proxy-without-scheme", NO_PROXY: "127.0.0.1", NODE_EXTRA_CA_CERTS: authority }
      const { out } = yield* svc(["doctor", "--server", origin, "--dir", join(folder, "agent"), "--json"], env)
      const { findings } = yield* Schema.decodeEffect(Report)(out)
      const of = (check: string) => findings.find((finding) => finding.check === check)
      expect(of("address")).toMatchObject({
        status: "error",
        message: expect.stringContaining("does not answer to agents")
      })
      expect(of("clock")).toMatchObject({ status: "warning", message: expect.stringContaining("ahead of the server") })
      expect(of("proxy")).toMatchObject({ status: "error" })
      expect(of("proxy")?.message).not.toContain("proxy-without-scheme")
      expect(of("ca")).toMatchObject({ status: "error", message: expect.stringContaining("PEM") })
    })
  )

  live("svc agent also accepts slots and labels from the environment, and refuses invalid values", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "agent")
      const given = ["--server", "http://127.0.0.1:9", "--pool", "eu", "--dir", folder]
      expect((yield* svc(given, { SVC_AGENT_PLACES: "many" })).error).toContain("SVC_AGENT_PLACES is a number")
      expect((yield* svc(given, { SVC_AGENT_PLACES: "0" })).error).toContain("from 1 to 256")
      expect((yield* svc(given, { SVC_AGENT_LABELS: "zone" })).error).toContain("key=value")
      const fine = yield* svc(given, { SVC_AGENT_PLACES: "3", SVC_AGENT_LABELS: "zone=a, ephemeral=true" })
      expect(fine.error).toContain("not enrolled yet")
    })
  )

  live("svc agent reads the token file only until it is enrolled", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "agent")
      const given = ["--server", "http://127.0.0.1:9", "--pool", "eu", "--dir", folder]
      const first = yield* svc([...given, "--token-file", join(folder, "removed")])
      expect(first.error).toContain("not enrolled yet")
      expect(first.error).toContain("removed")
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(join(folder, "agent.json"), JSON.stringify(identity), { mode: 0o600 })
      const later = yield* svc([...given, "--token-file", join(folder, "removed")])
      expect(later.error).toContain("belongs to an agent of http://127.0.0.1:8")
    })
  )

  live("the agent's doctor reports that other users can read the agent's key", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "agent")
      yield* Effect.flatMap(AgentFolder, ({ keys }) => keys).pipe(Effect.provide(AgentFolder.layerAt(folder)))
      writeFileSync(join(folder, "agent.json"), JSON.stringify(identity), { mode: 0o644 })
      chmodSync(folder, 0o755)
      const names = readdirSync(folder)
      const { out } = yield* svc(["doctor", "--server", "http://127.0.0.1:9", "--dir", folder, "--json"])
      const { findings } = yield* Schema.decodeEffect(Report)(out)
      expect(findings.find(({ check }) => check === "key")).toMatchObject({
        status: "error",
        message: `Others may read ${folder}, ${join(folder, "agent.json")}.`
      })
      expect(statSync(folder).mode & 0o777).toBe(0o755)
      expect(readdirSync(folder)).toEqual(names)
    })
  )
})
