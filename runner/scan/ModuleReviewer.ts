import { posix } from "node:path"
import { Effect, Result } from "effect"
import {
  type ModuleReview,
  mostReviewItems,
  type ReviewChanges,
  type ReviewItem
} from "../../schema/records/StaticReview.ts"
import type { SourceTree } from "../snapshot/SourceTree.ts"
import { configFileName } from "./ConfigFileName.ts"
import { configText } from "./ConfigText.ts"
import { type OutlineBlock, type OutlineBody, readOutline } from "./HclOutline.ts"
import { isPartOf } from "./ModuleChange.ts"
import { moduleFootprint } from "./ModuleFootprint.ts"
import { ModuleScanner } from "./ModuleScanner.ts"
import { resolveLocalSource } from "./ModuleSource.ts"
import { ScanLimits } from "./ScanLimits.ts"
import type { ScannedModule } from "./ScannedModule.ts"
import { TreeIndex } from "./TreeIndex.ts"

/** One of the two compared commits, with a digest of each file. */
export interface ReviewedTree {
  readonly tree: SourceTree
  readonly digests: ReadonlyMap<string, string>
}

/** Data sources that start a program or contact an address while the tool plans. */
const programSource = /^(?:external|http|local_command|shell_script|null_data_source|terraform_remote_state)$/

/** Providers that are part of the tool. */
const builtIn = /^terraform\.io\/builtin\//

type Kind = "resources" | "dataSources" | "moduleCalls" | "inputs" | "outputs" | "runsCode"

/** The blocks at one commit, by kind. The same key identifies a block at both commits. */
type Blocks = Readonly<Record<Kind, Map<string, ReviewItem>>>

const noBlocks = (): Blocks => ({
  resources: new Map(),
  dataSources: new Map(),
  moduleCalls: new Map(),
  inputs: new Map(),
  outputs: new Map(),
  runsCode: new Map()
})

/**
 * The literal source of a module call. It is read from the file, because the outline contains only the line of the source.
 */
const sourceOf = (block: OutlineBlock, lines: ReadonlyArray<string>) => {
  const line = block.attributes.get("source")
  return line === undefined ? undefined : /source\s*=\s*"([^"\n]{1,300})"/.exec(lines[line - 1] ?? "")?.[1]
}

/** The address that a `removed` block forgets or destroys. It is read from the file, like the source of a module call. */
const removedAddress = (block: OutlineBlock, lines: ReadonlyArray<string>) => {
  const line = block.attributes.get("from")
  return line === undefined ? undefined : /from\s*=\s*([\w.-]{1,300})/.exec(lines[line - 1] ?? "")?.[1]
}

class BlockReader {
  readonly blocks = noBlocks()
  readonly unread: Array<string> = []
  /** The folders of the modules in the tree that the read files call. */
  readonly called = new Set<string>()
  readonly #root: string
  readonly #times = new Map<string, number>()

  constructor(root: string) {
    this.#root = root
  }

  #add(kind: Kind, name: string, path: string, line: number) {
    this.blocks[kind].set(`${posix.dirname(path)} ${name}`, { name, path, line })
  }

  /** Lists each provisioner, because a resource may have several of one type, and each runs its own command. */
  #provisioners(block: OutlineBlock, address: string, path: string) {
    for (const inner of block.blocks) {
      if (inner.type !== "provisioner") continue
      const name = `${address} provisioner ${inner.labels.join(" ")}`
      const key = `${posix.dirname(path)} ${name}`
      const nth = (this.#times.get(key) ?? 0) + 1
      this.#times.set(key, nth)
      this.blocks.runsCode.set(`${key} ${nth}`, { name, path, line: inner.line })
    }
  }

  #block(block: OutlineBlock, path: string, lines: ReadonlyArray<string>) {
    const [type = "", name = ""] = block.labels
    const isRoot = posix.dirname(path) === this.#root
    switch (block.type) {
      case "resource":
        this.#add("resources", `${type}.${name}`, path, block.line)
        return this.#provisioners(block, `${type}.${name}`, path)
      case "ephemeral":
      case "action":
        this.#add("resources", `${block.type}.${type}.${name}`, path, block.line)
        if (block.type === "action") this.#add("runsCode", `action.${type}.${name}`, path, block.line)
        return
      case "data":
        this.#add("dataSources", `data.${type}.${name}`, path, block.line)
        if (programSource.test(type)) this.#add("runsCode", `data.${type}.${name}`, path, block.line)
        return
      case "check":
        for (const inner of block.blocks) this.#block(inner, path, lines)
        return
      case "removed":
        return this.#provisioners(block, ["removed", removedAddress(block, lines) ?? ""].join(" ").trim(), path)
      case "module": {
        const source = sourceOf(block, lines)
        if (source?.startsWith(".") === true) {
          const folder = resolveLocalSource(posix.dirname(path), source)
          if (folder !== undefined) this.called.add(folder)
        }
        return this.#add("moduleCalls", `module.${type}${source === undefined ? "" : ` (${source})`}`, path, block.line)
      }
      case "variable":
        return isRoot ? this.#add("inputs", type, path, block.line) : undefined
      case "output":
        return isRoot ? this.#add("outputs", type, path, block.line) : undefined
      default:
        return
    }
  }

  read(path: string, text: string, { blocks }: OutlineBody) {
    const lines = text.split("\n")
    for (const block of blocks) this.#block(block, path, lines)
  }
}

const listed = <A>(items: ReadonlyArray<A>) => items.slice(0, mostReviewItems)

const beyond = (...lists: ReadonlyArray<ReadonlyArray<unknown>>) =>
  lists.reduce((sum, list) => sum + Math.max(0, list.length - mostReviewItems), 0)

