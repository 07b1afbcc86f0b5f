import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { folderTree } from "../../runner/scan/FolderTree.ts"
import { ModuleScanner } from "../../runner/scan/ModuleScanner.ts"
import { ScannedModule } from "../../runner/scan/ScannedModule.ts"
import { ToolIdentity } from "../../schema/records/Run.ts"
import { jsonFlag, print, refused } from "./Output.ts"

const ScanReport = Schema.Struct({ modules: Schema.Array(ScannedModule) })
const encodeReport = Schema.encodeEffect(ScanReport)

const describe = (module: ScannedModule): string =>
  [
    `${module.path}: ${module.status}`,
    ...module.variables.map(
      (variable) => `  variable ${variable.name}: ${variable.type}${variable.required ? ", required" : ""}`
    ),
    ...module.outputs.map((output) => `  output ${output.name}${output.sensitive ? " (sensitive)" : ""}`),
    ...module.providerPackages.map((provider) => `  provider ${provider.source}`),
    ...module.findings.map(({ code, line, message, path, severity }) => {
      const place = path === undefined ? "" : ` (${path}${line === undefined ? "" : `:${line}`})`
      return `  ${severity}: ${message}${place} [${code}]`
    })
  ].join("\n")

export const scanCommand = Command.make(
  "scan",
  {
    folder: Argument.Directory("dir", { mustExist: true }).pipe(Argument.withDescription("Folder to scan")),
    module: Flag.optional(
      Flag.String("module").pipe(
        Flag.withDescription("Only this module, as a path inside the folder; . for its root"),
        Flag.withMetavar("path")
      )
    ),
    tool: Flag.Literals("tool", ToolIdentity.fields.name.literals).pipe(
      Flag.withDescription("Read the files that this tool reads; default: opentofu"),
      Flag.withDefault("opentofu")
    ),
    json: jsonFlag
  },
  Effect.fn("scan")(function* ({ folder, json, module, tool }) {
    const tree = yield* folderTree(folder)
    const modules = yield* Effect.gen(function* () {
      const scanner = yield* ModuleScanner
      return Option.isSome(module)
        ? [yield* scanner.scanModule(tree, module.value, tool)]
        : (yield* scanner.scanTree(tree, tool)).modules
    }).pipe(Effect.provide(ModuleScanner.layer))
    yield* print(
      json,
      yield* Effect.orDie(encodeReport({ modules })),
      modules.map(describe).join("\n") || "No module found."
    )
    if (modules.length === 0) return yield* refused("The folder contains no module.")
    const unsupported = modules.filter(({ status }) => status === "unsupported")
    if (unsupported.length > 0) return yield* refused(`Unsupported: ${unsupported.map(({ path }) => path).join(", ")}`)
  })
).pipe(Command.withDescription("Scan a folder as the service does; exits with 1 if a module is unsupported"))
