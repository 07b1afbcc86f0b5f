// How Linux names a program whose file was replaced or removed after it was started.
const replaced = / \(deleted\)$/

/**
 * The path of this compiled binary, for starting it again. An upgrade may replace the file while it starts; the new file at the same
 * path is then the program.
 */
export const ownProgram = (executable = process.execPath): string => executable.replace(replaced, "")
