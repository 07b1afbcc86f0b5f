import { readlinkSync, readSync, writeSync } from "node:fs"
// Import these functions instead of `stdout` and `stderr`, because creating those streams takes longer than the rest of this
// program.
import { chdir, exit } from "node:process"
import {
  type Confinement,
  confinementFailed,
  confinementFds,
  confinementRoles,
  type ConfinementSpec
} from "./ConfinementSpec.ts"
import { landlockVersion, prepareDomain } from "./Landlock.ts"
import { type LinuxCalls, linuxCalls } from "./LinuxCalls.ts"
import { enterFileSystem, raiseLoopback } from "./NamespaceMounts.ts"
import {
  becomeUser,
  dieWithParent,
  dropBoundingSet,
  dropCapabilities,
  filterCalls,
  keepOutputBlocking,
  limitResources
} from "./Privileges.ts"
import { supervise } from "./Supervisor.ts"

// Turns this process into a sandboxed program: drops all privileges that the program must not have, and executes the
// program. This process is not confined at first, so it starts without an environment, in the host's root folder.

const standardOutput = 1
const standardError = 2

const brokenPipe = 13
const fileTooLarge = 25

const readSpec = (): ConfinementSpec => {
  const chunks: Array<Buffer> = []
  const buffer = Buffer.alloc(64 * 1024)
  for (;;) {
    const length = readSync(confinementFds.spec, buffer)
    if (length === 0) return JSON.parse(Buffer.concat(chunks).toString("utf8"))
    chunks.push(Buffer.from(buffer.subarray(0, length)))
  }
}

const filterOf = (program: string) => new Uint8Array(Buffer.from(program, "base64"))

/** Confines this process. Returns a function that performs the last step of the confinement. */
const confine = (calls: LinuxCalls, confinement: Confinement): (() => void) => {
  switch (confinement.kind) {
    case "none":
      dieWithParent(calls)
      return () => undefined
    case "landlock": {
      const enterDomain = prepareDomain(calls, confinement)
      dropBoundingSet(calls)
      if (confinement.userId !== undefined) becomeUser(calls, confinement.userId, confinement.groups)
      dropCapabilities(calls)
      enterDomain()
      dieWithParent(calls)
      return () => filterCalls(calls, filterOf(confinement.seccomp))
    }
    case "namespaces": {
      // The host's /proc is still mounted, so `/proc/self` shows this process under its host id.
      writeSync(confinementFds.information, JSON.stringify({ "child-pid": Number(readlinkSync("/proc/self")) }))
      enterFileSystem(calls, confinement.placements)
      if (confinement.ownNetwork) raiseLoopback(calls)
      dropBoundingSet(calls)
      dropCapabilities(calls)
      return () => filterCalls(calls, filterOf(confinement.seccomp))
    }
  }
}

const become = () => {
  const spec = readSpec()
  const calls = linuxCalls()
  const last = confine(calls, spec.confinement)
  chdir(spec.cwd)
  limitResources(calls, spec.limits)
  for (const fd of Object.values(confinementFds)) calls.attempt("close", fd)
  // Restore these signals: the runtime ignores them, and the program would inherit that setting.
  for (const signal of [brokenPipe, fileTooLarge]) calls.resetSignal(signal)
  keepOutputBlocking(calls)
  last()
  calls.execute(spec.argv, spec.environment)
}

const explain = (text: string) => {
  try {
    writeSync(standardError, text)
  } catch {
    // Ignore a failed write. If nobody reads the output, the exit code still reports the failure.
  }
}

const roles: ReadonlyArray<string> = Object.values(confinementRoles)
const at = process.argv.findIndex((word) => roles.includes(word))
try {
  switch (process.argv[at]) {
    case confinementRoles.version:
      writeSync(standardOutput, `${landlockVersion(linuxCalls())}\n`)
      break
    case confinementRoles.supervise:
      supervise(linuxCalls(), process.argv.slice(at + 1))
      break
    default:
      become()
  }
} catch (cause) {
  explain(`The program could not be confined: ${cause instanceof Error ? cause.message : String(cause)}\n`)
  exit(confinementFailed)
}
