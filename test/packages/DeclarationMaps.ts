import { SourceMap } from "node:module"
import { Effect, FileSystem, Path, Schema } from "effect"
import { StepFailed } from "./Project.ts"

const decodeMap = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.Struct({
      version: Schema.Number,
      file: Schema.String,
      sourceRoot: Schema.String,
      names: Schema.mutable(Schema.Array(Schema.String)),
      mappings: Schema.String,
      sources: Schema.mutable(Schema.Array(Schema.String))
    })
  )
)

const exported = /^export declare (?:const|class|function) (\w+)/

/** Checks that each declaration map of the installed packages points to the source line that declares the same name. */
export const declarationsHaveSources = Effect.fn("declarationsHaveSources")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  let checked = 0
  for (const name of ["schema", "client", "server"]) {
    const own = path.join(folder, "node_modules/@svc-dev", name)
    const names = (yield* files.readDirectory(own, { recursive: true })).filter((each) => each.endsWith(".d.ts"))
    for (const each of names) {
      const at = path.join(own, each)
      const { sources, ...map } = yield* decodeMap(yield* files.readFileString(`${at}.map`))
      const source = path.resolve(path.dirname(at), sources[0] ?? "")
      const lines = (yield* files.readFileString(source)).split("\n")
      const found = new SourceMap({ ...map, sources, sourcesContent: [] })
      for (const [line, text] of (yield* files.readFileString(at)).split("\n").entries()) {
        const declared = exported.exec(text)?.[1]
        if (declared === undefined) continue
        const entry = found.findEntry(line, text.indexOf(declared))
        const original = "originalLine" in entry ? (lines[entry.originalLine] ?? "") : ""
        if (!original.includes(declared)) {
          return yield* new StepFailed({ message: `${name}/${each}: ${declared} leads to "${original}" in ${source}.` })
        }
        checked += 1
      }
    }
  }
  if (checked < 500) return yield* new StepFailed({ message: `Only ${checked} declarations were found.` })
})
