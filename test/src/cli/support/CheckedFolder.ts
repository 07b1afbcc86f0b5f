import { expect } from "bun:test"
import { Effect, Layer, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { storage } from "../../../../src/composition/Storage.ts"
import { testSettings } from "../../../support/ControlPlane.ts"
import { svcProgram } from "../../../support/SvcProgram.ts"
import { folder } from "./CommandLine.ts"
import { placeMigratedDatabase } from "../../../support/MigratedDatabase.ts"

export const isRoot = process.getuid?.() === 0
/** Starts a process without root's capability to open every file. The process can still read the files that root owns. */
const asOwner = isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"] : []

/**
 * Isolation is off because these tests execute no Run, and probing the sandboxes would take most of each process's run time.
 */
const withoutRuns = { SVC_RUNNER_ISOLATION: "off", SVC_RUNNER_NETWORK: "host" }

type Environment = Readonly<Record<string, string>>

/** Returns the environment variables for a command. */
export const environmentOf = (environment: Environment): Environment => ({
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  SVC_TOOL_DOWNLOAD: "off",
  ...withoutRuns,
  ...environment
})

/** Gives a folder to the server's user. */
export const use = Effect.fnUntraced(function* (dataDir: string) {
  yield* placeMigratedDatabase(dataDir)
  yield* Effect.scoped(Layer.build(Layer.fresh(storage(yield* testSettings({ dataDir })))))
})

/** Creates a separate data folder that a server has used. */
export const usedFolder = Effect.gen(function* () {
  const root = yield* folder
  const dataDir = `${root}/data`
  yield* use(dataDir)
  return dataDir
})

/** Starts a command of the service in a separate process. */
export const spawned = Effect.fnUntraced(function* (args: ReadonlyArray<string>, environment: Environment = {}) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const [command = "", ...rest] = [...asOwner, yield* Effect.promise(svcProgram), ...args]
  return yield* spawner.spawn(ChildProcess.make(command, rest, { env: environmentOf(environment), cwd: "/" }))
})

export const shell = Effect.fnUntraced(function* (script: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  expect(Number(yield* spawner.exitCode(ChildProcess.make("sh", ["-ec", script])))).toBe(0)
})

interface Finding {
  readonly check: string
  readonly status: string
  readonly message: string
  readonly remedy?: string
}

/** Finds one check's result in the JSON that `svc doctor` prints. */
export const findingOf = (out: string, check: string) => {
  const { findings }: { readonly findings: ReadonlyArray<Finding> } = JSON.parse(out)
  const finding = findings.find((one) => one.check === check)
  if (finding === undefined) throw new Error(`No finding ${check} in ${out}`)
  return { finding, line: `${finding.message} ${finding.remedy ?? ""}`.trim() }
}

export const doctorLine = (dataDir: string) => ["doctor", "--data-dir", dataDir, "--json"]
export const serveLine = (dataDir: string) => ["serve", "--data-dir", dataDir, "--listen", "127.0.0.1:0", "--json"]

/**
 * Returns true for the first line that a server prints once it is ready. A server that refuses to start prints no such line.
 */
export const saysReady = (line: string) => line.includes('"url"')

export interface ServeOptions {
  readonly environment?: Environment
  readonly line?: string
}

/** Returns true if the log contains the line, as text or inside JSON. */
export const says = (log: string, line: string) => log.includes(line) || log.includes(JSON.stringify(line).slice(1, -1))

/** Runs the commands in separate processes, as if a person had started them. `inProcess` provides the same two commands. */
export const apart = {
  /** Returns the exit code of `svc doctor` and the finding of one check. */
  doctor: Effect.fn("doctor")(function* (dataDir: string, check: string, environment: Environment = {}) {
    const process = yield* spawned(doctorLine(dataDir), environment)
    const out = yield* Stream.mkString(Stream.decodeText(process.stdout))
    return { ...findingOf(out, check), code: Number(yield* process.exitCode) }
  }),
  /**
   * Starts a server, waits until it has failed or is ready with `line` in its log, and stops it. Returns the log, and the exit
   * code if startup failed.
   */
  serve: Effect.fn("serve")(function* (dataDir: string, { environment = {}, line = "" }: ServeOptions = {}) {
    const server = yield* spawned(serveLine(dataDir), environment)
    const first = yield* server.stdout.pipe(Stream.decodeText, Stream.splitLines, Stream.runHead)
    const isReady = first._tag === "Some" && saysReady(first.value)
    const code = isReady ? 0 : Number(yield* server.exitCode)
    let log = ""
    yield* server.stderr.pipe(
      Stream.decodeText,
      Stream.takeUntil((text) => {
        log += text
        return isReady && says(log, line)
      }),
      Stream.runDrain
    )
    return { isReady, code, log }
  }, Effect.scoped)
}
