import { dlopen, ptr } from "bun:ffi"
import { readdirSync, readFileSync } from "node:fs"

const library = () =>
  dlopen("libc.so.6", {
    syscall: { args: ["i64", "i64", "i64"], returns: "i64" },
    poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
    close: { args: ["i32"], returns: "i32" }
  }).symbols

const pidfdOpen = 434
const readable = 1
const entryBytes = 8

/** Returns a process's state, its parent, and the other fields that the kernel lists after the name. */
const statusOf = (pid: number): ReadonlyArray<string> => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch {
    // The process has exited since it was listed.
    return []
  }
}

export const parentOf = (pid: number): number | undefined => {
  const [, parent] = statusOf(pid)
  return parent === undefined ? undefined : Number(parent)
}

/** Returns true for a zombie: the process has exited, and its parent has not collected it. */
export const isUncollected = (pid: number): boolean => statusOf(pid)[0] === "Z"

/** Lists all descendants of a process. */
export const processesBelow = (root: number): ReadonlyArray<number> => {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(Number(name)) }))
  const found = new Set([root])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const { parent, pid } of all) if (parent !== undefined && found.has(parent)) found.add(pid)
  }
  found.delete(root)
  return [...found]
}

/** Returns the name of a process, or an empty string after the process has exited. */
export const nameOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/comm`, "latin1").trim()
  } catch {
    return ""
  }
}

/**
 * Tracks processes by pidfd, because a pid may be reused after its process exits. `ended` waits for all tracked processes
 * and returns whether they have exited.
 */
export const holdProcesses = (pids: ReadonlyArray<number>) => {
  const { close, poll, syscall } = library()
  const held = pids.map((pid) => ({ pid, fd: Number(syscall(pidfdOpen, pid, 0)) }))
  return {
    ended: (atMost: number): boolean =>
      held.every(({ fd, pid }) => {
        // If there is no descriptor, the process had already exited when `holdProcesses` tried to open one.
        if (fd < 0) return statusOf(pid).length === 0
        const entry = Buffer.alloc(entryBytes)
        entry.writeInt32LE(fd, 0)
        entry.writeInt16LE(readable, 4)
        for (;;) {
          const ready = poll(ptr(entry), 1, atMost)
          // A signal may interrupt the wait, so the loop waits again.
          if (ready >= 0) return ready === 1
        }
      }),
    release: () =>
      held.forEach(({ fd }) => {
        if (fd >= 0) close(fd)
      })
  }
}
