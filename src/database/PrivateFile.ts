import { closeSync, existsSync, openSync } from "node:fs"

/**
 * Creates an empty file with mode 0600 for SQLite. Never opens an existing file, because closing any descriptor of a file
 * releases every POSIX lock that this process has on the file, including SQLite's locks.
 */
export const createPrivateFile = (file: string): void => {
  if (!existsSync(file)) closeSync(openSync(file, "ax", 0o600))
}
