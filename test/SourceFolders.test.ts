import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"

const room = join(dirname(import.meta.dir), "src")

/**
 * The folders of `src` and its top-level files, lowest first, each with its purpose. A file imports only from its own folder and
 * from entries listed before it.
 */
const order: ReadonlyArray<readonly [name: string, purpose: string]> = [
  ["Version.ts", "the version of this release"],
  ["PackageScope.ts", "the scope of the npm packages"],
  ["ReleaseRisk.ts", "the warning before a Run is released from its agent"],
  ["client", "the client of the API, for browsers and Node"],
  ["dashboard", "the dashboard, and its build"],
  ["licenses", "licences of the packages in a binary"],
  ["streams", "live streams to subscribers"],
  ["http-kit", "the base of every route: settings, exchange, access, bodies, errors, descriptions"],
  ["settings", "settings of the server, of agents and of the client"],
  ["mail", "the connection to the mail server"],
  ["database", "SQLite and PostgreSQL: connections, data folder, migrations, backups, restore"],
  ["backup", "scheduled backups"],
  ["accounts", "routes and pages of sign-in, accounts and the OIDC issuer"],
  ["http", "the routes of the API, and the server that serves them"],
  ["observability", "metrics, traces, logs, and the operator's listener"],
  ["agent", "the agent program"],
  ["composition", "parts of the control plane, built from its settings"],
  ["operator", "commands of the operator, and their socket"],
  ["Composition.ts", "the whole control plane"],
  ["embedding", "the control plane inside a host's process"],
  ["cli", "the command line"],
  ["testing", "a control plane for tests of a host"]
]

const names = order.map(([name]) => name)

/** Returns the entry that contains a file. Programs and `index.ts` in `src` have no entry and may import every folder. */
const entryOf = (path: string): string => path.split("/")[0] ?? ""
const heightOf = (path: string): number => {
  const height = names.indexOf(entryOf(path))
  return height === -1 && !path.includes("/") ? order.length : height
}

const files = readdirSync(room, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path))

const imports = files.flatMap((file) =>
  [...readFileSync(join(room, file), "utf8").matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"'\n]+)["']/g)].flatMap(
    ([, specifier = ""]) => {
      const target = relative(room, normalize(join(room, dirname(file), specifier)))
      return target.startsWith("..") ? [] : [{ file, target }]
    }
  )
)

const upward = (all: typeof imports): ReadonlyArray<string> =>
  all
    .filter(({ file, target }) => heightOf(target) === -1 || heightOf(target) > heightOf(file))
    .map(({ file, target }) => `src/${file} -> src/${target}`)

describe("Source folders", () => {
  test("the folders in src/ match the list", () => {
    const folders = readdirSync(room, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.map(({ name }) => name).toSorted()).toEqual(names.filter((name) => !name.endsWith(".ts")).toSorted())
    expect(names.filter((name) => name.endsWith(".ts") && !files.includes(name))).toEqual([])
    expect(imports.length).toBeGreaterThan(500)
  })

  test("the folders in src/ import only from folders listed before them", () => {
    expect(upward(imports)).toEqual([])
  })

  test("an import from a later folder in src/ is detected", () => {
    expect(
      upward([
        { file: "accounts/A.ts", target: "http/B.ts" },
        { file: "cli/A.ts", target: "Main.ts" },
        { file: "http/A.ts", target: "misplaced/B.ts" },
        { file: "http/A.ts", target: "accounts/B.ts" }
      ])
    ).toHaveLength(3)
  })
})
