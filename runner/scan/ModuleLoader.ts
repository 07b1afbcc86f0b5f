import { posix } from "node:path"
import { Effect, Result } from "effect"
import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import { isAmbientFile, reservedFileProblem } from "../execution/ModuleOverride.ts"
import type { SourceTree } from "../snapshot/SourceTree.ts"
import type { ToolName } from "../toolchain/Tool.ts"
import type { ReadFile } from "./BlockMerge.ts"
import { configFileName, configFilesOf } from "./ConfigFileName.ts"
import type { ConfigReader } from "./ConfigReader.ts"
import { declareModule, type ModuleDeclaration } from "./ModuleDeclaration.ts"
import { type HclParserUnavailable, ScanLimitExceeded } from "./ScanError.ts"
import type { ScanLimitValues } from "./ScanLimits.ts"
import { locate, notice, quoted, refusal } from "./ScanProblem.ts"
import type { TreeIndex } from "./TreeIndex.ts"

/** Findings about other files in a module's folder, relevant only when that module is installed. */
const folderRemarks = (index: TreeIndex, folder: string, names: ReadonlyArray<string>): ReadonlyArray<Finding> => {
  const remarks = names.filter(isAmbientFile).map((name) => {
    const code = name.includes("tfvars") ? "tfvars_ignored" : "file_ignored"
    const message = `${quoted(name)} is removed before the tool starts. Give values as inputs of the installation.`
    return locate(notice("warning", code, message), posix.join(folder, name))
  })
  const omitted = index.countOmittedBelow(folder)
  if (omitted === 0) return remarks
  const message = `${omitted} symbolic links, submodules, special files or names that cannot be stored below this folder are left out of the snapshot. A module that reads them fails.`
  return [...remarks, locate(notice("warning", "entries_omitted", message), folder)]
}

/** Configuration files that would be lost, or would conflict with the runner's own files. */
const misplacedFiles = (index: TreeIndex, folder: string, names: ReadonlyArray<string>): ReadonlyArray<Finding> => {
  const lost = index.omittedOf(folder).flatMap((name) => {
    if (configFileName(name) === undefined) return []
    const message =
      "The configuration file is a symbolic link, a submodule or a special file, or has a name that cannot be stored, so it is not part of the snapshot. Store it as a regular file with a name of its own."
    return [locate(refusal("config_file_omitted", message), posix.join(folder, name))]
  })
  const reserved = names.flatMap((name) => {
    const problem =
      configFileName(name) === undefined
        ? undefined
        : (reservedFileProblem(name) ?? reservedFileProblem(name.toLowerCase()))
    return problem === undefined ? [] : [locate(refusal("reserved_file_name", problem), posix.join(folder, name))]
  })
  return [...lost, ...reserved]
}

const dialectRemarks = (folder: string, files: ReturnType<typeof configFilesOf>): ReadonlyArray<Finding> => [
  ...files.read
    .filter(({ dialect }) => dialect === "opentofu")
    .map(({ name }) =>
      locate(
        notice("info", "opentofu_file", "Only OpenTofu reads this file; Terraform would run the module without it."),
        posix.join(folder, name)
      )
    ),
  ...files.unread.map(({ name }) =>
    locate(
      notice("info", "opentofu_file_unread", "Only OpenTofu reads this file; Terraform runs the module without it."),
      posix.join(folder, name)
    )
  ),
  ...files.hidden.map(({ name }) =>
    locate(
      notice(
        "warning",
        "hidden_by_opentofu_file",
        "OpenTofu reads the .tofu file of the same name instead of this one; it was not scanned."
      ),
      posix.join(folder, name)
    )
  )
]

/** Terraform finds no configuration in a folder that contains only OpenTofu's own files. */
const missingForTerraform = (
  folder: string,
  { read, unread }: ReturnType<typeof configFilesOf>
): ReadonlyArray<Finding> => {
  const [first] = unread
  if (first === undefined || read.length > 0) return []
  const message =
    "Only OpenTofu reads this file, and this service runs Terraform, which finds no configuration here. Run the service with OpenTofu, or add a .tf file."
  return [locate(refusal("tool_cannot_read", message), posix.join(folder, first.name))]
}

/** Reads the folders of one tree, each once, and enforces the limits of one scan. */
export class ModuleLoader {
  readonly #tree: SourceTree
  readonly #index: TreeIndex
  readonly #reader: ConfigReader["Service"]
  readonly #limits: ScanLimitValues
  readonly #tool: ToolName
  readonly #loaded = new Map<string, ModuleDeclaration>()
  #files = 0
  #bytes = 0

