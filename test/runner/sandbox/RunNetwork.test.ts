import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { networkInterfaces, tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { resolverFor, resolverInside } from "../../../runner/sandbox/network/HostResolver.ts"
import type { NetworkSettings } from "../../../runner/sandbox/network/NetworkSettings.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { systemPath } from "../../../runner/sandbox/SandboxView.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { it, suite } from "../../support/Effect.ts"

const sandboxWith = (network: Partial<NetworkSettings>) =>
  Layer.fresh(Sandbox.layer).pipe(
    Layer.provide(
      Layer.succeed(SandboxSettings, {
        ...defaultSandboxSettings,
        network: { ...defaultSandboxSettings.network, ...network }
      })
    ),
    Layer.provide(NodeServices.layer)
  )

const runFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "network-"))
    mkdirSync(join(folder, "root"))
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Starts a listener on an address of this machine and returns its port. */
const listening = (address: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly port: number; readonly close: () => void }>((resolve) => {
          const server = createServer((socket) => socket.end("reached"))
          server.listen(0, address, () => {
            const bound = server.address()
            resolve({ port: typeof bound === "object" && bound !== null ? bound.port : 0, close: () => server.close() })
          })
        })
    ),
    ({ close }) => Effect.sync(close)
  )

/** Returns a script that prints `reached`, or the name of the error. */
const connect = (address: string, port: number) =>
  `const s = require("node:net").connect({ host: "${address}", port: ${port}, timeout: 3000 });
   s.on("data", (d) => { console.log(String(d)); s.destroy() });
   s.on("timeout", () => { console.log("ETIMEDOUT"); s.destroy() });
   s.on("error", (e) => console.log(e.code))`

const node = Bun.which("node") ?? "/usr/bin/node"

const runs = Effect.fnUntraced(function* (argv: readonly [string, ...ReadonlyArray<string>]) {
  const sandbox = yield* Sandbox
  const folder = yield* runFolder
  const box = yield* sandbox.open({ root: join(folder, "root"), readOnly: [node] })
  const child = yield* box.spawn({ argv, cwd: ".", environment: { PATH: systemPath }, network: true })
  const [said, complaint] = yield* Effect.all(
    [Stream.mkString(Stream.decodeText(child.stdout)), Stream.mkString(Stream.decodeText(child.stderr))],
    { concurrency: 2 }
  )
  return `${said}${complaint}`.trim()
}, Effect.scoped)

/** A non-loopback address of this machine that the host's network can reach. */
const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address

/** An address in a forbidden range, which the test adds to this machine so that a listener can use it. */
const added = "198.51.100.77"
const withAddress = Effect.acquireRelease(
  Effect.sync(() => Bun.spawnSync(["ip", "address", "add", `${added}/32`, "dev", "lo"])),
  () => Effect.sync(() => Bun.spawnSync(["ip", "address", "del", `${added}/32`, "dev", "lo"]))
)

const shipped = suite(sandboxWith({ reach: "isolated" }))
afterAll(() => shipped.dispose())
// A separate layer, because tests cannot observe processes that the suite's shared layer started earlier.
const status = await Effect.runPromise(
  Effect.flatMap(Sandbox, ({ network }) => network).pipe(Effect.provide(sandboxWith({})))
)
const isRequired = process.env["SVC_TEST_REQUIRE_ALL"] !== undefined
const isIsolated = status.reach === "isolated"
const describeIsolated = isIsolated || isRequired ? describe : describe.skip

