import { readFileSync } from "node:fs"

/** A block of shell commands in a page. */
export interface ShellBlock {
  /** The heading above the block. */
  readonly section: string
  /** Text of the comment in the line before the block, e.g. `drill: backup`; empty if there is no comment. */
  readonly mark: string
  readonly script: string
}

const parts =
  /^#{2,} (?<heading>.+)$|^(?:<!-- (?<mark>[^\n]+) -->\n)?(?<indent> *)```sh\n(?<script>[^]*?)^\k<indent>```$/gm

/** Returns the blocks of shell commands in a page, in order. The name is a path below docs/. */
export const shellBlocks = (name: string): ReadonlyArray<ShellBlock> => {
  const text = readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8")
  const blocks: Array<ShellBlock> = []
  let section = ""
  for (const { groups = {} } of text.matchAll(parts)) {
    if (groups["heading"] !== undefined) section = groups["heading"]
    const script = groups["script"]?.replaceAll(new RegExp(`^${groups["indent"]}`, "gm"), "")
    if (script !== undefined) blocks.push({ section, mark: groups["mark"] ?? "", script })
  }
  return blocks
}

/** Returns the commands of all blocks in a section as one script. */
export const sectionScript = (name: string, section: string): string => {
  const blocks = shellBlocks(name).filter((block) => block.section === section)
  if (blocks.length === 0) throw new Error(`docs/${name} has no commands below "${section}"`)
  return blocks.map(({ script }) => script).join("")
}
