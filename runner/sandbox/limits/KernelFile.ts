import { readFileSync, writeFileSync } from "node:fs"
import { Result } from "effect"

/** Returns the content of a kernel file, such as one below /proc, or `undefined` if it cannot be read. */
export const readKernelFile = (path: string): string | undefined =>
  Result.getOrUndefined(Result.try(() => readFileSync(path, "latin1")))

/** Writes text to a kernel file. Returns true if the kernel accepted it. */
export const writeKernelFile = (path: string, text: string): boolean =>
  Result.isSuccess(Result.try(() => writeFileSync(path, text)))
