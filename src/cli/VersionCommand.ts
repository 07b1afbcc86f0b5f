import { Command } from "effect/cli"
import { newestKnown } from "../database/Migrations.ts"
import { version } from "../Version.ts"
import { jsonFlag, print } from "./Output.ts"

/** When a binary is built, this value is replaced with the commit. */
declare const SVC_BUILT_FROM: string | undefined

const given = typeof SVC_BUILT_FROM === "string" ? SVC_BUILT_FROM : ""

/**
 * The commit from which a binary was built. It is absent in a checkout, and also in a binary that was built without Git or
 * from uncommitted changes.
 */
const builtFrom: string | undefined = given === "" ? undefined : given

const runtime = process.versions.bun === undefined ? `node ${process.versions.node}` : `bun ${process.versions.bun}`
const platform = `${process.platform}-${process.arch}`

const known = builtFrom === undefined ? {} : { commit: builtFrom }
const tables = `tables ${newestKnown}`
const shown = [
  ...(builtFrom === undefined ? [] : [`commit ${builtFrom.slice(0, 12)}`]),
  platform,
  runtime,
  tables
].join(", ")

export const versionCommand = Command.make("version", { json: jsonFlag }, ({ json }) =>
  print(json, { name: "svc", version, ...known, tables: newestKnown, platform, runtime }, `svc ${version} (${shown})`)
).pipe(
  Command.withDescription("Print the version of this release, its commit, the version of its tables, and the platform")
)
