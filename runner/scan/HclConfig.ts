import { type BlockShape, blockShapes, type ConfigAttribute, type ConfigBlock } from "./ConfigBlock.ts"
import { configValue } from "./ConfigValue.ts"
import type { OutlineBlock, OutlineBody } from "./HclOutline.ts"
import { isIdentifier } from "./Identifier.ts"
import type { LocatedJson, LocatedObject } from "./LocatedJson.ts"
import { quoted, refusal, type ScanProblem } from "./ScanProblem.ts"

export interface ConfigReading {
  readonly blocks: ReadonlyArray<ConfigBlock>
  readonly problems: ReadonlyArray<ScanProblem>
}

const labelsText = (count: number) => (count === 1 ? "one label" : count === 0 ? "no label" : `${count} labels`)

/** Joins the outline of a file (every block and its line) with the parser's result (the values). */
class HclReader {
  readonly blocks: Array<ConfigBlock> = []
  readonly problems: Array<ScanProblem> = []

  #refuse(code: string, message: string, line: number) {
    this.problems.push(refusal(code, message, line))
  }

  /**
   * The two readings of the file differ: either an argument hides a block, or one reader is wrong. In both cases, neither reading
   * can be trusted.
   */
  #disagreement(block: OutlineBlock) {
    this.#refuse(
      "parser_disagreement",
      `The block ${quoted(block.type)} is not where the parser put it. Check for an argument of the same name, and rewrite the block plainly.`,
      block.line
    )
  }

  #checkShape(block: OutlineBlock, shape: BlockShape): boolean {
    if (block.labels.length !== shape.labels) {
      this.#refuse(
        "wrong_labels",
        `A ${quoted(block.type)} block has ${labelsText(shape.labels)}; this one has ${block.labels.length}.`,
        block.line
      )
      return false
    }
    const label = block.labels.find((candidate) => !isIdentifier(candidate))
    if (label !== undefined) {
      this.#refuse(
        "invalid_name",
        `${quoted(label)} is not a name: use letters, digits, _ and -, and start with a letter.`,
        block.line
      )
      return false
    }
    return true
  }

  /** An argument and a block with the same name: one of them would be missing from the parser's result. */
  #checkNames(body: OutlineBody): boolean {
    const clash = body.blocks.find((block) => body.attributes.has(block.type))
    if (clash === undefined) return true
    this.#refuse(
      "argument_hides_block",
      `${quoted(clash.type)} is both an argument and a block here. Keep one of them.`,
      clash.line
    )
    return false
  }

  #attributes(body: OutlineBody, json: LocatedObject, shape: BlockShape): ReadonlyMap<string, ConfigAttribute> {
    const attributes = new Map<string, ConfigAttribute>()
    for (const [name, line] of body.attributes) {
      if (shape.keep !== "all" && !shape.keep.has(name)) continue
      const value = json.entries.get(name)
      if (value === undefined) {
        this.#refuse(
          "parser_disagreement",
          `The parser did not find the argument ${quoted(name)}. Rewrite it plainly.`,
          line
        )
      } else attributes.set(name, { value: configValue(value, "hcl"), line })
    }
    return attributes
  }

  readBlocks(
    body: OutlineBody,
    json: LocatedObject,
    shapes: ReadonlyMap<string, BlockShape>,
    onUnknown: (block: OutlineBlock) => void
  ) {
    if (!this.#checkNames(body)) return
    const seen = new Map<string, number>()
    for (const block of body.blocks) {
      const shape = shapes.get(block.type)
      if (shape === undefined) {
        onUnknown(block)
        continue
      }
      if (!this.#checkShape(block, shape)) continue
      const key = [block.type, ...block.labels].join("\n")
      const index = seen.get(key) ?? 0
      seen.set(key, index + 1)
      const content = findBlock(json, block, index)
      if (content === undefined) {
        this.#disagreement(block)
        continue
      }
      this.#readBlock(block, content, shape)
    }
    const shapedKeys = [...json.entries].filter(([name]) => shapes.has(name) && !body.attributes.has(name))
    const found = shapedKeys.reduce(
      (total, [name, value]) => total + countBlocks(value, shapes.get(name)?.labels ?? 0),
      0
    )
    const expected = [...seen.values()].reduce((total, count) => total + count, 0)
    if (found !== expected && this.problems.length === 0) {
      this.#refuse(
        "parser_disagreement",
        "The parser found other blocks than the file shows. Rewrite the file plainly.",
        1
      )
    }
  }

  #readBlock(block: OutlineBlock, json: LocatedObject, shape: BlockShape) {
    const { type, labels, line } = block
    if (!this.#checkNames(block)) return
    this.blocks.push({ type, labels, line, syntax: "hcl", attributes: this.#attributes(block, json, shape) })
    if (shape.inside === undefined && shape.closed !== true) return
    this.readBlocks(block, json, shape.inside ?? new Map(), (unknown) => {
      if (shape.closed === true) {
        this.#refuse(
          "unknown_block",
          `${quoted(unknown.type)} is not a known block inside ${quoted(type)}.`,
          unknown.line
        )
      }
    })
  }

  readFile(outline: OutlineBody, json: LocatedObject) {
    for (const [name, line] of outline.attributes) {
      this.#refuse(
        "stray_argument",
        `The argument ${quoted(name)} stands outside of any block. Remove it or move it into one.`,
        line
      )
    }
    this.readBlocks(outline, json, blockShapes, (unknown) =>
      this.#refuse("unknown_block", `${quoted(unknown.type)} is not a known block.`, unknown.line)
    )
  }
}

const findBlock = (body: LocatedObject, block: OutlineBlock, index: number): LocatedObject | undefined => {
  let node: LocatedJson | undefined = body.entries.get(block.type)
  for (const label of block.labels) node = node?.kind === "object" ? node.entries.get(label) : undefined
  const content = node?.kind === "array" ? node.items[index] : undefined
  return content?.kind === "object" ? content : undefined
}

const countBlocks = (node: LocatedJson, labels: number): number => {
  if (labels === 0) return node.kind === "array" ? node.items.length : 1
  if (node.kind !== "object") return 1
  return [...node.entries.values()].reduce((total, child) => total + countBlocks(child, labels - 1), 0)
}

/** The blocks of a file in HCL syntax. If the reading has a problem of severity `error`, the blocks must not be used. */
export const readHclConfig = (outline: OutlineBody, json: LocatedObject): ConfigReading => {
  const reader = new HclReader()
  reader.readFile(outline, json)
  return { blocks: reader.blocks, problems: reader.problems }
}
