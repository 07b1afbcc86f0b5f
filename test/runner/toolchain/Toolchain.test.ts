import { afterAll, describe, expect, test } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Effect, FileSystem, Layer, Option, Path } from "effect"
import { FetchHttpClient } from "effect/http"
import { Toolchain, type ToolRequirement } from "../../../runner/toolchain/Toolchain.ts"
import { pinnedVersion, toolchainConfig, type ToolchainSettings } from "../../../runner/toolchain/ToolchainSettings.ts"
import { suite } from "../../support/Effect.ts"
import { toolScript } from "./ReleaseFixture.ts"

const platformLayer = Layer.mergeAll(NodeServices.layer, FetchHttpClient.layer)
const tests = suite(platformLayer)
afterAll(tests.dispose)

const nothing: ToolchainSettings = { tool: Option.none(), searchPath: "", download: Option.none() }

const resolver = Effect.fnUntraced(function* (settings: Partial<ToolchainSettings>, tools = "/nonexistent/tools") {
  const context = yield* Layer.build(Toolchain.layer({ ...nothing, ...settings }, tools))
  return (require?: ToolRequirement) =>
    Effect.gen(function* () {
      const toolchain = yield* Toolchain
      return yield* toolchain.resolve(require)
    }).pipe(Effect.provideContext(context))
})

const folder = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const created = yield* fileSystem.makeTempDirectoryScoped({ prefix: "tools-" })
  for (const [name, content] of Object.entries(files)) {
    yield* fileSystem.writeFileString(path.join(created, name), content, { mode: 0o755 })
  }
  return created
})

const tofu = toolScript("OpenTofu", "1.9.0")
const terraform = toolScript("Terraform", "1.11.4")

/** Creates a search path with a tool that appends a line to `calls` at each start. */
const counted = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const searchPath = yield* folder({ calls: "" })
  const calls = Effect.map(
    fileSystem.readFileString(`${searchPath}/calls`),
    (content) => content.split("\n").length - 1
  )
  return { calls, file: `${searchPath}/tofu`, fileSystem, searchPath }
})

