import { afterAll, describe, expect } from "bun:test"
import { Effect, FileSystem, Option, Path, Stream } from "effect"
import { ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { fixtureFolder } from "../runner/scan/ScanFixtures.ts"
import { suite } from "../support/Effect.ts"
import { Binary } from "./support/Binary.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform")
const tests = suite(Binary.layer)
afterAll(tests.dispose)

/** Starts the server in a hostile folder, and returns once it has printed its address. */
const serve = Effect.fnUntraced(function* (folder: string, ...flags: ReadonlyArray<string>) {
  const { command, processOf } = yield* Binary
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const server = yield* spawner.spawn(command(folder, ["serve", "--json", "--listen", "127.0.0.1:0", ...flags]))
  const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
  const told: { readonly url: string; readonly operatorUrl?: string } = JSON.parse(Option.getOrThrow(line))
  return { server, ...told, pid: yield* processOf(server.pid) }
})

const get = (url: string, init?: RequestInit) => Effect.promise(() => fetch(url, init))

describe("Binary in isolation", () => {
  tests.live("the binary prints its version", () =>
    Effect.gen(function* () {
      const { foreignFolder, run, wasSteered } = yield* Binary
      const folder = yield* foreignFolder
      const { code, stdout } = yield* run(folder, "version", "--json")
      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
      expect(yield* wasSteered(folder)).toBe(false)
    })
  )

  tests.live("the binary prints the commit that it was built from, and its platform", () =>
    Effect.gen(function* () {
      const { builtFrom, foreignFolder, run } = yield* Binary
      const folder = yield* foreignFolder
      const { stdout } = yield* run(folder, "version", "--json")
      const { commit, platform } = JSON.parse(stdout)
      expect([commit, platform]).toEqual([builtFrom, `${process.platform}-${process.arch}`])
      const text = (yield* run(folder, "version")).stdout
      expect(text).toContain(
        builtFrom === undefined ? `(${platform}` : `(commit ${builtFrom.slice(0, 12)}, ${platform}`
      )
    })
  )

  tests.live("the binary serves its documentation: a page, an asset and the index of the search", () =>
    Effect.gen(function* () {
      const { foreignFolder } = yield* Binary
      const { url } = yield* serve(yield* foreignFolder)
      const read = Effect.fnUntraced(function* (path: string) {
        const response = yield* get(`${url}${path}`)
        const text = yield* Effect.promise(() => response.text())
        return { status: response.status, type: response.headers.get("content-type"), text }
      })
      const first = yield* read("/docs/")
      expect([first.status, first.type]).toEqual([200, "text/html; charset=utf-8"])
      const [, entry = ""] = /<script type="module" src="([^"]+)"/.exec(first.text) ?? []
      expect(yield* read(entry)).toMatchObject({ status: 200, type: "text/javascript; charset=utf-8" })
      const quickstart = yield* read("/docs/quickstart")
      expect([quickstart.status, quickstart.text.includes("svc is ready at")]).toEqual([200, true])
      // Every page names the styles, scripts and pages that it needs, and the server has them.
      const named = [...quickstart.text.matchAll(/(?:src|href)="(\/docs\/[^"#]*)/g)].map(([, path = ""]) => path)
      expect(named.length).toBeGreaterThan(50)
      for (const path of new Set(named)) expect([path, (yield* read(path)).status]).toEqual([path, 200])
      // The theme loads the search, which loads its index.
      const [theme = ""] = named.filter((path) => path.includes("/theme."))
      const [search = ""] = /[\w./-]*VPLocalSearchBox[\w.-]*\.js/.exec((yield* read(theme)).text) ?? []
      const [index = ""] =
        /[\w./@-]*localSearchIndexroot[\w.-]*\.js/.exec(
          (yield* read(`/docs/assets/chunks/${search.split("/").at(-1)}`)).text
        ) ?? []
      const words = yield* read(`/docs/assets/chunks/${index.split("/").at(-1)}`)
      expect([words.status, words.text.includes("quickstart")]).toEqual([200, true])
      expect((yield* read("/docs/nothing")).status).toBe(404)
    })
  )

  tests.live("the documentation takes less than 2 MB of the binary", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      yield* Binary
      const archive = fileURLToPath(new URL("../../dist/build/Docs.br", import.meta.url))
      const { size } = yield* files.stat(archive)
      expect(Number(size)).toBeGreaterThan(500_000)
      expect(Number(size)).toBeLessThan(2 * 1024 * 1024)
    })
  )

  tests.live("the binary prints the licences of its components, and the same texts are shipped with the binary", () =>
    Effect.gen(function* () {
      const { foreignFolder, installed, run, wasSteered } = yield* Binary
      const folder = yield* foreignFolder
      const { code, stdout } = yield* run(folder, "licenses", "--json")
      expect(code).toBe(0)
      const { components, product } = JSON.parse(stdout)
      expect(product).toMatchObject({ name: "svc", license: "Apache-2.0" })
      const names = components.map(({ name }: { readonly name: string }) => name)
      expect(names).toContain("effect")
      expect(names).toContain("JavaScriptCore and WebKit, in Bun")
      expect(names).not.toContain("openpgp")
      const beside = yield* (yield* FileSystem.FileSystem).readFileString(`${installed}/THIRD-PARTY-LICENSES.txt`)
      for (const { texts } of components) for (const { text } of texts) expect(beside).toContain(text.trim())
      expect((yield* run(folder, "licenses")).stdout).toContain("Apache License")
      expect(yield* wasSteered(folder)).toBe(false)
    })
  )

  tests.live("the binary prints completions for each shell", () =>
    Effect.gen(function* () {
      const { foreignFolder, run } = yield* Binary
      const folder = yield* foreignFolder
      for (const shell of ["bash", "zsh", "fish"]) {
        const { code, stdout } = yield* run(folder, "completion", shell)
        expect([code, stdout]).toEqual([0, expect.stringContaining("__complete")])
      }
      const { stdout } = yield* run(folder, "__complete", "--", "admin", "rotate")
      expect(stdout).toStartWith("rotate-keys\t")
    })
  )

  tests.live("the binary's doctor command checks the machine with the settings that the server would use", () =>
    Effect.gen(function* () {
      const { foreignFolder, run, wasSteered } = yield* Binary
      const folder = yield* foreignFolder
      const { stdout } = yield* run(folder, "doctor", "--json", "--data-dir", "own-data")
      const { findings } = JSON.parse(stdout)
      const failed = findings.filter(
        ({ check, status }: Record<string, string>) => check !== "tool" && status === "error"
      )
      expect(findings.length).toBeGreaterThanOrEqual(6)
      expect(failed).toEqual([])
      const files = yield* FileSystem.FileSystem
      expect(yield* files.exists(`${folder}/own-data`)).toBe(false)
      expect(yield* wasSteered(folder)).toBe(false)
    })
  )

  tests.live("the binary scans a module with its embedded parser", () =>
    Effect.gen(function* () {
      const { foreignFolder, run, wasSteered } = yield* Binary
      const files = yield* FileSystem.FileSystem
      const folder = yield* foreignFolder
      yield* files.copy(`${fixtureFolder}/landing`, `${folder}/landing`)
      const { code, stdout } = yield* run(folder, "scan", "landing", "--json")
      expect(code).toBe(0)
      const [module] = JSON.parse(stdout).modules
      expect(module.providerPackages).toHaveLength(4)
      expect(yield* wasSteered(folder)).toBe(false)
    })
  )

  tests.live("the binary serves the API, the dashboard and metrics, and drains on SIGTERM", () =>
    Effect.gen(function* () {
      const { foreignFolder, wasSteered } = yield* Binary
      const folder = yield* foreignFolder
      const { pid, server, url } = yield* serve(folder)
      expect((yield* get(`${url}/readyz`)).status).toBe(200)
      const discovery = yield* Effect.promise(() => fetch(`${url}/.well-known/svc`).then((answer) => answer.json()))
      expect(discovery).toMatchObject({ product: "svc", name: "svc" })
      const page = yield* get(`${url}/sign-in`, { headers: { "accept-encoding": "br" } })
      expect(page.headers.get("content-encoding")).toBe("br")
      const html = yield* Effect.promise(() => page.text())
      const scripts = [...html.matchAll(/src="(\/assets\/[^"]+\.js)"/g)].flatMap(([, path]) => path ?? [])
      expect(scripts.length).toBeGreaterThan(0)
      for (const path of scripts) {
        const script = yield* get(`${url}${path}`)
        expect(script.status).toBe(200)
        expect(script.headers.get("cache-control")).toContain("immutable")
      }
      expect(yield* wasSteered(folder)).toBe(false)
      process.kill(pid, "SIGTERM")
      expect(Number(yield* server.exitCode)).toBe(0)
    })
  )

  tests.live("the binary accepts an operator's commands while its server is running", () =>
    Effect.gen(function* () {
      const { foreignFolder, run } = yield* Binary
      const folder = yield* foreignFolder
      const { url } = yield* serve(folder)
      const link = yield* run(folder, "admin", "setup-link", "--json")
      expect(link.stderr).toBe("")
      expect(JSON.parse(link.stdout).setupLink).toStartWith(`${url}/setup#`)
      const backup = yield* run(folder, "backup", "copy.sqlite", "--json")
      expect([backup.code, backup.stderr]).toEqual([0, ""])
      const { findings } = JSON.parse((yield* run(folder, "doctor", "--json")).stdout)
      const server = findings.find(({ check }: Record<string, string>) => check === "server")
      expect(server.message).toMatch(/^A server is running on this folder since .*, process \d+\.$/)
      const second = yield* run(folder, "serve", "--listen", "127.0.0.1:0")
      expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("already uses the data folder")])
    })
  )

  tests.live("the binary exposes /metrics, /healthz and /readyz to the operator on a separate address", () =>
    Effect.gen(function* () {
      const { foreignFolder } = yield* Binary
      const { operatorUrl: operator, url } = yield* serve(yield* foreignFolder, "--operator-listen", "127.0.0.1:0")
      yield* get(`${url}/readyz`)
      const answer = yield* get(`${operator}/metrics`)
      expect(yield* Effect.promise(() => answer.text())).toContain("svc_http_requests_total")
      expect((yield* get(`${operator}/healthz`)).status).toBe(200)
      expect((yield* get(`${operator}/readyz`)).status).toBe(200)
    })
  )
})

