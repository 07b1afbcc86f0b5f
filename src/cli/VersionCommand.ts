import { Command } from "effect/cli"
import { builtFrom } from "../BuiltFrom.ts"
import { version } from "../Version.ts"
import { jsonFlag, print } from "./Output.ts"

const runtime = process.versions.bun === undefined ? `node ${process.versions.node}` : `bun ${process.versions.bun}`
const platform = `${process.platform}-${process.arch}`

const known = builtFrom === undefined ? {} : { commit: builtFrom }
const shown = [...(builtFrom === undefined ? [] : [`commit ${builtFrom.slice(0, 12)}`]), platform, runtime].join(", ")

export const versionCommand = Command.make("version", { json: jsonFlag }, ({ json }) =>
  print(json, { name: "svc", version, ...known, platform, runtime }, `svc ${version} (${shown})`)
).pipe(Command.withDescription("Print the version of this release, its commit and the platform"))
