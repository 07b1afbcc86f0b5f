import { closeSync, existsSync, openSync } from "node:fs"

/**
 * Creates an empty file of mode 0600 for SQLite to open. An existing file is not touched: closing any descriptor of a file drops
 * every POSIX lock that this process holds on it, including SQLite's.
 */
export const createPrivateFile = (file: string): void => {
  if (!existsSync(file)) closeSync(openSync(file, "ax", 0o600))
}
