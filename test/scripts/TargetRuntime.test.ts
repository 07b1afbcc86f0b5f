import { NodeServices } from "@effect/platform-node"
import { expect } from "bun:test"
import { Effect, FileSystem, type Layer, type Scope } from "effect"
import { create } from "tar"
import { targetRuntime } from "../../scripts/TargetRuntime.ts"
import { it } from "../support/Effect.ts"
import { fetchServer } from "../support/FetchServer.ts"

const name = "@oven/bun-linux-aarch64"

const digest = (bytes: Uint8Array) => `sha512-${new Bun.CryptoHasher("sha512").update(bytes).digest("base64")}`

/** Starts a registry on loopback with one package, and creates a repository whose lock file pins that package. */
const registry = Effect.fnUntraced(function* (locked: { readonly version?: string } = {}) {
  const files = yield* FileSystem.FileSystem
  const root = yield* files.makeTempDirectoryScoped({ prefix: "svc-runtimes-" })
  const version = locked.version ?? Bun.version
  const packed = Effect.fnUntraced(function* (executable: string, at = "bin/bun") {
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-package-" })
    yield* files.makeDirectory(`${folder}/package/bin`, { recursive: true })
    yield* files.writeFileString(`${folder}/package/package.json`, JSON.stringify({ name, version: Bun.version }))
    yield* files.writeFileString(`${folder}/package/${at}`, executable, { mode: 0o755 })
    yield* Effect.promise(() => create({ gzip: true, cwd: folder, file: `${folder}/made.tgz` }, ["package"]))
    return yield* files.readFile(`${folder}/made.tgz`)
  })
  const good = yield* packed("the runtime")
  let served: Uint8Array<ArrayBuffer> | undefined = Uint8Array.from(good)
  let requests = 0
  const origin = yield* fetchServer((request) => {
    requests++
    if (served === undefined) return new Response("not here", { status: 404 })
    const { origin, pathname } = new URL(request.url)
    if (pathname.endsWith(".tgz")) return new Response(served)
    // A compromised registry signs every package that it serves.
    const dist = { tarball: `${origin}/runtime.tgz`, integrity: digest(served) }
    const manifest = { name, version: Bun.version, dist }
    return Response.json({ name, "dist-tags": { latest: Bun.version }, versions: { [Bun.version]: manifest } })
  })
  const folder = `${root}/runtimes`
  yield* files.makeDirectory(folder)
  const settings = [`registry=${origin}/`, "fetch-retries=0", `cache=${root}/cache`]
  yield* files.writeFileString(`${folder}/.npmrc`, `${settings.join("\n")}\n`)
  const packages = { [`node_modules/${name}`]: { version, integrity: digest(good) } }
  yield* files.writeFileString(`${root}/package-lock.json`, JSON.stringify({ packages }))
  return {
    good,
    packed,
    archive: `${folder}/oven-bun-linux-aarch64-${Bun.version}.tgz`,
    serve: (bytes: Uint8Array | undefined) => {
      served = bytes === undefined ? undefined : Uint8Array.from(bytes)
    },
    requests: () => requests,
    runtime: targetRuntime(root, folder, "linux-arm64")
  }
})

const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof NodeServices.layer> | Scope.Scope>
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(NodeServices.layer)))

live("the build fetches a platform runtime once and verifies it against the lock file", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { archive, good, requests, runtime } = yield* registry()
    expect(yield* files.readFileString(yield* runtime)).toBe("the runtime")
    const asked = requests()
    expect(asked).toBeGreaterThan(0)
    expect(yield* files.readFileString(yield* runtime)).toBe("the runtime")
    expect(requests()).toBe(asked)
    // The build fetches a truncated or modified archive again.
    yield* files.writeFile(archive, good.slice(0, -10))
    expect(yield* files.readFileString(yield* runtime)).toBe("the runtime")
  })
)

live("the build rejects and discards a runtime that the registry has changed", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { archive, packed, runtime, serve } = yield* registry()
    serve(yield* packed("another runtime"))
    const refused = yield* Effect.flip(runtime)
    expect(refused).toMatchObject({ _tag: "RuntimeUnavailable" })
    expect(refused.message).toContain("not the one that package-lock.json holds")
    expect(yield* files.exists(archive)).toBe(false)
  })
)

live("the build suggests a remedy if the registry does not have the runtime package", () =>
  Effect.gen(function* () {
    const { archive, runtime, serve } = yield* registry()
    serve(undefined)
    const refused = yield* Effect.flip(runtime)
    expect(refused.message).toContain("The runtime for linux-arm64 could not be fetched")
    expect(refused.message).toContain("404")
    expect(refused.message).toContain(`put that package at ${archive}`)
  })
)

live("the build rejects a Bun version that differs from the lock file", () =>
  Effect.gen(function* () {
    const { requests, runtime } = yield* registry({ version: "1.0.0" })
    expect((yield* Effect.flip(runtime)).message).toContain(`This is Bun ${Bun.version}`)
    expect(requests()).toBe(0)
  })
)
