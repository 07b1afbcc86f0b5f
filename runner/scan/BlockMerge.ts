import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { ConfigBlock } from "./ConfigBlock.ts"
import type { ConfigSyntax, ConfigValue } from "./ConfigValue.ts"
import type { SourceLocation } from "./ScannedModule.ts"
import { locate, quoted, refusal } from "./ScanProblem.ts"

export interface ReadFile {
  readonly path: string
  readonly override: boolean
  readonly blocks: ReadonlyArray<ConfigBlock>
}

/** An argument and its location. If an override changes the argument, the location is in the override file. */
export interface PlacedAttribute {
  readonly value: ConfigValue
  readonly syntax: ConfigSyntax
  readonly location: SourceLocation
}

export interface PlacedBlock {
  readonly type: string
  readonly labels: ReadonlyArray<string>
  readonly location: SourceLocation
  readonly attributes: ReadonlyMap<string, PlacedAttribute>
}

export interface MergedBlocks {
  readonly blocks: ReadonlyArray<PlacedBlock>
  readonly findings: ReadonlyArray<Finding>
}

const place = (block: ConfigBlock, path: string): PlacedBlock => ({
  type: block.type,
  labels: block.labels,
  location: { path, line: block.line },
  attributes: new Map(
    [...block.attributes].map(([name, { value, line }]) => [
      name,
      { value, syntax: block.syntax, location: { path, line } }
    ])
  )
})

/** Maps each block type that a module may contain only once to the name of its group. */
const singletons: ReadonlyMap<string, string> = new Map([
  ["required_providers", "required_providers"],
  ["backend", "backend or cloud"],
  ["cloud", "backend or cloud"]
])

const aliasOf = ({ attributes }: PlacedBlock) => {
  const alias = attributes.get("alias")?.value
  return alias?.kind === "string" ? alias.value : ""
}

/**
 * Returns the key that identifies a block when svc looks for duplicates and overrides, or `undefined` for a block that a
 * module may repeat.
 */
const identityOf = (block: PlacedBlock): string | undefined => {
  const singleton = singletons.get(block.type)
  if (singleton !== undefined) return singleton
  if (block.type === "provider") return ["provider", ...block.labels, aliasOf(block)].join(" ").trim()
  return block.labels.length === 0 ? undefined : [block.type, ...block.labels].join(" ")
}

/** Splits local values into separate blocks, so that they can be duplicated and overridden by name, like other declarations. */
const separateLocals = (block: PlacedBlock): ReadonlyArray<PlacedBlock> =>
  block.type === "locals"
    ? [...block.attributes].map(([name, { location }]) => ({
        type: "local",
        labels: [name],
        location,
        attributes: new Map()
      }))
    : [block]

/** Returns true if an override may add this block instead of changing an existing block. */
const mayBeNew = (block: PlacedBlock) =>
  singletons.has(block.type) ||
  block.type === "provider_meta" ||
  (block.type === "provider" && !block.attributes.has("alias"))

/** Blocks that the tools refuse in an override file. */
const neverOverriding: ReadonlySet<string> = new Set(["check", "import", "language", "moved"])

/**
 * Merges the files of one folder, in order. A duplicate declaration is an error. An override file replaces individual
 * arguments of a declaration; its version constraints, however, replace all earlier constraints.
 */
export const mergeBlocks = (files: ReadonlyArray<ReadFile>): MergedBlocks => {
  const declared = new Map<string, PlacedBlock>()
  const repeatable: Array<PlacedBlock> = []
  const findings: Array<Finding> = []
  const refuse = (code: string, message: string, { path, line }: SourceLocation) =>
    findings.push(locate(refusal(code, message, line), path))

  for (const file of files) {
    const blocks = file.blocks.map((block) => place(block, file.path)).flatMap(separateLocals)
    if (
      file.override &&
      blocks.some(({ type, attributes }) => type === "terraform" && attributes.has("required_version"))
    ) {
      for (const [index, { attributes }] of repeatable.entries()) {
        const block = repeatable[index]
        if (block === undefined || !attributes.has("required_version")) continue
        repeatable[index] = {
          ...block,
          attributes: new Map([...attributes].filter(([name]) => name !== "required_version"))
        }
      }
    }
    for (const block of blocks) {
      if (file.override && neverOverriding.has(block.type)) {
        refuse(
          "block_in_override",
          `An override file cannot hold a block ${quoted(block.type)}. Move it to another file.`,
          block.location
        )
        continue
      }
      const identity = identityOf(block)
      if (identity === undefined) {
        repeatable.push(block)
        continue
      }
      const base = declared.get(identity)
      if (base === undefined) {
        if (file.override && !mayBeNew(block)) {
          refuse(
            "override_without_base",
            `The override file changes ${quoted(identity)}, which no other file declares.`,
            block.location
          )
        }
        declared.set(identity, block)
      } else if (file.override) {
        declared.set(identity, { ...base, attributes: new Map([...base.attributes, ...block.attributes]) })
      } else {
        const { path, line } = base.location
        refuse(
          "duplicate_block",
          `${quoted(identity)} was already declared in ${path}, line ${line}. Keep one of them.`,
          block.location
        )
      }
    }
  }
  return { blocks: [...declared.values(), ...repeatable], findings }
}
