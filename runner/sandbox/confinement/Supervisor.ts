import { readdirSync, read, readFileSync } from "node:fs"
import { exit, pid as ownPid } from "node:process"
import { supervisorFds } from "./ConfinementSpec.ts"
import type { LinuxCalls } from "./LinuxCalls.ts"
import { becomeSubreaper } from "./Privileges.ts"

// Kills everything that a program started. Without a process namespace, children of a program can leave its process group and
// survive it, so the supervisor adopts orphaned descendants and kills all of them before it exits. The supervisor is not
// confined, so no confined program can kill it.

const millisecondsBetweenReaps = 2000
/** Maximum number of rounds of kills. If processes still multiply after that many rounds, only the limits stop them. */
const mostRounds = 10_000

interface Entry {
  readonly pid: number
  readonly parent: number
  readonly isDead: boolean
}

/**
 * Parses `/proc/PID/stat`. The name in parentheses may contain anything, so fields are counted from the closing parenthesis.
 */
const entryOf = (pid: number): Entry | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    const [state = "", parent = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return { pid, parent: Number(parent), isDead: state === "Z" || state === "X" }
  } catch {
    // The process has exited since the list was read.
    return undefined
  }
}

const listProcesses = (): ReadonlyArray<Entry> =>
  readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (entryOf(Number(name)) ?? []) : []))

/** Returns all descendants of a process, regardless of their group or session. */
const descendants = (root: number): ReadonlyArray<Entry> => {
  const all = listProcesses()
  const found = new Set([root])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const { parent, pid } of all) if (found.has(parent)) found.add(pid)
  }
  return all.filter(({ pid }) => pid !== root && found.has(pid))
}

/** Kills and reaps all descendants of this process except the program, which the runtime reaps. */
const endAll = (calls: LinuxCalls, program: number) => {
  for (let round = 0; round < mostRounds; round++) {
    const left = descendants(ownPid)
    for (const { isDead, pid } of left) {
      if (isDead) {
        if (pid !== program) calls.reap(pid)
      } else {
        try {
          process.kill(pid, "SIGKILL")
        } catch {
          // The process has exited since the list was read.
        }
      }
    }
    if (left.every(({ isDead, pid }) => isDead && pid === program)) return
  }
}

/**
 * Starts the process that becomes the program, and exits with the program's code, or with 128 plus the signal's number if a
 * signal killed the program.
 */
export const supervise = (calls: LinuxCalls, command: ReadonlyArray<string>): void => {
  becomeSubreaper(calls)
  const child = Bun.spawn([...command], {
    cwd: "/",
    env: {},
    stdio: ["ignore", "inherit", "inherit", supervisorFds.spec]
  })
  let isOver = false
  const end = () => {
    isOver = true
    endAll(calls, child.pid)
  }

  // Wait for the pipe to close. Nothing is ever written to the pipe; it closes when the server exits or no longer needs the
  // sandbox.
  read(supervisorFds.control, Buffer.alloc(1), 0, 1, null, end)
  process.on("SIGTERM", end)
  process.on("SIGINT", () => {
    if (!isOver) child.kill("SIGINT")
  })
  const reaping = setInterval(() => {
    for (const { isDead, parent, pid } of listProcesses()) {
      if (isDead && parent === ownPid && pid !== child.pid) calls.reap(pid)
    }
  }, millisecondsBetweenReaps)

  // If a signal killed the program, the runtime already returns 128 plus the signal's number.
  void child.exited.then((code) => {
    clearInterval(reaping)
    endAll(calls, child.pid)
    exit(code)
  })
}
