import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { dirname, join, normalize, relative } from "node:path"
import { importCycles } from "./support/ImportCycles.ts"

const root = dirname(import.meta.dir)
const rooms = ["schema", "runner", "actors", "src"] as const
type Room = (typeof rooms)[number]

const maxLines = 600
const forbiddenNames = new Set(["utils", "util", "helpers", "helper", "common", "misc", "shared", "lib"])
// Word lists have no line limit, because readers search them for a single word.
const isDictionary = (path: string) => path.startsWith("src/dashboard/words/") || path.endsWith("/Words.ts")

/**
 * The library's files that use Bun, each with a counterpart for Node. The sandbox makes its system calls in a Bun process started
 * for that purpose. All other files run on both Bun and Node.
 */
const bunPorts = [
  "actors/access/account/PasswordHashing.ts",
  "runner/execution/CollectedGarbage.ts",
  "runner/sandbox/confinement/LinuxCalls.ts",
  "runner/sandbox/confinement/Supervisor.ts",
  "runner/thread/WorkerLocation.ts",
  "src/http/BunServer.ts",
  "src/http/HttpListener.ts"
]
/** Code outside the library: the compiled binary, and the programs of a checkout or a build that run before the binary. */
const ofBunAlone = [
  "runner/scan/EmbeddedHclWorker.ts",
  "src/BinaryMain.ts",
  "src/LongRunningProcess.ts",
  "src/dashboard/Build.ts",
  "src/licenses/BundledPackages.ts",
  "src/licenses/CollectLicenses.ts"
]

interface SourceFile {
  readonly path: string
  readonly room: Room
  readonly text: string
}

const isSource = (path: string) => /\.tsx?$/.test(path) && !path.endsWith(".d.ts")

const files: ReadonlyArray<SourceFile> = rooms.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
    .filter(isSource)
    .map((name) => ({ path: join(room, name), room, text: readFileSync(join(root, room, name), "utf8") }))
)

const specifiers = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\n]+)["']/g)].flatMap(([, specifier]) =>
    specifier === undefined ? [] : [specifier]
  )

const roomOf = (path: string): Room | undefined => rooms.find((room) => path === room || path.startsWith(`${room}/`))

const imports = files.flatMap((file) =>
  specifiers(file.text).map((specifier) => ({
    file,
    specifier,
    target: specifier.startsWith(".") ? normalize(join(dirname(file.path), specifier)) : undefined
  }))
)

