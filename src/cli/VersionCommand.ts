import { Command } from "effect/cli"
import { version } from "../Version.ts"
import { jsonFlag, print } from "./Output.ts"

const runtime = process.versions.bun === undefined ? `node ${process.versions.node}` : `bun ${process.versions.bun}`

export const versionCommand = Command.make("version", { json: jsonFlag }, ({ json }) =>
  print(json, { name: "svc", version, runtime }, `svc ${version} (${runtime})`)
).pipe(Command.withDescription("Print the version of this release"))
