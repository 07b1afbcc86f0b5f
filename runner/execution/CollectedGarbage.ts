const mebibyte = 1024 * 1024
const between = 8 * mebibyte

/**
 * Does nothing on Node, where the garbage collector can be called only with `--expose-gc` and would block everything else
 * while it runs.
 */
const request = typeof Bun === "undefined" ? () => {} : () => Bun.gc(false)

/**
 * Frees an earlier large value before memory is allocated for the next one. The call blocks for tens of milliseconds. A
 * concurrent collection may finish too late, and the process would then need memory for both values.
 */
export const collectBefore = (bytes: number): void => {
  if (bytes >= 2 * between && typeof Bun !== "undefined") Bun.gc(true)
}

/**
 * Returns a function that counts processed bytes and requests a concurrent garbage collection every few MiB. Each processing
 * step leaves a copy of its data, and the runtime itself would not collect until there is as much garbage as live memory.
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