const compared = (
  before: ReadonlyMap<string, ReviewItem>,
  after: ReadonlyMap<string, ReviewItem>
): ReviewChanges & { readonly present: ReadonlyArray<ReviewItem> } => {
  const added = [...after].flatMap(([key, item]) => (before.has(key) ? [] : [item]))
  const removed = [...before].flatMap(([key, item]) => (after.has(key) ? [] : [item]))
  return { added: listed(added), removed: listed(removed), more: beyond(added, removed), present: [...after.values()] }
}

const noChanges: ReviewChanges = { added: [], removed: [], more: 0 }

const changesOnly = ({ added, more, removed }: ReviewChanges): ReviewChanges => ({ added, removed, more })

const providersOf = (scan: ScannedModule | undefined) =>
  new Map(
    (scan?.providerPackages ?? []).map(({ source, versionConstraints }) => {
      const name = versionConstraints.length === 0 ? source : `${source} (${versionConstraints.join(", ")})`
      return [name, { name, path: scan?.path ?? ".", line: 0 }]
    })
  )

/** Reads the module at one commit. */
const moduleAt = Effect.fnUntraced(function* ({ tree }: ReviewedTree, path: string) {
  const scanner = yield* ModuleScanner
  const { fileBytes, nesting } = yield* ScanLimits
  const [scan] = yield* scanner.scanModules(tree, [path])
  const index = new TreeIndex(tree)
  const reader = new BlockReader(path)
  // The scan lists no local modules of a module that svc cannot install, so the calls in the files count too. A loop over a
  // Set also visits what is added meanwhile.
  const folders = new Set(scan === undefined ? [] : [path, ...scan.localModules.map((call) => call.path)])
  for (const folder of folders) {
    for (const file of index.filesOf(folder)) {
      const name = configFileName(posix.basename(file.path))
      if (name === undefined) continue
      const text =
        name.syntax === "json" || file.sizeBytes > fileBytes
          ? undefined
          : yield* tree.read(file.path).pipe(
              Effect.flatMap((bytes) => Effect.fromResult(configText(bytes, name.syntax))),
              Effect.orElseSucceed(() => undefined)
            )
      const outline = text === undefined ? undefined : readOutline(text, nesting)
      if (text === undefined || outline === undefined || Result.isFailure(outline)) reader.unread.push(file.path)
      else reader.read(file.path, text, outline.success)
      yield* Effect.yieldNow
    }
    for (const called of reader.called) folders.add(called)
  }
  return { scan, blocks: reader.blocks, unread: reader.unread, footprint: yield* moduleFootprint(tree, path) }
})

/** Returns the reason why the tool cannot validate the module until providers or modules have been installed. */
const validationObstacle = (scan: ScannedModule | undefined): string | undefined => {
  if (scan === undefined) return "The head has no such module."
  if (scan.status === "unsupported") return "svc cannot install the module: see the findings."
  const providers = scan.providerPackages.flatMap(({ source }) => (builtIn.test(source) ? [] : [source]))
  if (providers.length > 0) return `It needs ${providers.join(", ")}, and a static review starts no provider.`
  return scan.localModules.length > 0 || scan.moduleCalls.length > 0
    ? "It calls modules, which the tool would have to install first."
    : undefined
}

const lockState = (before: string | undefined, after: string | undefined): ModuleReview["lockFile"] => {
  if (before === after) return after === undefined ? "absent" : "unchanged"
  return before === undefined ? "added" : after === undefined ? "removed" : "changed"
}

/**
 * Compares a module at two commits by reading its files. Does not evaluate or start anything, because anybody may have written
 * the code. Does not run the tool's own checks; `obstacle` is the reason why the tool cannot validate the head, if any.
 */
export const reviewModule = Effect.fn("reviewModule")(function* (
  before: ReviewedTree,
  after: ReviewedTree,
  path: string
) {
  const base = yield* moduleAt(before, path)
  const head = yield* moduleAt(after, path)
  const isPart = (file: string) => isPartOf(base.footprint, file) || isPartOf(head.footprint, file)
  const differing = [...new Set([...before.digests.keys(), ...after.digests.keys()])]
    .filter((file) => before.digests.get(file) !== after.digests.get(file) && isPart(file))
    .sort()
  const added = differing.filter((file) => !before.digests.has(file))
  const removed = differing.filter((file) => !after.digests.has(file))
  const changed = differing.filter((file) => before.digests.has(file) && after.digests.has(file))
  const change = (kind: Kind) => changesOnly(compared(base.blocks[kind], head.blocks[kind]))
  // The scan lists no providers of a module that svc cannot install.
  const isUnknown = [base.scan, head.scan].some((scan) => scan?.status === "unsupported")
  const runsCode = compared(base.blocks.runsCode, head.blocks.runsCode)
  const lock = posix.join(path, ".terraform.lock.hcl")
  const review = {
    path,
    status: head.scan?.status ?? "absent",
    files: {
      added: listed(added),
      changed: listed(changed),
      removed: listed(removed),
      more: beyond(added, changed, removed)
    },
    resources: change("resources"),
    dataSources: change("dataSources"),
    moduleCalls: change("moduleCalls"),
    providers: isUnknown ? noChanges : changesOnly(compared(providersOf(base.scan), providersOf(head.scan))),
    inputs: change("inputs"),
    outputs: change("outputs"),
    runsCode: {
      ...runsCode,
      present: listed(runsCode.present),
      more: runsCode.more + beyond(runsCode.present)
    },
    lockFile: lockState(before.digests.get(lock), after.digests.get(lock)),
    unread: listed(head.unread),
    findings: listed((head.scan?.findings ?? []).filter(({ severity }) => severity === "error"))
  } satisfies Omit<ModuleReview, "validation" | "formatting">
  return { review, obstacle: validationObstacle(head.scan) }
})
