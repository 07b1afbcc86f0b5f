// The suffix that Linux adds to the path of a program whose file was replaced or removed after the start.
const replaced = / \(deleted\)$/

/**
 * The path of this compiled binary, for starting it again. If an upgrade replaced the file during startup, the new file at the same
 * path is used.
 */
export const ownProgram = (): string => process.execPath.replace(replaced, "")
