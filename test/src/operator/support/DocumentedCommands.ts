import process from "node:process"
import { Effect, FileSystem, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { svcProgram } from "../../../support/SvcProgram.ts"

const page = new URL("../../../../docs/operations/backup.md", import.meta.url)

/** A user other than root. */
const other = "65534"
const isRoot = process.getuid?.() === 0

/** The prefix that runs a command as another user, if this process has that permission. */
const asOther = isRoot ? `setpriv --reuid ${other} --regid ${other} --clear-groups ` : ""

/** Extracts the commands of a marked block of docs/operations/backup.md. */
export const documentedCommands = Effect.fnUntraced(function* (name: string) {
  const files = yield* FileSystem.FileSystem
  const text = yield* files.readFileString(page.pathname)
  const block = new RegExp(`<!-- ${name} -->\\n\`\`\`sh\\n([^]*?)\`\`\``).exec(text)?.[1]
  return block ?? (yield* Effect.die(new Error(`docs/operations/backup.md has no block "${name}"`)))
})

/** Creates a folder for executables that contains `svc` from this source tree. */
export const programs = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  yield* files.makeDirectory(folder)
  yield* files.writeFileString(`${folder}/svc`, `#!/bin/sh\nexec "${yield* Effect.promise(svcProgram)}" "$@"\n`)
  yield* files.chmod(`${folder}/svc`, 0o755)
})

export interface Machine {
  /** The folder that replaces `/`. */
  readonly root: string
  readonly programs: string
  /** True if this machine's `svc` user differs from the user of this process. */
  readonly isForeign: boolean
}

/** Rewrites the commands for a folder that replaces `/` and a user that exists here. */
const translated = (commands: string, { isForeign, root }: Machine) => {
  const isOther = isForeign && isRoot
  return commands
    .replaceAll("runuser -u svc -- ", isOther ? asOther : "")
    .replaceAll(" -o svc -g svc", isOther ? ` -o ${other} -g ${other}` : "")
    .replaceAll(/^chown .*\n/gm, (line) => (isOther ? line.replace("svc:svc", `${other}:${other}`) : ""))
    .replaceAll(/ \/(srv|var)\//g, ` ${root}/$1/`)
}

/** Runs commands from the page. Returns the output, and the exit code of the first command that fails. */
export const runDocumented = Effect.fnUntraced(function* (commands: string, machine: Machine) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(
    ChildProcess.make("sh", ["-eux", "-c", translated(commands, machine)], {
      cwd: "/",
      env: {
        PATH: `${machine.programs}:${process.env["PATH"] ?? ""}`,
        HOME: machine.root,
        SVC_TOOL_DOWNLOAD: "off",
        ...(process.env["SVC_TOOL"] === undefined ? {} : { SVC_TOOL: process.env["SVC_TOOL"] })
      }
    })
  )
  const [text, code] = yield* Effect.all([handle.all.pipe(Stream.decodeText(), Stream.mkString), handle.exitCode], {
    concurrency: 2
  })
  return { text, code: Number(code) }
}, Effect.scoped)
