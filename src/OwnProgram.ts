// The suffix that Linux appends to the path of a running program if the program's file was replaced or removed.
const replaced = / \(deleted\)$/

/**
 * Returns the path of this compiled binary, so that the caller can start it again. If an upgrade has replaced the file, the
 * path refers to the new file.
 */
export const ownProgram = (): string => process.execPath.replace(replaced, "")
