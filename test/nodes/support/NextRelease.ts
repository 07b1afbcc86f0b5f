import { readFileSync } from "node:fs"
import manifest from "../../../package.json" with { type: "json" }
import { serverBinaryWith } from "../../crash/ServerBinary.ts"

const [major, minor] = manifest.version.split(".").map(Number)

/** The next minor version. */
export const nextRelease = `${major}.${(minor ?? 0) + 1}.0`

/** The number of the next release's migration, which follows all others. */
export const nextMigration = 9000

/**
 * A migration as a release may have it: columns in the tables that every Run changes, an index over one of them, and a table. Nothing
 * in it is required of a server that does not know it.
 */
const additions = [
  "ALTER TABLE runs ADD COLUMN of_next_release TEXT",
  "ALTER TABLE agent_runs ADD COLUMN of_next_release INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE connections ADD COLUMN of_next_release TEXT",
  "ALTER TABLE nodes ADD COLUMN of_next_release TEXT",
  "CREATE INDEX runs_of_next_release ON runs (of_next_release, workspace_id)",
  "CREATE TABLE next_release (id TEXT PRIMARY KEY, run_id TEXT REFERENCES runs (id))"
]

const replaced = (path: string, from: string, to: string) => {
  const text = readFileSync(path, "utf8")
  if (!text.includes(from)) throw new Error(`${path} has no ${from} any more`)
  return text.replace(from, to)
}

/** The present sources with the next version and its migration. */
const plugin: Bun.BunPlugin = {
  name: "next-release",
  setup: (build) => {
    build.onLoad({ filter: /\/src\/Version\.ts$/ }, ({ path }) => ({
      contents: replaced(path, "manifest.version", JSON.stringify(nextRelease)),
      loader: "ts"
    }))
    build.onLoad({ filter: /\/src\/database\/Migrations\.ts$/ }, ({ path }) => ({
      contents: replaced(
        path,
        `"0001_initial": initialTables,`,
        `"0001_initial": initialTables, "${nextMigration}_next_release": ${JSON.stringify(additions)},`
      ),
      loader: "ts"
    }))
  }
}

/**
 * Builds the server of the next release. The present build is then the earlier release. All statements of the two are the same; they
 * differ in the version and in the tables.
 */
export const nextReleaseBinary = serverBinaryWith([plugin])
