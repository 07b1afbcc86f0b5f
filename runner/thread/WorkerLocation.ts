import { dirname, join } from "node:path"

/**
 * Where the code of a worker thread is. A compiled binary must have been built in the repository's root with the worker as a
 * further entry point; there `import.meta` may hold the paths of the machine that built it, so `source` is not asked.
 *
 * @param path of the worker from the repository's root, without its extension
 * @param source where it is when the service runs from its sources
 */
export const workerLocation = (path: string, source: () => URL): string | URL =>
  typeof Bun !== "undefined" && Bun.isStandaloneExecutable ? join(dirname(Bun.main), `${path}.js`) : source()
