const mebibyte = 1024 * 1024
const between = 8 * mebibyte

/**
 * Node provides a call for this only if started with `--expose-gc`; the call would stop everything else, so Node is left to
 * itself.
 */
const request = typeof Bun === "undefined" ? () => {} : () => Bun.gc(false)

/**
 * Called before memory is allocated for a large value: collects the garbage left by an earlier one. That takes tens of
 * milliseconds. Concurrent collection may not have reached it yet, and the process would then need memory for both.
 */
export const collectBefore = (bytes: number): void => {
  if (bytes >= 2 * between && typeof Bun !== "undefined") Bun.gc(true)
}

/**
 * Counts the bytes of work on a large value, and every few MiB asks the runtime to collect the garbage left by the work, which
 * happens concurrently. Otherwise the runtime waits until there is as much garbage as live memory, and each step leaves a copy of
 * what passed through.
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
