import { readFileSync, writeFileSync } from "node:fs"
import { Result } from "effect"

/** The content of a kernel file, such as one below /proc; `undefined` if it cannot be read. */
export const readKernelFile = (path: string): string | undefined =>
  Result.getOrUndefined(Result.try(() => readFileSync(path, "latin1")))

/** Returns true if the kernel accepted the text. */
export const writeKernelFile = (path: string, text: string): boolean =>
  Result.isSuccess(Result.try(() => writeFileSync(path, text)))
