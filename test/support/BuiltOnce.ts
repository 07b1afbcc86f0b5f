import { existsSync, mkdirSync, readFileSync, renameSync, watch, writeFileSync } from "node:fs"

/** The folder shared by all processes of one test run. The folder does not exist if a test file was started directly. */
const shared = process.env["SVC_TEST_BUILDS"]

/**
 * Waits for the build in another process, and returns the reason why the build failed, or an empty string if it succeeded.
 */
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

/** The result must appear atomically, because another process may be waiting for it. */
const writeResult = (folder: string, name: string, problem: string) => {
  writeFileSync(`${folder}/${name}.part`, problem)
  renameSync(`${folder}/${name}.part`, `${folder}/${name}`)
}

/**
 * Builds something once for a whole test run: the first process that needs the result builds it while the other processes
 * wait. `build` writes to a location known to all processes.
 */
export const builtOnce = async (name: string, build: () => Promise<void>): Promise<void> => {
  if (shared === undefined) return build()
  // Returns `undefined` if the folder exists, because another process is already building.
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
