import { existsSync, mkdirSync, readFileSync, renameSync, watch, writeFileSync } from "node:fs"

/** The folder that all processes of one test run share; absent if a test file was started on its own. */
const shared = process.env["SVC_TEST_BUILDS"]

/** Why the build failed in the process that did it; empty if it succeeded. */
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

/** Appears whole: another process may be waiting for it. */
const writeResult = (folder: string, name: string, problem: string) => {
  writeFileSync(`${folder}/${name}.part`, problem)
  renameSync(`${folder}/${name}.part`, `${folder}/${name}`)
}

/**
 * Builds something once for a whole test run: the first process that needs it builds it, the others wait. `build`
 * writes to a place that all of them know.
 */
export const builtOnce = async (name: string, build: () => Promise<void>): Promise<void> => {
  if (shared === undefined) return build()
  // It returns `undefined` if the folder exists: then another process has begun.
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
