import { Effect, FileSystem } from "effect"
import { Argument, Command } from "effect/cli"
import { repositoryFileLimits } from "../../schema/json/JsonLimits.ts"
import { linkVerdict, manifestVerdict, sourceOptionsVerdict, type Verdict } from "../../schema/manifest/Verdict.ts"
import { CommandFailed, jsonFlag, misuse, print, refused } from "./Output.ts"

/**
 * Placeholder for a file that exceeds every limit, so that the parser reports the problem without reading the entire file.
 */
const tooLarge = new Uint8Array(repositoryFileLimits.maxBytes + 1)

const readDocument = Effect.fn("readDocument")(
  function* (file: string) {
    const fileSystem = yield* FileSystem.FileSystem
    const info = yield* fileSystem.stat(file)
    if (info.size > repositoryFileLimits.maxBytes) return tooLarge
    return yield* fileSystem.readFile(file)
  },
  (effect, file) =>
    Effect.catchTag(effect, "PlatformError", () => new CommandFailed({ ...misuse, message: `${file} cannot be read.` }))
)

const report = (json: boolean, subject: string, verdict: Verdict) => {
  const lines = verdict.diagnostics.map(
    ({ code, message, path }) => `${path === "" ? "(root)" : path}: ${message} [${code}]`
  )
  const head = `${subject} is ${verdict.status}${verdict.apiVersion === undefined ? "" : ` (${verdict.apiVersion})`}.`
  const printed = print(json, verdict, [head, ...lines].join("\n"))
  return verdict.status === "valid" ? printed : Effect.andThen(printed, refused(head))
}

const file = Argument.File("file").pipe(Argument.withDescription("File to check"), Argument.withMetavar("path"))

const documentCheck = (subject: string, verdictOf: (bytes: Uint8Array) => Verdict) =>
  Command.make("check", { file, json: jsonFlag }, ({ file, json }) =>
    Effect.flatMap(readDocument(file), (bytes) => report(json, subject, verdictOf(bytes)))
  )

export const manifestCommand = Command.make("manifest").pipe(
  Command.withDescription("Repository manifests (.well-known/svc.json)"),
  Command.withSubcommands([
    documentCheck("The manifest", manifestVerdict).pipe(
      Command.withDescription("Check a manifest as the service does; exits with 1 if it is invalid")
    )
  ])
)

export const optionsCommand = Command.make("options").pipe(
  Command.withDescription("Capsule source options documents"),
  Command.withSubcommands([
    documentCheck("The options document", sourceOptionsVerdict).pipe(
      Command.withDescription("Check a document as the service does; exits with 1 if it is invalid")
    )
  ])
)

const url = Argument.String("url").pipe(Argument.withDescription("The complete link, quoted"))

export const linkCommand = Command.make("link").pipe(
  Command.withDescription("Hand-off links (/install?...)"),
  Command.withSubcommands([
    Command.make("check", { url, json: jsonFlag }, ({ json, url }) => report(json, "The link", linkVerdict(url))).pipe(
      Command.withDescription("Check a link as the service does; exits with 1 if it is invalid")
    )
  ])
)
