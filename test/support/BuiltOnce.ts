import { existsSync, mkdirSync, readFileSync, renameSync, watch, writeFileSync } from "node:fs"

/** The folder shared by all processes of one test run; absent if a test file was started by itself. */
export const sharedBuilds = process.env["SVC_TEST_BUILDS"]

/** Why the build failed in the process that ran it; empty if it succeeded. */
const resultOf = (folder: string, name: string): Promise<string> =>
  new Promise((resolve) => {
    const watcher = watch(folder, () => look())
    const look = () => {
      if (!existsSync(`${folder}/${name}`)) return
      watcher.close()
      resolve(readFileSync(`${folder}/${name}`, "utf8"))
    }
    look()
  })

/** Must appear atomically: another process may be waiting for it. */
const writeResult = (folder: string, name: string, problem: string) => {
  writeFileSync(`${folder}/${name}.part`, problem)
  renameSync(`${folder}/${name}.part`, `${folder}/${name}`)
}

const builtIn = async (shared: string, name: string, build: () => Promise<void>): Promise<void> => {
  // Returns `undefined` if the folder exists, which means that another process has already started.
  if (mkdirSync(`${shared}/${name}.begun`, { recursive: true }) === undefined) {
    const problem = await resultOf(shared, name)
    if (problem !== "") throw new Error(problem)
    return
  }
  await build().then(
    () => writeResult(shared, name, ""),
    (error: unknown) => {
      writeResult(shared, name, `The build of ${name} failed: ${String(error)}`)
      throw error
    }
  )
}

/** What this process has built or waited for. */
const known = new Map<string, Promise<void>>()

/**
 * Builds something once for a whole test run: the first process that needs it builds it, and the others wait. `build` writes to a
 * location known to all of them.
 */
export const builtOnce = (name: string, build: () => Promise<void>): Promise<void> => {
  if (sharedBuilds === undefined) return build()
  const result = known.get(name) ?? builtIn(sharedBuilds, name, build)
  known.set(name, result)
  return result
}
