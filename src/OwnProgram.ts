// The suffix that Linux appends to the path of a running program whose file was replaced or removed.
const replaced = / \(deleted\)$/

/**
 * The path of this compiled binary, for starting it again. If an upgrade has replaced the file, the new file at the same path is
 * used.
 */
export const ownProgram = (): string => process.execPath.replace(replaced, "")
