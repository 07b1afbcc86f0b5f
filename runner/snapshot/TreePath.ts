import { Result } from "effect"

const maxPathBytes = 1024
/**
 * Matches characters that file systems ignore when they compare names, so that a name that contains such characters could be
 * a disguised `.git`.
 */
const ignorable = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g
const control = /\p{Cc}/u

/** Converts a path to the form in which file systems that ignore case and normalisation compare names. */
const folded = (path: string) => path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC")

/**
 * Removes characters from the end of a name. Does not use a regular expression, because names may have any length and an
 * expression anchored at the end takes quadratic time.
 */
const withoutEnd = (name: string, signs: string) => {
  let end = name.length
  while (end > 0 && signs.includes(name.charAt(end - 1))) end--
  return name.slice(0, end)
}

const isGitFolder = (segment: string) => {
  const [name = ""] = folded(segment.replaceAll(ignorable, "")).split(":", 1)
  const plain = withoutEnd(name, " .")
  return plain === ".git" || plain === "git~1"
}

/** Formats a name safely for messages: without control characters, and of limited length. */
export const printableName = (name: string): string => JSON.stringify(name.slice(0, 100))

/**
 * Returns the reason why no tree may contain the name: Git itself never writes such a name, and the name would lead out of
 * the parent folder or into Git's own folder.
 */
export const hostileName = (name: string): string | undefined => {
  if (name === "" || name === "." || name === ".." || name.includes("/")) return "is not a name"
  if (isGitFolder(name)) return "is reserved for Git"
  return undefined
}

/** Returns the reason why a name that Git allows cannot be stored: the name has a different meaning on some file system. */
export const unstorableName = (name: string): string | undefined => {
  if (name.includes("\\")) return "holds a backslash"
  if (control.test(name)) return "holds a control character"
  if (name.includes("\ufffd")) return "is not valid UTF-8"
  return undefined
}

/** Returns the reason why the name of a file or folder is refused, or `undefined` if the name is accepted. */
export const refusedName = (name: string): string | undefined => hostileName(name) ?? unstorableName(name)

/**
 * Groups those names in one folder that some file system would treat as equal. The key of a group is the names' common form.
 */
export const namesByForm = <A extends { readonly name: string }>(entries: ReadonlyArray<A>) =>
  Map.groupBy(entries, ({ name }) => folded(name))

export const describeRefusedName = (name: string, reason: string): string =>
  `The name ${printableName(name)} in the repository ${reason}. Rename it.`

/**
 * Collects the paths of a tree, and refuses paths that some file system would interpret differently: bad names, paths that
 * are too long, duplicates, and paths that differ only in case or Unicode form.
 */
export class TreePathRegistry {
  readonly #spellings = new Map<string, string>()
  readonly #entries = new Set<string>()

  /** Adds a file or an omitted entry. Folders need not be added, because they follow from their contents. */
  add(path: string): Result.Result<void, string> {
    if (Buffer.byteLength(path) > maxPathBytes)
      return Result.fail(`The path ${printableName(path)} is longer than ${maxPathBytes} bytes.`)
    const segments = path.split("/")
    for (const [index, segment] of segments.entries()) {
      const reason = refusedName(segment)
      if (reason !== undefined) return Result.fail(describeRefusedName(segment, reason))
      const prefix = segments.slice(0, index + 1).join("/")
      const key = folded(prefix)
      const spelling = this.#spellings.get(key)
      if (spelling !== undefined && spelling !== prefix)
        return Result.fail(
          `The paths ${printableName(spelling)} and ${printableName(prefix)} differ only by case or Unicode form. Rename one.`
        )
      const isLeaf = index === segments.length - 1
      if (isLeaf ? spelling !== undefined : this.#entries.has(prefix))
        return Result.fail(`The path ${printableName(prefix)} appears twice in the repository.`)
      this.#spellings.set(key, prefix)
    }
    this.#entries.add(path)
    return Result.void
  }
}

/** Compares two paths by their bytes, which determines the order of files in an archive. */
export const comparePaths = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
