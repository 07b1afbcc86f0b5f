const mebibyte = 1024 * 1024
const between = 8 * mebibyte

/** Node has such a call only where it was started with `--expose-gc`; it would stop everything else, so it is left to itself. */
const request = typeof Bun === "undefined" ? () => {} : () => Bun.gc(false)

/**
 * Before memory is taken for a large value: what an earlier one left is collected now. It takes tens of milliseconds, and beside other work it may not
 * have happened yet, so that the process would need the memory of both.
 */
export const collectBefore = (bytes: number): void => {
  if (bytes >= 2 * between && typeof Bun !== "undefined") Bun.gc(true)
}

/**
 * Counts the bytes of work on a large value, and asks the runtime, after each few MiB, to collect what the work left: it does so beside other work.
 * By itself it waits until there is as much garbage as it holds, and each step leaves a copy of what passed through.
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
