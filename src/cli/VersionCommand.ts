import { Command } from "effect/cli"
import { version } from "../Version.ts"
import { jsonFlag, print } from "./Output.ts"

export const versionCommand = Command.make("version", { json: jsonFlag }, ({ json }) =>
  print(json, { name: "svc", version, runtime: `bun ${Bun.version}` }, `svc ${version} (bun ${Bun.version})`)
).pipe(Command.withDescription("Print the version of this release"))
