import { Effect, FileSystem, Option, Path } from "effect"
import { Command, Flag, Prompt, TerminalCapabilities } from "effect/cli"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, print } from "../Output.ts"
import { asPerson, sessionFlags } from "../session/PersonSession.ts"
import { capsuleArgument } from "./CapsuleArgument.ts"
import { progress } from "./Progress.ts"
import { onServer } from "./Remote.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { capsuleNamed } from "./Selection.ts"
import { isTypedName, terminalText } from "./TerminalText.ts"

const unconfirmed = (name: string) =>
  new CommandFailed({
    message: `Nothing was exported. The archive holds the secrets of the infrastructure in the clear: confirm that with --confirm ${name}.`
  })

/** The name of the Capsule, as the person typed it. */
const confirmed = Effect.fnUntraced(function* (name: string, given: Option.Option<string>) {
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  const typed = Option.isSome(given)
    ? given.value
    : canPrompt
      ? yield* Prompt.run(
          Prompt.String({
            message: `The archive holds the secrets of the infrastructure in the clear. Type ${terminalText(name)} to export it`
          })
        )
      : ""
  return isTypedName(typed, name) ? name : yield* unconfirmed(name)
})

/** Never replaces an existing file, and is readable by this user only, since it contains the state. */
const written = Effect.fnUntraced(function* (file: string, bytes: Uint8Array) {
  const files = yield* FileSystem.FileSystem
  yield* files.writeFile(file, bytes, { flag: "wx", mode: 0o600 }).pipe(
    Effect.mapError(
      () =>
        new CommandFailed({
          message: `${file} cannot be written; a file that is there is never replaced. Name another one with --out. The export itself is used up: run the command again.`
        })
    )
  )
})

export const exportCommand = Command.make(
  "export",
  {
    ...workspaceFlags,
    ...sessionFlags,
    confirm: Flag.optional(
      Flag.String("confirm").pipe(
        Flag.withDescription("The name of the Capsule, typed as a confirmation; else asked"),
        Flag.withMetavar("name")
      )
    ),
    out: Flag.optional(
      Flag.String("out").pipe(
        Flag.withAlias("o"),
        Flag.withDescription("File to write; else the name that the server gives it, in this folder"),
        Flag.withMetavar("file")
      )
    ),
    capsule: capsuleArgument
  },
  Effect.fn("export")((given) =>
    Effect.gen(function* () {
      const path = yield* Path.Path
      const capsule = yield* capsuleNamed(given.capsule, given.workspace)
      const params = { capsuleId: capsule.id }
      const confirm = yield* confirmed(capsule.name, given.confirm)
      const { archive, bytes } = yield* asPerson(given)(
        Effect.gen(function* () {
          const { exports } = yield* SvcClient
          const { export: made } = yield* exports.create({ params, payload: { confirm } })
          yield* progress(`Downloading ${terminalText(made.fileName)} ...`)
          const exportLink = made.link.split("/").at(-1) ?? ""
          return { archive: made, bytes: yield* exports.download({ params: { ...params, exportLink } }) }
        })
      )
      // The server's file name must not contain a path.
      const file = Option.getOrElse(given.out, () => path.basename(archive.fileName))
      yield* written(file, bytes)
      const { inputsToSupply, resolvedCommit, stateVersionId } = archive
      yield* print(
        given.json,
        { file, capsuleId: capsule.id, stateVersionId, resolvedCommit, inputsToSupply },
        [
          `Exported to ${file}. Its state holds secrets: keep it as you keep those.`,
          ...(inputsToSupply.length === 0
            ? []
            : [`Its README names the inputs to supply: ${inputsToSupply.map(terminalText).join(", ")}.`]),
          `svc still manages ${terminalText(capsule.name)}. Release it in the dashboard once the copy is in charge.`
        ].join("\n")
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Write a Capsule as files with which the bare tool goes on; asks for your password"),
  Command.withExamples([
    {
      command: "svc export network --confirm network --out network.tar.gz --password-stdin < password.txt",
      description: "Without a terminal"
    }
  ])
)