describe("Toolchain", () => {
  const real = Bun.which("terraform")
  if (real !== null) {
    tests.live("the toolchain finds the real tool on PATH", () =>
      Effect.gen(function* () {
        const resolve = yield* resolver({ searchPath: process.env["PATH"] ?? "" })
        const tool = yield* resolve({ name: "terraform" })
        expect(tool).toMatchObject({ name: "terraform", path: real, origin: "path" })
        expect(tool.version).toMatch(/^\d+\.\d+\.\d+/)
      })
    )
  }

  tests.live("the toolchain prefers the configured path, then tofu, then terraform, in PATH order", () =>
    Effect.gen(function* () {
      const both = yield* folder({ tofu, terraform, custom: toolScript("Terraform", "1.12.1") })
      const later = yield* folder({ tofu: toolScript("OpenTofu", "1.6.1") })
      const only = yield* folder({ terraform })
      const searchPath = ["relative", "", "/nonexistent", both, later].join(":")
      expect(yield* (yield* resolver({ searchPath }))()).toEqual({
        name: "opentofu",
        version: "1.9.0",
        path: `${both}/tofu`,
        origin: "path"
      })
      expect(yield* (yield* resolver({ searchPath: only }))()).toMatchObject({ name: "terraform", version: "1.11.4" })
      const configured = yield* resolver({ searchPath, tool: Option.some(`${both}/custom`) })
      expect(yield* configured()).toMatchObject({ version: "1.12.1", origin: "configured" })
    })
  )

  tests.live("the toolchain uses exactly the version that a profile requires, or no tool at all", () =>
    Effect.gen(function* () {
      const both = yield* folder({ tofu, terraform })
      const resolve = yield* resolver({ searchPath: both })
      // OpenTofu is found first, but only Terraform has the required version.
      expect(yield* resolve({ version: "1.11.4" })).toMatchObject({ name: "terraform", version: "1.11.4" })
      expect(yield* resolve({ name: "opentofu", version: "1.9.0" })).toMatchObject({ name: "opentofu" })
      for (const require of [{ version: "1.9.1" }, { name: "terraform", version: "1.9.0" }] as const) {
        const missing = yield* Effect.flip(resolve(require))
        expect([missing._tag, missing.message.includes(require.version)]).toEqual(["ToolMissing", true])
      }
      const pinned = yield* resolver({ searchPath: both, tool: Option.some(`${both}/tofu`) })
      expect((yield* Effect.flip(pinned({ version: "1.11.4" }))).message).toContain("SVC_TOOL names OpenTofu 1.9.0")
    })
  )

  tests.live("a Capsule keeps the kind of tool with which it was created", () =>
    Effect.gen(function* () {
      const both = yield* folder({ tofu, terraform })
      const resolve = yield* resolver({ searchPath: both })
      expect((yield* resolve({ name: "terraform" })).name).toBe("terraform")
      expect((yield* resolve({ name: "opentofu" })).name).toBe("opentofu")
      const pinned = yield* resolver({ searchPath: both, tool: Option.some(`${both}/tofu`) })
      const refused = yield* Effect.flip(pinned({ name: "terraform" }))
      expect(refused).toMatchObject({ _tag: "ToolMissing", remedy: expect.stringContaining("SVC_TOOL") })
      const disguised = yield* folder({ tofu: terraform })
      const missing = yield* Effect.flip((yield* resolver({ searchPath: disguised }))({ name: "opentofu" }))
      expect(missing._tag).toBe("ToolMissing")
    })
  )

  tests.live("the toolchain describes the remedy when no tool is found", () =>
    Effect.gen(function* () {
      const empty = yield* folder({ "not-executable": "" })
      const missing = yield* Effect.flip((yield* resolver({ searchPath: empty }))())
      expect(missing).toMatchObject({
        _tag: "ToolMissing",
        message: "No OpenTofu or Terraform is configured, managed or on PATH."
      })
      expect(missing.remedy).toContain("SVC_TOOL_DOWNLOAD=on")
    })
  )

  const broken = {
    "exits with an error": "#!/bin/sh\nexit 3\n",
    "answers garbage": "#!/bin/sh\necho OpenTofu v1.9.0\n",
    "answers two versions": toolScript("OpenTofu", "1.9.0").replace("OpenTofu v1.9.0", "OpenTofu v1.9.1"),
    "is another program": toolScript("OpenTofu", "1.9.0").replace("OpenTofu v", "Pulumi v"),
    "is too old": toolScript("OpenTofu", "1.5.9"),
    "cannot be started": "#!/nonexistent/interpreter\n"
  }
  for (const [what, script] of Object.entries(broken)) {
    tests.live(`the toolchain does not skip a tool that ${what}`, () =>
      Effect.gen(function* () {
        const searchPath = yield* folder({ tofu: script, terraform })
        const error = yield* Effect.flip((yield* resolver({ searchPath }))())
        expect(error).toMatchObject({ _tag: "ToolBroken", path: `${searchPath}/tofu` })
        expect(error.remedy).not.toBe("")
      })
    )
  }

  tests.live(
    "the toolchain starts a tool in the tool's own folder, because this process may not be allowed to read its own",
    () =>
      Effect.gen(function* () {
        const inOwnFolder = tofu.replace("#!/bin/sh\n", '#!/bin/sh\n[ . -ef "$(dirname "$0")" ] || exit 1\n')
        expect(inOwnFolder).not.toBe(tofu)
        expect((yield* (yield* resolver({ searchPath: yield* folder({ tofu: inOwnFolder }) }))()).version).toBe("1.9.0")
      })
  )

  tests.live("the toolchain rejects a configured path that does not exist", () =>
    Effect.gen(function* () {
      const searchPath = yield* folder({ tofu })
      const error = yield* Effect.flip((yield* resolver({ searchPath, tool: Option.some("/nonexistent/tofu") }))())
      expect(error).toMatchObject({ _tag: "ToolBroken", remedy: "Correct SVC_TOOL." })
    })
  )

  tests.live("a tool is probed once, and again after its file is replaced or the tool fails", () =>
    Effect.gen(function* () {
      const { calls, file, fileSystem, searchPath } = yield* counted
      const install = (script: string) => fileSystem.writeFileString(file, script, { mode: 0o755 })
      const resolve = yield* resolver({ searchPath })
      yield* install("#!/bin/sh\nexit 1\n")
      expect((yield* Effect.flip(resolve()))._tag).toBe("ToolBroken")
      yield* install(toolScript("OpenTofu", "1.9.0", `${searchPath}/calls`))
      yield* Effect.all([resolve(), resolve(), resolve()], { concurrency: "unbounded" })
      yield* resolve({ name: "opentofu" })
      expect(yield* calls).toBe(2)
      yield* fileSystem.remove(file)
      yield* install(`${toolScript("OpenTofu", "1.10.0", `${searchPath}/calls`)}# another size\n`)
      expect((yield* resolve()).version).toBe("1.10.0")
      expect(yield* calls).toBe(4)
    })
  )

  tests.live(
    "all services in a process share one probe of a tool, which is repeated if the file's contents change",
    () =>
      Effect.gen(function* () {
        const { calls, file, fileSystem, searchPath } = yield* counted
        // Replaces the contents of the file, and keeps its size and modification time.
        const install = Effect.fnUntraced(function* (version: string) {
          yield* fileSystem.writeFileString(file, toolScript("OpenTofu", version, `${searchPath}/calls`), {
            mode: 0o755
          })
          yield* fileSystem.utimes(file, 1_700_000_000, 1_700_000_000)
        })
        const versionAtStart = Effect.gen(function* () {
          return (yield* (yield* resolver({ searchPath }))()).version
        })
        yield* install("1.9.0")
        expect([yield* versionAtStart, yield* versionAtStart, yield* calls]).toEqual(["1.9.0", "1.9.0", 2])
        const running = yield* resolver({ searchPath })
        expect((yield* running()).version).toBe("1.9.0")
        yield* install("1.9.1")
        expect((yield* running()).version).toBe("1.9.1")
        expect([yield* versionAtStart, yield* versionAtStart, yield* calls]).toEqual(["1.9.1", "1.9.1", 4])
      })
  )
})

