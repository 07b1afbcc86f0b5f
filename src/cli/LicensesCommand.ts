import { Effect } from "effect"
import { Command } from "effect/cli"
import { reportText } from "../licenses/LicenseReport.ts"
import { licenses } from "../licenses/Licenses.ts"
import { jsonFlag, print } from "./Output.ts"

export const licensesCommand = Command.make("licenses", { json: jsonFlag }, ({ json }) =>
  Effect.flatMap(licenses, (report) => print(json, report, reportText(report)))
).pipe(Command.withDescription("Print the licence of svc and of every third-party component, with their texts"))
