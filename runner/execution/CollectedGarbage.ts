const mebibyte = 1024 * 1024
const between = 8 * mebibyte

/** Does nothing on Node, which offers this call only with `--expose-gc` and would stop everything else during it. */
const request = typeof Bun === "undefined" ? () => {} : () => Bun.gc(false)

/**
 * Collects the garbage of an earlier large value before memory is allocated for the next. This takes tens of milliseconds. A
 * concurrent collection may be too late, and the process would then need memory for both.
 */
export const collectBefore = (bytes: number): void => {
  if (bytes >= 2 * between && typeof Bun !== "undefined") Bun.gc(true)
}

/**
 * Returns a function that counts processed bytes, and requests a concurrent garbage collection every few MiB. The runtime itself
 * would wait until there is as much garbage as live memory, and each step leaves a copy of its data.
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
