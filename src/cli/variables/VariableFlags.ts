import { Effect, Option, Redacted, Result, Schema } from "effect"
import { Flag, Prompt, TerminalCapabilities } from "effect/cli"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import { CommandFailed, misuse } from "../Output.ts"
import { inputText, refuseRoundedNumbers } from "../remote/InputText.ts"
import { nearest } from "../remote/Nearest.ts"
import { anyNumber } from "../ValueFlags.ts"
import { isTakenAsText, ofJson, typedValue } from "./TypedValue.ts"
import { type FileValue, readValue, readVariableFile } from "./VariableFile.ts"

const names = (name: string, description: string, metavar: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), anyNumber)

/**
 * Flags for the new values of a configuration. Secret values are never passed as arguments, because other users of the
 * machine can read arguments.
 */
export const variableFlags = {
  variables: names(
    "var",
    "A new value, NAME=VALUE; NAME=- reads it from standard input, and NAME alone prompts for it, for sensitive values; may be repeated",
    "name=value"
  ),
  files: names(
    "var-file",
    "File with new values, in the syntax of .tfvars or as one JSON object; - for standard input; may be repeated",
    "path"
  ),
  unset: names(
    "unset",
    "Remove the value of this variable, so that the module's default applies; may be repeated",
    "name"
  )
}

export interface VariableFlags {
  readonly variables: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
  readonly unset: ReadonlyArray<string>
}

const refused = (message: string) => new CommandFailed({ ...misuse, message })

const decodeObject = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/**
 * Reads the values in a file in the same way as the tool, either as JSON or in the tool's native syntax. Error messages
 * contain a line number and never a value.
 */
export const valuesOfFile = Effect.fn("valuesOfFile")(function* (file: string) {
  const text = yield* inputText(file)
  if (file.endsWith(".json") || text.trimStart().startsWith("{")) {
    yield* refuseRoundedNumbers("--var-file", text)
    const json = yield* decodeObject(text).pipe(
      Effect.mapError(() => refused(`--var-file ${file}: expected one JSON object with a value for each variable.`))
    )
    return new Map(Object.entries(json).map(([name, value]) => [name, ofJson(value)]))
  }
  const values = readVariableFile(text)
  return Result.isSuccess(values)
    ? values.success
    : yield* refused(`--var-file ${file}, line ${values.failure.line}: ${values.failure.why}.`)
})

const declaredAs = Effect.fnUntraced(function* (flag: string, name: string, declared: ReadonlyArray<DeclaredVariable>) {
  const found = declared.find((one) => one.name === name)
  if (found !== undefined) return found
  const known = declared.map((one) => one.name)
  const similar = nearest(name, known)
  const list = known.length === 0 ? "It declares none." : `It declares ${known.join(", ")}.`
  return yield* refused(
    `${flag}: the module declares no variable ${name}. ${similar === undefined ? list : `Did you mean ${similar}?`}`
  )
})

/** Reads the text of one value from the argument, from standard input, or from a prompt that does not echo the input. */
const textOf = Effect.fnUntraced(function* (variable: DeclaredVariable, given: Option.Option<string>) {
  const { name } = variable
  if (Option.isNone(given)) {
    const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
    if (canPrompt) return Redacted.value(yield* Prompt.run(Prompt.Password({ message: `Value of ${name}` })))
    return yield* refused(
      `--var ${name}: there is no terminal to ask at. Give the value on standard input, with ${name}=-.`
    )
  }
  if (given.value === "-") return (yield* inputText("-")).replace(/\r?\n$/, "")
  if (!variable.sensitive) return given.value
  return yield* refused(
    `--var ${name}: the variable is sensitive, and other users of the machine can read arguments. Give the value on standard input (${name}=-), in a --var-file, or leave =VALUE out to be asked for it.`
  )
})

const ofArgument = Effect.fnUntraced(function* (argument: string, declared: ReadonlyArray<DeclaredVariable>) {
  const at = argument.indexOf("=")
  const name = at === -1 ? argument : argument.slice(0, at)
  const variable = yield* declaredAs("--var", name, declared)
  const text = yield* textOf(variable, at === -1 ? Option.none() : Option.some(argument.slice(at + 1)))
  if (isTakenAsText(variable)) return [name, text] as const
  const value = readValue(text)
  return Result.isSuccess(value)
    ? ([name, value.success] as const)
    : yield* refused(
        `--var ${name}: ${value.failure.why}. Its type is ${variable.typeExpression ?? variable.type}; texts in it have quotes.`
      )
})

const typedAs = Effect.fnUntraced(function* (
  flag: string,
  name: string,
  value: FileValue,
  declared: ReadonlyArray<DeclaredVariable>
) {
  const typed = typedValue(value, (yield* declaredAs(flag, name, declared)).type)
  return Result.isSuccess(typed)
    ? ([name, typed.success] as const)
    : yield* refused(`${flag}: ${name}: ${typed.failure}.`)
})

/**
 * Returns the variables that a configuration plan sets and removes. If a variable is set several times, the last value
 * applies. Values from arguments override values from files.
 */
export const variablePatch = Effect.fn("variablePatch")(function* (
  { files, unset, variables }: VariableFlags,
  declared: ReadonlyArray<DeclaredVariable>
) {
  if (files.length + unset.length + variables.length === 0) {
    return yield* refused(
      "Nothing would change: give new values with --var or --var-file, or take one away with --unset."
    )
  }
  const fromStdin = [...files.filter((file) => file === "-"), ...variables.filter((one) => /^[^=]*=-$/.test(one))]
  if (fromStdin.length > 1) return yield* refused("Only one value or file can come from standard input.")
  const fromFiles = yield* Effect.forEach(files, (file) =>
    Effect.map(valuesOfFile(file), (values) =>
      [...values].map(([name, value]) => [`--var-file ${file}`, name, value] as const)
    )
  )
  const fromArguments = yield* Effect.forEach(variables, (argument) =>
    Effect.map(ofArgument(argument, declared), ([name, value]) => ["--var", name, value] as const)
  )
  const typed = yield* Effect.forEach([...fromFiles.flat(), ...fromArguments], ([flag, name, value]) =>
    typedAs(flag, name, value, declared)
  )
  const set = Object.fromEntries(typed)
  for (const name of unset) {
    yield* declaredAs("--unset", name, declared)
    if (Object.hasOwn(set, name)) return yield* new CommandFailed({ message: `${name} is set and unset at once.` })
  }
  return {
    ...(typed.length === 0 ? {} : { set }),
    ...(unset.length === 0 ? {} : { remove: [...new Set(unset)] })
  }
})
