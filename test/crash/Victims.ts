import { readdirSync, readFileSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { syncArgument } from "../../src/BinaryArguments.ts"
import type { Stage, Victim } from "./Scenario.ts"

interface Process {
  readonly pid: number
  readonly parent: number
  readonly name: string
  readonly commandLine: string
}

const read = (path: string) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // The process exited between the listing and this read.
    return ""
  }
}

const processes = (): ReadonlyArray<Process> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      const stat = read(`/proc/${pid}/stat`)
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return {
        pid: Number(pid),
        parent: Number(fields[1] ?? 0),
        name: stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")),
        commandLine: read(`/proc/${pid}/cmdline`)
      }
    })

const descendants = (root: number): ReadonlyArray<Process> => {
  const all = processes()
  const found: Array<Process> = []
  let parents = new Set([root])
  while (parents.size > 0) {
    const children = all.filter(({ parent }) => parents.has(parent))
    found.push(...children)
    parents = new Set(children.map(({ pid }) => pid))
  }
  return found
}

const subcommands: Partial<Record<Stage, string>> = { plan: "\0plan\0", apply: "\0apply\0", destroy: "\0apply\0" }

const matches: Record<Victim, (process: Process, subcommand: string) => boolean> = {
  tool: ({ commandLine, name }, subcommand) => name === "terraform" && commandLine.includes(subcommand),
  plugin: ({ commandLine }) => commandLine.includes("terraform-provider-demo") && !commandLine.startsWith("bwrap"),
  sandbox: ({ commandLine, name }, subcommand) => name === "bwrap" && commandLine.includes(subcommand),
  sync: ({ commandLine }) => commandLine.includes(`\0${syncArgument}\0`)
}

/** Kills one child process of a server, at the given stage or at any stage. Returns `false` if there is no such process. */
export const killVictim = (server: number, victim: Victim, stage?: Stage): Effect.Effect<boolean> =>
  Effect.sync(() => {
    const subcommand = stage === undefined ? "" : (subcommands[stage] ?? "")
    const found = descendants(server).find((candidate) => matches[victim](candidate, subcommand))
    if (found === undefined) return false
    process.kill(found.pid, "SIGKILL")
    return true
  })

/** Returns the command lines of processes that use a folder. */
const having = (folder: string) =>
  Effect.sync(() =>
    processes()
      .map(({ commandLine }) => commandLine.replaceAll("\0", " "))
      .filter((commandLine) => commandLine.includes(`${folder}/`))
  )

/**
 * Lists processes that are still running after the last server on a data folder has exited. A killed process may take a while to
 * exit.
 */
export const survivors = (folder: string) =>
  having(folder).pipe(
    Effect.repeat({ until: (left) => left.length === 0, times: 250, schedule: Schedule.spaced("20 millis") })
  )
