import process from "node:process"
import { Effect, Option, Redacted, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import type { Settings } from "../settings/Settings.ts"
import { SvcCommand } from "./SvcCommand.ts"

/** A command started by the server was refused. */
export class SvcSubprocessFailed extends Schema.TaggedError<SvcSubprocessFailed>()("SvcSubprocessFailed", {
  message: Schema.String
}) {}

const Refusal = Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ message: Schema.String }) }))
const Verdict = Schema.fromJsonString(Schema.Struct({ problems: Schema.Array(Schema.String) }))

/**
 * The variables that the command needs from the server's settings. The environment does not leak secrets: other users cannot read
 * it.
 */
const environmentOf = (settings: Settings): Record<string, string> => {
  const passed = ["PATH", "HOME", "TMPDIR"].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const { backupSnapshots, dataDir, masterKey, masterKeyCommand, masterKeyFile } = settings
  return {
    ...Object.fromEntries(passed),
    SVC_DATA_DIR: dataDir,
    SVC_BACKUP_SNAPSHOTS: String(backupSnapshots),
    ...(masterKey === undefined ? {} : { SVC_MASTER_KEY: Redacted.value(masterKey) }),
    ...(masterKeyFile === undefined ? {} : { SVC_MASTER_KEY_FILE: masterKeyFile }),
    ...(masterKeyCommand === undefined ? {} : { SVC_MASTER_KEY_COMMAND: masterKeyCommand })
  }
}

const reasonOf = (out: string, error: string): string => {
  const problems = Option.match(Schema.decodeOption(Verdict)(out.trim()), {
    onNone: () => [],
    onSome: (verdict) => verdict.problems
  })
  if (problems.length > 0) return problems.slice(0, 3).join(" ")
  return Option.match(Schema.decodeOption(Refusal)(error.trim()), {
    onNone: () => error.trim().slice(-500),
    onSome: (refusal) => refusal.error.message
  })
}

/**
 * Runs a service command alongside this server, with its settings, in its own process: reading a whole database would delay every
 * request. The process is killed when the Scope closes.
 */
export const runSvc = Effect.fn("runSvc")(
  function* (settings: Settings, args: ReadonlyArray<string>) {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const command = yield* SvcCommand
    const handle = yield* spawner.spawn(
      ChildProcess.make(command.program, [...command.args, ...args, "--json"], {
        env: environmentOf(settings),
        stdin: "ignore"
      })
    )
    const text = (stream: typeof handle.stdout) => stream.pipe(Stream.decodeText(), Stream.mkString)
    const [out, error, code] = yield* Effect.all([text(handle.stdout), text(handle.stderr), handle.exitCode], {
      concurrency: 3
    })
    if (Number(code) !== 0) return yield* new SvcSubprocessFailed({ message: reasonOf(out, error) })
  },
  Effect.scoped,
  Effect.catchTag("PlatformError", ({ message }) => new SvcSubprocessFailed({ message }))
)