describe("toolchainConfig", () => {
  const load = (env: Record<string, string>) =>
    Effect.runSync(Effect.exit(toolchainConfig.parse(ConfigProvider.fromUnknown(env))))

  test("has defaults", () => {
    const settings = load({ PATH: "/bin" })
    expect(settings).toMatchObject({
      _tag: "Success",
      value: { tool: Option.none(), searchPath: "/bin", download: { value: { version: pinnedVersion } } }
    })
  })

  test("the toolchain fetches the project's own key from the release download site", () => {
    const official = (env: Record<string, string>) => {
      const settings = load(env)
      return settings._tag === "Success" ? Option.getOrThrow(settings.value.download).officialKey : undefined
    }
    const fingerprint = "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80"
    expect(official({})).toEqual({ url: new URL("https://get.opentofu.org/opentofu.asc"), fingerprint })
    for (const mirror of ["https://mirror.example.test/tofu", "https://mirror.example.test/tofu/"]) {
      const url = new URL("https://mirror.example.test/tofu/opentofu.asc")
      expect(official({ SVC_TOOL_MIRROR: mirror })).toEqual({ url, fingerprint })
    }
  })

  test("the toolchain settings can disable the download", () => {
    expect(load({ SVC_TOOL_DOWNLOAD: "off" })).toMatchObject({ value: { download: Option.none() } })
  })

  test("the toolchain rejects untrusted and unreadable settings", () => {
    for (const env of [
      { SVC_TOOL_MIRROR: "https://user:pass@mirror.example.test/" },
      { SVC_TOOL_MIRROR: "file:///etc" },
      { SVC_TOOL_VERSION: "latest" },
      { SVC_TOOL_SHA256: "abc" },
      { SVC_TOOL_DOWNLOAD: "maybe" }
    ]) {
      expect(load(env)._tag).toBe("Failure")
    }
  })
})
