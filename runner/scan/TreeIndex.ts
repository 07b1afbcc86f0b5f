import { posix } from "node:path"
import type { OmittedEntry, SourceFile, SourceTree } from "../snapshot/SourceTree.ts"
import { configFileName } from "./ConfigFileName.ts"

/** The kind of entry that a module call finds at a path in the tree. */
export type FolderKind = "folder" | "missing" | OmittedEntry["kind"]

/** Returns true for the tools' own folders. The runner removes these folders, so they are not part of a module. */
const isToolFolder = (segment: string) => segment === ".terraform" || segment === ".git"

/** Index of a source tree by folder. Paths are canonical; the root is `.`. */
export class TreeIndex {
  readonly #files = new Map<string, Array<SourceFile>>()
  readonly #folders = new Set<string>(["."])
  readonly #omitted = new Map<string, OmittedEntry["kind"]>()
  readonly #omittedNames = new Map<string, Array<string>>()
  readonly #omittedBelow = new Map<string, number>()

  constructor(tree: SourceTree) {
    for (const file of tree.files) {
      const folder = posix.dirname(file.path)
      if (folder.split("/").some(isToolFolder)) continue
      const files = this.#files.get(folder)
      if (files === undefined) this.#files.set(folder, [file])
      else files.push(file)
      for (let parent = folder; !this.#folders.has(parent); parent = posix.dirname(parent)) this.#folders.add(parent)
    }
    for (const { path, kind } of tree.omitted) this.#addOmitted(path, kind)
  }

  /** Lists the files directly in a folder. */
  filesOf(folder: string): ReadonlyArray<SourceFile> {
    return this.#files.get(folder) ?? []
  }

  #addOmitted(path: string, kind: OmittedEntry["kind"]) {
    this.#omitted.set(path, kind)
    const folder = posix.dirname(path)
    const names = this.#omittedNames.get(folder)
    if (names === undefined) this.#omittedNames.set(folder, [posix.basename(path)])
    else names.push(posix.basename(path))
    for (let parent = folder; ; parent = posix.dirname(parent)) {
      this.#omittedBelow.set(parent, this.countOmittedBelow(parent) + 1)
      if (parent === ".") return
    }
  }

  /** Lists the names of omitted entries directly in a folder. */
  omittedOf(folder: string): ReadonlyArray<string> {
    return this.#omittedNames.get(folder) ?? []
  }

  /** Counts the omitted entries below a folder. */
  countOmittedBelow(folder: string): number {
    return this.#omittedBelow.get(folder) ?? 0
  }

  kindOf(path: string): FolderKind {
    for (let part = path; part !== "."; part = posix.dirname(part)) {
      const omitted = this.#omitted.get(part)
      if (omitted !== undefined) return omitted
    }
    return this.#folders.has(path) ? "folder" : "missing"
  }

  isModule(path: string): boolean {
    return this.filesOf(path).some((file) => configFileName(posix.basename(file.path)) !== undefined)
  }

  /** Lists all folders with configuration files, sorted by the bytes of their paths. */
  modules(): ReadonlyArray<string> {
    return [...this.#files.keys()]
      .filter((folder) => this.isModule(folder))
      .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
  }
}
