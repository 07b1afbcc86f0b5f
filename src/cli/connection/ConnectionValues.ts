import { Config, Effect, FileSystem, Option, Path, Schema } from "effect"
import { Flag } from "effect/cli"
import { CommandFailed, misuse } from "../Output.ts"
import { inputText } from "../remote/InputText.ts"
import { anyNumber } from "../ValueFlags.ts"

const names = (name: string, description: string, metavar: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), anyNumber)

/**
 * Flags for the values of a Connection. Values are never passed as arguments, because other users of the machine can read
 * arguments.
 */
export const valueFlags = {
  env: names("env", "Read this variable from the environment of the command; may be repeated", "name"),
  values: Flag.optional(
    Flag.String("values").pipe(
      Flag.withDescription("File with the values, as one JSON object of strings; - for standard input"),
      Flag.withMetavar("path")
    )
  ),
  file: names(
    "file",
    "A credential file and its name in Runs; with =VARIABLE at the end, that variable contains its path; may be repeated",
    "name=path"
  )
}

export interface ValueFlags {
  readonly env: ReadonlyArray<string>
  readonly values: Option.Option<string>
  readonly file: ReadonlyArray<string>
}

const decodeValues = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

const fromEnvironment = Effect.fnUntraced(function* (name: string) {
  const value = yield* Config.option(Config.String(name))
  if (Option.isSome(value) && value.value !== "") return [name, value.value] as const
  return yield* new CommandFailed({
    ...misuse,
    message: `--env ${name}: the environment of this command has no such variable.`
  })
})

const fromFile = (file: string) =>
  Effect.flatMap(inputText(file), (text) =>
    Effect.mapError(
      decodeValues(text),
      () =>
        new CommandFailed({
          ...misuse,
          message: `--values ${file}: expected one JSON object with a string for each variable.`
        })
    )
  )

const credentialFile = Effect.fnUntraced(function* (text: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const [name = "", place = "", envName] = text.split("=")
  const refused = (why: string) => new CommandFailed({ ...misuse, message: `--file ${name}: ${why}` })
  if (name === "" || place === "") return yield* refused("expected NAME=PATH, or NAME=PATH=VARIABLE.")
  const content = yield* files
    .readFileString(place)
    .pipe(Effect.mapError(() => refused(`${path.basename(place)} cannot be read.`)))
  return { name, content, ...(envName === undefined ? {} : { envName }) }
})

/** Reads the values and files that the flags refer to. */
export const givenValues = Effect.fn("givenValues")(function* ({ env, file, values }: ValueFlags) {
  const named = Object.fromEntries(yield* Effect.forEach(env, fromEnvironment))
  const all = { ...(Option.isSome(values) ? yield* fromFile(values.value) : {}), ...named }
  const files = yield* Effect.forEach(file, credentialFile)
  return {
    ...(Object.keys(all).length === 0 ? {} : { values: all }),
    ...(files.length === 0 ? {} : { files })
  }
})