describe.skipIf(tool === null)("Binary: main job", () => {
  tests.live("the binary runs the demo without access to the source repository", () =>
    Effect.gen(function* () {
      const { foreignFolder, run, wasSteered } = yield* Binary
      const folder = yield* foreignFolder
      const { code, stderr, stdout } = yield* run(folder, "demo", "--json")
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      expect(stdout).toContain('"Done')
      expect(yield* wasSteered(folder)).toBe(false)
    })
  )

  const anyone = ["setpriv", "--reuid=61001", "--regid=61001", "--clear-groups", "--"]
  for (const [level, expected] of [
    ["namespaces", []],
    ["user_landlock", ["see the command line of another process"]],
    [
      "landlock",
      [
        "see the command line of another process",
        "change the mode of the master key",
        "change the times of the master key"
      ]
    ]
  ] as const)
    tests.live(`the binary confines module code at level ${level} if the machine supports that level`, () =>
      Effect.gen(function* () {
        const { program } = yield* Binary
        const files = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        yield* files.chmod(path.dirname(program), 0o755)
        const user = level === "landlock" && process.getuid?.() === 0 ? anyone : []
        const harness = new URL("../runner/sandbox/support/LevelProcess.ts", import.meta.url).pathname
        const child = Bun.spawn([...user, process.execPath, harness, level, "none", program], {
          stdio: ["ignore", "pipe", "inherit"],
          env: { PATH: "/usr/bin:/bin" }
        })
        const answer = JSON.parse(yield* Effect.promise(() => new Response(child.stdout).text()))
        if (!answer.status.accepted) return
        expect(answer).toMatchObject({ said: "", end: { _tag: "exited", code: 0 }, could: [...expected] })
      })
    )
})