  constructor(
    tree: SourceTree,
    index: TreeIndex,
    reader: ConfigReader["Service"],
    limits: ScanLimitValues,
    tool: ToolName
  ) {
    this.#tree = tree
    this.#index = index
    this.#reader = reader
    this.#limits = limits
    this.#tool = tool
  }

  /** Folders in the tree that have been read, including folders of module calls without any configuration. */
  get loaded(): ReadonlyMap<string, ModuleDeclaration> {
    return this.#loaded
  }

  #configFiles(folder: string) {
    const sizes = new Map(this.#index.filesOf(folder).map(({ path, sizeBytes }) => [posix.basename(path), sizeBytes]))
    const names = [...sizes.keys()]
    const files = configFilesOf(names, this.#tool)
    const sizeOf = (name: string) => sizes.get(name) ?? 0
    const readable = files.read.map(({ name }) => sizeOf(name)).filter((size) => size <= this.#limits.fileBytes)
    return { names, files, sizeOf, count: readable.length, bytes: readable.reduce((total, size) => total + size, 0) }
  }

  /** Fails for folders that exceed the bounds of a scan in total, before reading any of them. */
  checkSizes(folders: ReadonlyArray<string>): Effect.Effect<void, ScanLimitExceeded> {
    const all = folders.map((folder) => this.#configFiles(folder))
    const total = (key: "count" | "bytes") => all.reduce((sum, folder) => sum + folder[key], 0)
    return this.#check(total("count"), total("bytes"))
  }

  #check(count: number, bytes: number): Effect.Effect<void, ScanLimitExceeded> {
    const { files, totalBytes } = this.#limits
    if (count > files) {
      const message = `The scan would read more than ${files} configuration files. Scan a single module or a smaller tree.`
      return Effect.fail(new ScanLimitExceeded({ limit: "files", maximum: files, message }))
    }
    if (bytes > totalBytes) {
      const message = `The scan would read more than ${totalBytes} bytes of configuration. Scan a single module or a smaller tree.`
      return Effect.fail(new ScanLimitExceeded({ limit: "bytes", maximum: totalBytes, message }))
    }
    return Effect.void
  }

  readonly #readFolder = Effect.fnUntraced(function* (this: ModuleLoader, folder: string) {
    const { names, files, sizeOf, count, bytes } = this.#configFiles(folder)
    this.#files += count
    this.#bytes += bytes
    yield* this.#check(this.#files, this.#bytes)

    const findings: Array<Finding> = [...misplacedFiles(this.#index, folder, names), ...dialectRemarks(folder, files)]
    const readFiles: Array<ReadFile> = []
    for (const { name, syntax, override } of files.read) {
      const path = posix.join(folder, name)
      const tooLarge = refusal("file_too_large", `The file is larger than ${this.#limits.fileBytes} bytes. Split it.`)
      if (sizeOf(name) > this.#limits.fileBytes) {
        findings.push(locate(tooLarge, path))
        continue
      }
      const content = yield* Effect.result(this.#tree.read(path))
      if (Result.isFailure(content)) {
        findings.push(locate(refusal("file_unreadable", content.failure.message), path))
        continue
      }
      // A folder on disk may have changed since it was listed.
      if (content.success.byteLength > this.#limits.fileBytes) {
        findings.push(locate(tooLarge, path))
        continue
      }
      const { blocks, problems } = yield* this.#reader.read(content.success, syntax)
      findings.push(...problems.map((problem) => locate(problem, path)))
      readFiles.push({ path, override, blocks })
    }
    if (files.read.length === 0) {
      findings.push(
        locate(
          notice(
            "warning",
            "module_without_configuration",
            "A module call names this folder, but it holds no configuration."
          ),
          folder
        )
      )
    }
    const rootFindings = [...folderRemarks(this.#index, folder, names), ...missingForTerraform(folder, files)]
    const dependsOnTool = names.some((name) => configFileName(name)?.dialect === "opentofu")
    return {
      ...declareModule(folder, readFiles, findings, rootFindings),
      ...(dependsOnTool ? { readAs: this.#tool } : {})
    }
  })

  /** Reads a folder and all folders reached through its module calls. */
  readonly load = Effect.fnUntraced(function* (
    this: ModuleLoader,
    folder: string
  ): Effect.fn.Return<void, ScanLimitExceeded | HclParserUnavailable> {
    const waiting = [folder]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (this.#loaded.has(next)) continue
      const declaration = yield* this.#readFolder(next)
      this.#loaded.set(next, declaration)
      for (const { path } of declaration.calls) {
        if (path !== undefined && this.#index.kindOf(path) === "folder") waiting.push(path)
      }
    }
  })
}
