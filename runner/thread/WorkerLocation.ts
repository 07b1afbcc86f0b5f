import { dirname, join } from "node:path"

/**
 * The location of a worker thread's code. A compiled binary must be built in the repository's root with the worker as an
 * additional entry point; in such a binary, `import.meta` may contain paths on the build machine, so `source` is not called.
 *
 * @param path path of the worker from the repository's root, without its extension
 * @param source location of the worker when the service runs from its sources
 */
export const workerLocation = (path: string, source: () => URL): string | URL =>
  typeof Bun !== "undefined" && Bun.isStandaloneExecutable ? join(dirname(Bun.main), `${path}.js`) : source()
