import { readdirSync, statSync } from "node:fs"
import { Effect, Result } from "effect"
import { readKernelFile } from "./KernelFile.ts"

/** A process in the kernel's process table. */
export interface ListedProcess {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly threads: number
  readonly residentBytes: number
}

const pageBytes = 4096
const isProcess = /^\d+$/

const listed = (pid: string): ReadonlyArray<ListedProcess> => {
  const line = readKernelFile(`/proc/${pid}/stat`)
  // The process has exited since it was listed.
  if (line === undefined) return []
  // The name in parentheses may contain anything, including parentheses, so skip to the last parenthesis.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ")
  const [parent, group, threads, pages] = [fields[1], fields[2], fields[17], fields[21]].map(Number)
  return [
    {
      pid: Number(pid),
      parent: parent ?? 0,
      group: group ?? 0,
      threads: threads ?? 1,
      residentBytes: (pages ?? 0) * pageBytes
    }
  ]
}

/** Lists all visible processes on this machine. The list is empty if there is no /proc. */
export const listProcesses: Effect.Effect<ReadonlyArray<ListedProcess>> = Effect.sync(() =>
  Result.getOrElse(
    Result.try(() => readdirSync("/proc")),
    () => []
  )
    .filter((name) => isProcess.test(name))
    .flatMap(listed)
)

/** Returns the number of threads of this process's user on the machine, as the kernel counts them for the process limit. */
export const ownUserThreads: Effect.Effect<number> = Effect.map(listProcesses, (all) =>
  all
    .filter(({ pid }) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.getuid?.())
    .reduce((sum, { threads }) => sum + threads, 0)
)

/**
 * Returns a process, its descendants and the members of its process group, including processes whose parents have exited.
 */
export const processTree = (all: ReadonlyArray<ListedProcess>, root: number): ReadonlyArray<ListedProcess> => {
  const children = Map.groupBy(all, ({ parent }) => parent)
  const found = new Map<number, ListedProcess>()
  const pending = all.filter(({ group, pid }) => pid === root || group === root)
  for (let process = pending.pop(); process !== undefined; process = pending.pop()) {
    if (found.has(process.pid)) continue
    found.set(process.pid, process)
    pending.push(...(children.get(process.pid) ?? []))
  }
  return [...found.values()]
}

/**
 * Returns the memory of a process, with shared pages counted proportionally, or the resident size if the proportional size
 * cannot be read.
 */
const proportionalBytes = ({ pid, residentBytes }: ListedProcess): number => {
  const kibibytes = /^Pss:\s+(\d+) kB$/m.exec(readKernelFile(`/proc/${pid}/smaps_rollup`) ?? "")?.[1]
  return kibibytes === undefined ? residentBytes : Number(kibibytes) * 1024
}

/**
 * Returns true if the processes together exceed a memory limit. Resident sizes are quick to read but count shared pages
 * repeatedly. Proportional sizes are therefore read only if the resident sizes exceed the limit.
 */
export const usesMoreThan = (processes: ReadonlyArray<ListedProcess>, limit: number): boolean => {
  const sum = (bytes: (process: ListedProcess) => number) =>
    processes.reduce((total, process) => total + bytes(process), 0)
  return sum(({ residentBytes }) => residentBytes) > limit && sum(proportionalBytes) > limit
}