describeIsolated("Private networks", () => {
  shipped.live("a Run with its own network cannot reach the host's loopback, unlike a Run in the host's network", () =>
    Effect.gen(function* () {
      const { port } = yield* listening("127.0.0.1")
      const script = [node, "-e", connect("127.0.0.1", port)] as const
      expect(yield* runs(script).pipe(Effect.provide(sandboxWith({ reach: "host" })))).toBe("reached")
      expect(yield* runs(script)).toBe("ECONNREFUSED")
    })
  )

  shipped.live(
    "a Run with its own network reaches no service on the host, by the host's address or through the gateway",
    () =>
      Effect.gen(function* () {
        const { port } = yield* listening("0.0.0.0")
        const said = yield* runs([node, "-e", connect(ownAddress ?? "127.0.0.1", port)])
        expect(said).toBe("ECONNREFUSED")
      })
  )

  if (process.getuid?.() === 0) {
    shipped.live("a Run with its own network reaches any address outside the forbidden ranges", () =>
      Effect.gen(function* () {
        yield* withAddress
        const { port } = yield* listening(added)
        const script = [node, "-e", connect(added, port)] as const
        expect(yield* runs(script)).toBe("reached")
        const forbidden = sandboxWith({ reach: "isolated", forbidden: ["198.51.100.0/24"] })
        expect(yield* runs(script).pipe(Effect.provide(forbidden))).toBe("EACCES")
      })
    )
  }

  shipped.live("a Run with its own network cannot reach cloud metadata services by default", () =>
    Effect.gen(function* () {
      for (const address of ["169.254.169.254", "100.100.100.200", "fd00:ec2::254"]) {
        expect(yield* runs([node, "-e", connect(address, 80)])).toMatch(/^(EACCES|ENETUNREACH|EHOSTUNREACH)$/)
      }
    })
  )

  shipped.live("a Run with its own network cannot change which addresses it reaches", () =>
    Effect.gen(function* () {
      const said = yield* runs([
        "/bin/sh",
        "-c",
        "ip rule del pref 100; ip rule del pref 100; ip address add 10.9.9.9/32 dev svc0; nsenter --net=/proc/1/ns/net true; grep CapEff /proc/self/status"
      ])
      expect(said.match(/not permitted/gi)?.length).toBeGreaterThanOrEqual(3)
      expect(said).toContain("CapEff:\t0000000000000000")
    })
  )

  shipped.live(
    "a Run with its own network has a separate loopback, over which a tool can communicate with its children",
    () =>
      Effect.gen(function* () {
        const script = `const s = require("node:net").createServer((c) => c.end("reached"));
        s.listen(0, "127.0.0.1", () => {
          const c = require("node:net").connect(s.address().port, "127.0.0.1");
          c.on("data", (d) => { console.log(String(d)); process.exit(0) })
        })`
        expect(yield* runs([node, "-e", script])).toBe("reached")
      })
  )

  shipped.live(
    "a Run with its own network has a working resolver, and runs as the same user as without a network",
    () =>
      Effect.gen(function* () {
        const said = yield* runs(["/bin/sh", "-c", "id -u; cat /etc/resolv.conf"])
        expect(said.split("\n")[0]).toBe(String(process.getuid?.()))
        expect(said).toContain(`nameserver ${resolverInside}`)
      })
  )

  shipped.live("a Run's network is not shared with any other Run", () =>
    Effect.gen(function* () {
      const [one, other] = yield* Effect.all(
        [runs(["readlink", "/proc/self/ns/net"]), runs(["readlink", "/proc/self/ns/net"])],
        { concurrency: 2 }
      )
      expect(one).toMatch(/^net:/)
      expect(one).not.toBe(other)
    })
  )
})

describe("Unavailable networks", () => {
  it.live("svc rejects Runs if a private network is required but unavailable", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const folder = yield* runFolder
      const refusal = yield* Effect.flip(sandbox.open({ root: join(folder, "root"), readOnly: [] }))
      expect(refusal._tag).toBe("SandboxRefused")
      expect(refusal.message).toContain("a network of their own is required")
      expect(refusal.message).toContain("passt")
    }).pipe(Effect.provide(sandboxWith({ reach: "isolated", pasta: "/nowhere/pasta" })))
  )

  it.live("the status reports which networks Runs can reach, and how to change them", () =>
    Effect.gen(function* () {
      const found = yield* (yield* Sandbox).network
      expect(found).toMatchObject({ reach: "host", accepted: true, forbidden: [] })
      expect(found.reason).toContain("host's loopback")
      expect(found.remedy).toContain("passt")
    }).pipe(Effect.provide(sandboxWith({ pasta: "/nowhere/pasta" })))
  )
})

describe("Private resolvers", () => {
  it.effect("a private network's resolver replaces the host's resolver, and the host's search list is kept", () =>
    Effect.sync(() => {
      expect(resolverFor("nameserver 10.0.0.2\nsearch example.test\noptions ndots:2\n", "")).toEqual({
        upstream: undefined,
        resolvConf: `nameserver ${resolverInside}\nsearch example.test\noptions ndots:2\n`
      })
    })
  )

  it.effect("a private network uses the upstream of a resolver on the host's loopback address", () =>
    Effect.sync(() => {
      const found = resolverFor("nameserver 127.0.0.53\n", "nameserver 192.0.2.53\n")
      expect(found?.upstream).toBe("192.0.2.53")
    })
  )

  it.effect("a private network keeps the host's resolver if the resolver is reachable only over IPv6", () =>
    Effect.sync(() => expect(resolverFor("nameserver 2001:db8::53\n", "")).toBeUndefined())
  )
})
