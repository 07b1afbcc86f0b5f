import type { ConfigSyntax, ConfigValue } from "./ConfigValue.ts"

export interface ConfigAttribute {
  readonly value: ConfigValue
  readonly line: number
}

/**
 * A block in a configuration file. The relevant contents of `terraform`, `language` and `check` are separate blocks:
 * `required_providers`, `backend`, `cloud`, `encryption`, `compatible_with` and scoped `data`. Contains only the attributes that
 * a scan reads.
 */
export interface ConfigBlock {
  readonly type: string
  readonly labels: ReadonlyArray<string>
  readonly line: number
  readonly syntax: ConfigSyntax
  readonly attributes: ReadonlyMap<string, ConfigAttribute>
}

/** Attributes of a block that a scan reads. */
export type KeptAttributes = ReadonlySet<string> | "all"

/** The shape of a block: the number of labels, the attributes that a scan reads, and the nested blocks. */
export interface BlockShape {
  readonly labels: number
  readonly keep: KeptAttributes
  readonly inside?: ReadonlyMap<string, BlockShape>
  /** True if nested blocks other than `inside` are an error. */
  readonly closed?: boolean
}

const nothing: KeptAttributes = new Set<string>()
const provider: KeptAttributes = new Set(["provider"])
const resource: BlockShape = { labels: 2, keep: provider }

/** Top-level blocks of the language. Unknown blocks are refused, because their effect is unknown. */
export const blockShapes: ReadonlyMap<string, BlockShape> = new Map<string, BlockShape>([
  ["variable", { labels: 1, keep: new Set(["type", "default", "description", "sensitive", "ephemeral", "nullable"]) }],
  ["output", { labels: 1, keep: new Set(["description", "sensitive", "ephemeral"]) }],
  ["provider", { labels: 1, keep: new Set(["alias", "version", "for_each", "count", "depends_on", "source"]) }],
  ["module", { labels: 1, keep: new Set(["source", "version", "providers"]) }],
  ["resource", resource],
  ["data", resource],
  ["ephemeral", resource],
  ["action", resource],
  ["locals", { labels: 0, keep: "all", closed: true }],
  ["moved", { labels: 0, keep: new Set(["from", "to"]) }],
  ["removed", { labels: 0, keep: new Set(["from"]) }],
  ["import", { labels: 0, keep: new Set(["to", "provider"]) }],
  ["check", { labels: 1, keep: nothing, inside: new Map([["data", resource]]) }],
  [
    "language",
    {
      labels: 0,
      keep: new Set(["edition", "experiments"]),
      closed: true,
      inside: new Map<string, BlockShape>([["compatible_with", { labels: 0, keep: "all" }]])
    }
  ],
  [
    "terraform",
    {
      labels: 0,
      keep: new Set(["required_version", "experiments", "language"]),
      closed: true,
      inside: new Map<string, BlockShape>([
        ["required_providers", { labels: 0, keep: "all", closed: true }],
        ["backend", { labels: 1, keep: nothing }],
        ["cloud", { labels: 0, keep: nothing }],
        ["provider_meta", { labels: 1, keep: nothing }],
        ["encryption", { labels: 0, keep: nothing }]
      ])
    }
  ]
])
