import { Effect, FileSystem, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, misuse, print } from "../Output.ts"
import { confirmationFlags, withConfirmation } from "../session/BrowserConfirmation.ts"
import { capsuleArgument } from "./CapsuleArgument.ts"
import { confirmFlag, typedName } from "./Confirmation.ts"
import { progress } from "./Progress.ts"
import { onServer } from "./Remote.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { capsuleNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

/**
 * Creates the output file before the export, so that the single-use link is not wasted on a file that cannot be written. Never
 * replaces an existing file. Only this user can read the file, because it will contain the state.
 */
const reserved = Effect.fnUntraced(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const refused = new CommandFailed({
    ...misuse,
    message: `${file} cannot be written; a file that is there is never replaced. Nothing was exported: name another file with --out.`
  })
  yield* files.writeFile(file, new Uint8Array(), { flag: "wx", mode: 0o600 }).pipe(Effect.mapError(() => refused))
})

export const exportCommand = Command.make(
  "export",
  {
    ...workspaceFlags,
    ...confirmationFlags,
    confirm: confirmFlag,
    out: Flag.optional(
      Flag.String("out").pipe(
        Flag.withDescription("File to write; default: the server's file name, in the current folder"),
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
      const confirm = yield* typedName(
        capsule.name,
        given.confirm,
        "The archive holds the secrets of the infrastructure in the clear."
      )
      const files = yield* FileSystem.FileSystem
      const removed = (file: string) => Effect.ignore(files.remove(file))
      const { id: targetId, workspaceId } = capsule
      const exported = withConfirmation(given, { workspaceId, action: "capsule.export", targetId })((headers) =>
        Effect.gen(function* () {
          const { exports } = yield* SvcClient
          const { export: archive } = yield* exports.create({ params, headers, payload: { confirm } })
          // Use only the base name of the file name that the server returned.
          const file = Option.getOrElse(given.out, () => path.basename(archive.fileName))
          if (Option.isNone(given.out)) yield* reserved(file)
          yield* progress(`Downloading ${terminalText(archive.fileName)} ...`)
          const exportLink = archive.link.split("/").at(-1) ?? ""
          yield* exports.download({ params: { ...params, exportLink } }).pipe(
            Effect.flatMap((bytes) => files.writeFile(file, bytes, { mode: 0o600 })),
            Effect.onError(() => removed(file))
          )
          return { archive, file }
        })
      )
      if (Option.isSome(given.out)) yield* reserved(given.out.value)
      const { archive, file } = yield* Option.match(given.out, {
        onNone: () => exported,
        onSome: (out) => Effect.onError(exported, () => removed(out))
      })
      const { inputsToSupply, resolvedCommit, stateVersionId } = archive
      yield* print(
        given.json,
        { file, capsuleId: capsule.id, stateVersionId, resolvedCommit, inputsToSupply },
        [
          `Exported to ${file}. Its state holds secrets: keep it as you keep those.`,
          ...(inputsToSupply.length === 0
            ? []
            : [`Its README names the inputs to supply: ${inputsToSupply.map(terminalText).join(", ")}.`]),
          `svc still manages ${terminalText(capsule.name)}. Release it with \`svc capsule release\` once the copy is in charge.`
        ].join("\n")
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Export a Capsule as files for the bare tool; requires confirmation in the browser"),
  Command.withExamples([
    {
      command: "svc export network --confirm network --out network.tar.gz --password-stdin < password.txt",
      description: "Without a terminal"
    }
  ])
)
