import { posix } from "node:path"
import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { ProviderPackage } from "../../schema/records/Provider.ts"
import type { ModuleCallDeclaration } from "./ModuleCallDeclaration.ts"
import type { ModuleDeclaration } from "./ModuleDeclaration.ts"
import { rootRequirements } from "./ProviderInheritance.ts"
import type { LocalModuleCall, ScannedModule } from "./ScannedModule.ts"
import { locate, notice, quoted, refusal } from "./ScanProblem.ts"
import type { FolderKind, TreeIndex } from "./TreeIndex.ts"

const brokenTargets: Record<Exclude<FolderKind, "folder">, { readonly code: string; readonly reason: string }> = {
  missing: { code: "module_not_found", reason: "the tree has no such folder" },
  symlink: {
    code: "module_source_symlink",
    reason: "the path goes through a symbolic link, which is not part of the snapshot"
  },
  submodule: {
    code: "module_source_submodule",
    reason: "the path goes into a Git submodule, which is not part of the snapshot"
  },
  special: {
    code: "module_source_special",
    reason: "the path goes through a special file or a name that cannot be stored, which is not part of the snapshot"
  }
}

/** Follows the module calls of one module through folders that the loader has read. */
class GraphWalk {
  readonly localModules: Array<LocalModuleCall> = []
  readonly reached = new Map<string, ModuleDeclaration>()
  readonly findings: Array<Finding> = []
  readonly #root: ModuleDeclaration
  readonly #index: TreeIndex
  readonly #loaded: ReadonlyMap<string, ModuleDeclaration>
  readonly #maxCalls: number
  #tooLarge = false

  constructor(
    root: ModuleDeclaration,
    index: TreeIndex,
    loaded: ReadonlyMap<string, ModuleDeclaration>,
    maxCalls: number
  ) {
    this.#root = root
    this.#index = index
    this.#loaded = loaded
    this.#maxCalls = maxCalls
  }

  #refuse(code: string, message: string, { sourceLocation: { path, line } }: ModuleCallDeclaration) {
    this.findings.push(locate(refusal(code, message, line), path))
  }

  walk(module: ModuleDeclaration = this.#root, prefix = "", above: ReadonlyArray<string> = []) {
    if (!this.reached.has(module.path)) {
      this.reached.set(module.path, module)
      this.findings.push(...module.findings)
    }
    const path = [...above, module.path]
    for (const call of module.calls) {
      if (this.#tooLarge) return
      this.#follow(call, prefix, path)
    }
  }

  #follow(call: ModuleCallDeclaration, prefix: string, above: ReadonlyArray<string>) {
    // A call without a path has already been refused, when it was read.
    if (call.path === undefined) return
    const kind = this.#index.kindOf(call.path)
    if (kind !== "folder") {
      const { code, reason } = brokenTargets[kind]
      this.#refuse(
        code,
        `The module call ${quoted(call.name)} cannot be followed to ${quoted(call.path)}: ${reason}.`,
        call
      )
      return
    }
    if (above.includes(call.path)) {
      this.#refuse(
        "module_cycle",
        `The module call ${quoted(call.name)} leads back to ${quoted(call.path)}, which is being called already.`,
        call
      )
      return
    }
    if (this.localModules.length >= this.#maxCalls) {
      this.#tooLarge = true
      this.#refuse(
        "module_graph_too_large",
        `The module reaches more than ${this.#maxCalls} module calls. Flatten it.`,
        call
      )
      return
    }
    const key = `${prefix}${call.name}`
    const dir = posix.relative(posix.join("/", this.#root.path), posix.join("/", call.path))
    this.localModules.push({ key, source: call.source, dir: dir === "" ? "." : dir, path: call.path })
    const child = this.#loaded.get(call.path)
    if (child !== undefined) this.walk(child, `${key}.`, above)
  }
}

const compare = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0)
const sortedUnique = (texts: Iterable<string>) => [...new Set(texts)].sort(compare)

const packagesOf = (modules: Iterable<ModuleDeclaration>): ReadonlyArray<ProviderPackage> => {
  const packages = new Map<string, Array<string>>()
  for (const { providers } of modules) {
    for (const { source, constraints } of providers.names.values()) {
      if (source.builtin) continue
      const known = packages.get(source.address)
      if (known === undefined) packages.set(source.address, [...constraints])
      else known.push(...constraints)
    }
  }
  return [...packages]
    .sort(([left], [right]) => compare(left, right))
    .map(([source, constraints]) => ({ source, versionConstraints: sortedUnique(constraints) }))
}

const severities = ["error", "warning", "info"]
const maxFindings = 200

/** Enough constraints to explain why a tool does not fit; in a graph of thousands of modules the same few constraints recur. */
const maxToolConstraints = 500

/** Without duplicates, most severe first; findings beyond the limit are only counted. */
const orderedFindings = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const unique = [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()].sort(
    (left, right) =>
      severities.indexOf(left.severity) - severities.indexOf(right.severity) ||
      compare(left.path ?? "", right.path ?? "") ||
      (left.line ?? 0) - (right.line ?? 0) ||
      compare(left.code, right.code)
  )
  if (unique.length <= maxFindings) return unique
  const more = unique.length - maxFindings
  return [
    ...unique.slice(0, maxFindings),
    notice("warning", "more_findings", `There are ${more} more findings. Correct these first.`)
  ]
}

/**
 * The verdict on one module, with the number of module calls that it followed. `loaded` contains every folder that the module
 * reaches.
 */
export const judgeModule = (
  root: ModuleDeclaration,
  index: TreeIndex,
  loaded: ReadonlyMap<string, ModuleDeclaration>,
  maxCalls: number
): { readonly module: ScannedModule; readonly followedCalls: number } => {
  const graph = new GraphWalk(root, index, loaded, maxCalls)
  graph.walk()
  const reached = [...graph.reached.values()]
  const findings = orderedFindings([...graph.findings, ...root.rootFindings])
  const supported = findings.every(({ severity }) => severity !== "error")
  const { inherited, requirements } = supported
    ? rootRequirements(root, (path) => loaded.get(path))
    : { requirements: [], inherited: [] }
  const readAs = reached.find((module) => module.readAs !== undefined)?.readAs
  const module: ScannedModule = {
    path: root.path,
    status: supported ? "supported" : "unsupported",
    variables: root.variables,
    outputs: root.outputs,
    providerPackages: supported ? packagesOf(reached) : [],
    rootProviderRequirements: requirements,
    ...(inherited.length === 0 ? {} : { inheritedProviders: inherited }),
    moduleCalls: root.calls.map(({ name, source, path, location }) => ({
      name,
      source,
      ...(path === undefined ? {} : { path }),
      location
    })),
    localModules: supported ? graph.localModules : [],
    requiredVersion: sortedUnique(reached.flatMap(({ requiredVersion }) => requiredVersion)),
    ...(readAs === undefined ? {} : { readAs }),
    toolDemands: reached.flatMap(({ toolConstraints }) => toolConstraints).slice(0, maxToolConstraints),
    findings
  }
  return { module, followedCalls: graph.localModules.length }
}
