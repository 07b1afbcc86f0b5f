import { closeSync, existsSync, openSync } from "node:fs"

/**
 * Creates an empty file of mode 0600 for SQLite to open. One that exists is not touched: closing any descriptor of a file
 * ends every POSIX lock that this process holds on it, SQLite's included.
 */
export const createPrivateFile = (file: string): void => {
  if (!existsSync(file)) closeSync(openSync(file, "ax", 0o600))
}
