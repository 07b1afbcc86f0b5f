import type { ToolName } from "../toolchain/Tool.ts"
import type { ConfigSyntax } from "./ConfigValue.ts"

/** A file that the tool reads as configuration. `stem` is its name without extensions. */
export interface ConfigFileName {
  readonly name: string
  readonly stem: string
  readonly syntax: ConfigSyntax
  readonly dialect: "common" | "opentofu"
  /** True if the file overrides other files instead of adding to them. */
  readonly override: boolean
}

const configExtension = /\.(tf|tofu)(\.json)?$/

/** Returns true for hidden files and editor backups, which the tools also skip. */
const isIgnored = (name: string) =>
  name.startsWith(".") || name.endsWith("~") || (name.startsWith("#") && name.endsWith("#"))

export const configFileName = (name: string): ConfigFileName | undefined => {
  const extension = configExtension.exec(name)
  if (extension === null || isIgnored(name)) return undefined
  const stem = name.slice(0, extension.index)
  return {
    name,
    stem,
    syntax: extension[2] === undefined ? "hcl" : "json",
    dialect: extension[1] === "tofu" ? "opentofu" : "common",
    override: stem === "override" || stem.endsWith("_override")
  }
}

/**
 * Lists the configuration files of one folder in the order in which a tool applies them: normal files by name, then overrides by
 * name. A file specific to OpenTofu hides the common file with the same stem and syntax. Terraform reads only common files,
 * so files specific to OpenTofu are `unread`.
 */
export const configFilesOf = (names: ReadonlyArray<string>, tool: ToolName) => {
  const found = names.flatMap((name) => configFileName(name) ?? [])
  const unread = tool === "terraform" ? found.filter(({ dialect }) => dialect === "opentofu") : []
  const all = found.filter((file) => !unread.includes(file))
  const place = ({ stem, syntax }: ConfigFileName) => `${syntax} ${stem}`
  const forOpenTofu = new Set(all.filter(({ dialect }) => dialect === "opentofu").map(place))
  const isHidden = (file: ConfigFileName) => file.dialect === "common" && forOpenTofu.has(place(file))
  const byBytes = (left: ConfigFileName, right: ConfigFileName) =>
    Buffer.compare(Buffer.from(left.name), Buffer.from(right.name))
  const read = all.filter((file) => !isHidden(file)).sort(byBytes)
  return {
    read: [...read.filter(({ override }) => !override), ...read.filter(({ override }) => override)],
    hidden: all.filter(isHidden),
    unread
  }
}
