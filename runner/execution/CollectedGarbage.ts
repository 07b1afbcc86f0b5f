const mebibyte = 1024 * 1024
const between = 8 * mebibyte

/**
 * Node has a call for this only if started with `--expose-gc`, and the call would stop everything else, so on Node this does
 * nothing.
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
 * Counts the bytes of work on a large value, and every few MiB requests a concurrent collection of the garbage. Without the
 * request, the runtime would wait until garbage equals live memory, and each step leaves a copy of its data.
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
