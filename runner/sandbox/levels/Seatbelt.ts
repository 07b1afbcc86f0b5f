import { join } from "node:path"
import { Effect } from "effect"
import { findProgram, isExecutable } from "../InstalledProgram.ts"
import type { Rung, Verdict } from "../SandboxLadder.ts"
import { spawnProcess } from "../SandboxProcess.ts"
import { SandboxSpawnFailed } from "../SandboxStatus.ts"
import { deviationsOf } from "./ConfinementProbe.ts"
import { outside, temporaryFolderFor } from "./Confined.ts"
import type { Level, LevelHost, OpenSandbox, SandboxedCommand, SandboxSpec } from "./Level.ts"

/** Paths that macOS programs read at startup. They contain no personal data. */
const systemPaths = [
  "/usr",
  "/bin",
  "/sbin",
  "/System",
  "/Library/Apple",
  "/Library/Preferences",
  "/private/etc",
  "/private/var/db/timezone",
  "/private/var/db/dyld",
  "/private/var/run/resolv.conf",
  "/opt/homebrew"
]

const devices = ["null", "zero", "random", "urandom", "tty", "dtracehelper"].map((name) => `/dev/${name}`)

const quoted = (path: string) => `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`
const below = (paths: ReadonlyArray<string>) => paths.map((path) => `(subpath ${quoted(path)})`).join(" ")
const exactly = (paths: ReadonlyArray<string>) => paths.map((path) => `(literal ${quoted(path)})`).join(" ")

/**
 * Builds a Seatbelt profile that denies everything it does not list. The profile either denies all IP connections, or denies
 * only connections to this machine.
 */
export const seatbeltProfile = (paths: {
  readonly readOnly: ReadonlyArray<string>
  readonly writable: ReadonlyArray<string>
  readonly network: boolean
}): string =>
  [
    "(version 1)",
    "(deny default)",
    "(allow process-fork)",
    "(allow process-exec)",
    "(allow sysctl-read)",
    "(allow signal (target same-sandbox))",
    "(allow process-info* (target same-sandbox))",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.trustd.agent") (global-name "com.apple.SystemConfiguration.configd"))',
    "(allow file-read-metadata)",
    `(allow file-read* ${exactly(["/"])} ${below([...systemPaths, ...paths.readOnly])})`,
    `(allow file-read* file-write* ${below(paths.writable)} ${exactly(devices)})`,
    `(allow network* (local unix-socket) ${paths.writable.map((path) => `(remote unix-socket (subpath ${quoted(path)}))`).join(" ")})`,
    ...(paths.network
      ? [
          "(allow network-outbound (remote ip))",
          '(deny network-outbound (remote ip "localhost:*"))',
          '(allow network-outbound (literal "/private/var/run/mDNSResponder"))'
        ]
      : [])
  ].join("\n")

const levelOf = (host: LevelHost, program: string): Level => {
  const profileOf = (spec: SandboxSpec, command: SandboxedCommand, temporary: string) =>
    seatbeltProfile({
      readOnly: [...host.settings.extraReadOnly, ...spec.readOnly, ...(command.readOnly ?? [])],
      writable: [spec.root, temporary, ...host.settings.extraWritable],
      network: command.network
    })
  return {
    level: "seatbelt",
    insideRoot: (root) => root,
    open: Effect.fnUntraced(function* (spec, { guard }) {
      const temporary = yield* temporaryFolderFor(spec)
      const open: OpenSandbox = {
        root: spec.root,
        temporary,
        spawn: Effect.fnUntraced(function* (command) {
          const [name] = command.argv
          if (name.includes("/") && !(yield* isExecutable(name))) {
            return yield* new SandboxSpawnFailed({
              program: name,
              message: `${name} could not be started: there is none.`
            })
          }
          return yield* spawnProcess(host.spawner, {
            commandLine: { program, args: ["-p", profileOf(spec, command, temporary), ...command.argv] },
            cwd: join(spec.root, command.cwd),
            environment: command.environment,
            role: { kind: "program" },
            inputs: [],
            noted: () => Effect.void,
            killStragglers: Effect.void,
            guard,
            elsewhere: outside(spec, temporary),
            isInstallation: command.isInstallation
          })
        })
      }
      return open
    })
  }
}

/**
 * Uses the macOS sandbox, for programs that run as the server's own user. It is the weakest accepted level, and has not been
 * tested on a Mac.
 */
export const seatbeltRung = (host: LevelHost): Rung => ({
  level: "seatbelt",
  attempt: Effect.gen(function* (): Effect.fn.Return<Verdict> {
    const missing = (what: string): Verdict => ({ _tag: "unavailable", reason: `Seatbelt: ${what}.` })
    if (process.platform !== "darwin") return missing("only macOS has it")
    const program = yield* findProgram(host.settings.seatbelt)
    if (program === undefined) return missing("sandbox-exec was not found")
    const level = levelOf(host, program)
    const deviations = yield* deviationsOf(host, level, { sharedProcessIds: true })
    return deviations === undefined
      ? {
          _tag: "works",
          level,
          reason:
            "Seatbelt keeps module code from files of the service, whose user it shares. This level has not been tested by the project."
        }
      : missing(deviations)
  })
})
