const mebibyte = 1024 * 1024
const between = 8 * mebibyte

/** Node has such a call only if started with `--expose-gc`; the call would stop everything else, so Node is left to itself. */
const request = typeof Bun === "undefined" ? () => {} : () => Bun.gc(false)

/**
 * Called before memory is allocated for a large value: collects what an earlier one left behind. That takes tens of milliseconds.
 * Concurrent collection may not have got to it yet, and the process would then need the memory of both.
 */
export const collectBefore = (bytes: number): void => {
  if (bytes >= 2 * between && typeof Bun !== "undefined") Bun.gc(true)
}

/**
 * Counts the bytes of work on a large value, and every few MiB asks the runtime to collect what the work left behind, which
 * happens concurrently. Left to itself, the runtime waits until there is as much garbage as live memory, and each step leaves a
 * copy of what passed through.
 */
export const collectedGarbage = (): ((bytes: number) => void) => {
  let since = 0
  return (bytes) => {
    since += bytes
    if (since < between) return
    since = 0
    request()
  }
}