describe("Code rooms", () => {
  test("the architecture check finds source files", () => {
    expect(files.length).toBeGreaterThan(200)
    expect(imports.length).toBeGreaterThan(1000)
  })

  test("imports point in one direction only: schema <- runner <- actors <- src", () => {
    const wrong = imports.filter(({ file, target }) => {
      const reached = target === undefined ? undefined : roomOf(target)
      return reached !== undefined && rooms.indexOf(reached) > rooms.indexOf(file.room)
    })
    expect(wrong.map(({ file, specifier }) => `${file.path} -> ${specifier}`)).toEqual([])
  })

  /** Returns the files that an entry point loads, directly or indirectly. */
  const loadedBy = (entry: string): ReadonlySet<string> => {
    const reached = new Set<string>()
    const visit = (path: string): void => {
      if (reached.has(path)) return
      reached.add(path)
      const text = files.find((file) => file.path === path)?.text ?? ""
      for (const specifier of specifiers(text.replace(/^import type .*$/gm, "")))
        if (specifier.startsWith(".")) visit(normalize(join(dirname(path), specifier)))
    }
    visit(entry)
    return reached
  }

  test("client commands and scripts load the client but no service code", () => {
    const reached = loadedBy("src/ClientMain.ts")
    expect(reached.size).toBeGreaterThan(100)
    const pureViews = /^src\/dashboard\/(?:value-difference\/|screens\/run\/PlanDiff\.ts|api\/Types\.ts)/
    const service = [...reached].filter(
      (path) =>
        /^(?:actors|runner|src\/(?:database|accounts|backup|metrics|operator))\//.test(path) ||
        (path.startsWith("src/dashboard/") && !pureViews.test(path))
    )
    expect(service).toEqual([])
  })

  test("the library uses Bun only in the listed files, so that it also runs on Node", () => {
    const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
    const foreign = files.filter(
      ({ text }) =>
        /\bBun\b\s*[.[]|typeof Bun\b|import\.meta\.(?:dir|path|file|main)\b/.test(withoutComments(text)) ||
        specifiers(text).some((specifier) => /^bun(?::|$)/.test(specifier)) ||
        /with \{ type: "file" \}/.test(text)
    )
    expect(foreign.map(({ path }) => path).toSorted()).toEqual([...bunPorts, ...ofBunAlone].toSorted())
  })

  test("the library imports platform modules individually, because the index of their package loads a Redis client", () => {
    const all = imports.filter(({ specifier }) => specifier === "@effect/platform-node")
    expect(all.map(({ file }) => file.path)).toEqual([])
  })

  test("an agent loads the runner, but none of the database, actor or HTTP server code", () => {
    for (const entry of ["src/AgentMain.ts", "src/AgentBinaryMain.ts"]) {
      const reached = loadedBy(entry)
      expect([...reached].filter((path) => path.startsWith("runner/")).length).toBeGreaterThan(50)
      const service = [...reached].filter((path) =>
        /^(?:actors|src\/(?:accounts|backup|client|dashboard|database|http|http-kit|mail|operator|streams))\//.test(
          path
        )
      )
      expect(service).toEqual([])
    }
  })

  test("the product imports nothing from tests, scripts or examples", () => {
    const outside = imports.filter(
      ({ target }) => target !== undefined && roomOf(target) === undefined && target !== "package.json"
    )
    expect(outside.map(({ file, specifier }) => `${file.path} -> ${specifier}`)).toEqual([])
  })

  test("schema is pure and imports only effect", () => {
    const impure = imports.filter(
      ({ file, specifier, target }) =>
        file.room === "schema" && target === undefined && !/^effect(?:\/|$)/.test(specifier)
    )
    expect(impure.map(({ file, specifier }) => `${file.path} -> ${specifier}`)).toEqual([])
  })

  test("the client is safe for browsers and imports only schema and effect", () => {
    const foreign = imports.filter(
      ({ file, specifier, target }) =>
        file.path.startsWith("src/client/") &&
        !/^effect(?:\/|$)/.test(specifier) &&
        !(target !== undefined && (target.startsWith("schema/") || target.startsWith("src/client/")))
    )
    expect(foreign.map(({ file, specifier }) => `${file.path} -> ${specifier}`)).toEqual([])
    const builtins = imports.filter(
      ({ file, specifier }) =>
        file.path.startsWith("src/client/") && (specifier.startsWith("node:") || builtinModules.includes(specifier))
    )
    expect(builtins).toEqual([])
  })

  test("the runner imports neither the database nor the HTTP server", () => {
    const wrong = imports.filter(
      ({ file, specifier }) =>
        file.room === "runner" && /^(?:effect\/sql|effect\/http-api|effect\/cluster|node:sqlite)/.test(specifier)
    )
    expect(wrong.map(({ file, specifier }) => `${file.path} -> ${specifier}`)).toEqual([])
  })

  test("the code has no import cycles, not even among types", () => {
    const within = imports.flatMap(({ file, target }) => (target === undefined ? [] : [{ file: file.path, target }]))
    expect(importCycles(within)).toEqual([])
  })

  test("the check detects long import cycles, and files that import themselves", () => {
    const arrows = (text: string) =>
      text.split(" ").map((arrow) => ({ file: arrow.charAt(0), target: arrow.charAt(1) }))
    expect(importCycles(arrows("ab bc ad dc"))).toEqual([])
    expect(importCycles(arrows("ab bc ca cd"))).toEqual([["a", "b", "c"]])
    expect(importCycles(arrows("ab bb cd dc"))).toEqual([["b"], ["c", "d"]])
  })

  test("every relative import has an extension", () => {
    const bare = imports.filter(
      ({ specifier }) => specifier.startsWith(".") && !/\.[a-z0-9]+(?:\?.*)?$/.test(specifier)
    )
    expect(bare.map(({ file, specifier }) => `${file.path} -> ${specifier}`)).toEqual([])
  })

  test("no folder or file has a catch-all name such as utils or helpers", () => {
    const drawers = files.filter(
      ({ path }) =>
        !isDictionary(path) &&
        path.split("/").some((part) => forbiddenNames.has(part.replace(/\.tsx?$/, "").toLowerCase()))
    )
    expect(drawers.map(({ path }) => path)).toEqual([])
  })

  test(`files have at most ${maxLines} lines`, () => {
    const long = files
      .filter(({ path }) => !isDictionary(path))
      .map(({ path, text }) => ({ path, lines: text.split("\n").length }))
      .filter(({ lines }) => lines > maxLines)
    expect(long).toEqual([])
  })

  test("folders have kebab-case names, and files are named after their exports", () => {
    const odd = files
      .map(({ path }) => relative(root, join(root, path)).split("/"))
      .filter((parts) => {
        const name = parts.at(-1)?.replace(/\.tsx?$/, "") ?? ""
        const folders = parts.slice(0, -1)
        return (
          !folders.every((folder) => /^[a-z][a-z0-9-]*$/.test(folder)) || !(/^[A-Z]/.test(name) || name === "index")
        )
      })
    expect(odd.map((parts) => parts.join("/"))).toEqual([])
  })

  test("each service key begins with the folder of its file", () => {
    const keys = files.flatMap(({ path, text }) =>
      [...text.matchAll(/"svc\/((?:[A-Za-z0-9-]+\/)*)[A-Z]\w*"/g)].flatMap(([key, folder]) =>
        text.includes(`brand(${key})`) ? [] : [{ path, key, folder }]
      )
    )
    expect(keys.length).toBeGreaterThan(300)
    expect(keys.filter(({ path, folder }) => folder !== `${dirname(path)}/`)).toEqual([])
  })
})
