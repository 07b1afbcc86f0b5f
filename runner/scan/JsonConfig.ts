import { type BlockShape, blockShapes, type ConfigAttribute, type ConfigBlock } from "./ConfigBlock.ts"
import { configValue } from "./ConfigValue.ts"
import type { ConfigReading } from "./HclConfig.ts"
import { isIdentifier } from "./Identifier.ts"
import { type LocatedJson, type LocatedObject, propertiesOf } from "./LocatedJson.ts"
import { quoted, refusal, type ScanProblem } from "./ScanProblem.ts"

const hasRepeatedKey = (value: LocatedJson): boolean => {
  switch (value.kind) {
    case "array":
      return value.items.some(hasRepeatedKey)
    case "object":
      return value.repeated !== undefined || [...value.entries.values()].some(hasRepeatedKey)
    default:
      return false
  }
}

/** A property that acts as a comment. */
const comment = "//"

class JsonReader {
  readonly blocks: Array<ConfigBlock> = []
  readonly problems: Array<ScanProblem> = []

  #refuse(code: string, message: string, line: number) {
    this.problems.push(refusal(code, message, line))
  }

  /** The objects in a position that accepts one object or a list. */
  #objects(node: LocatedJson, type: string, isBody: boolean): ReadonlyArray<LocatedObject> {
    const objects: Array<LocatedObject> = []
    for (const item of node.kind === "array" ? node.items : [node]) {
      if (item.kind === "object") objects.push(item)
      // In a list of bodies, null is a body without arguments.
      else if (isBody && item.kind === "null") objects.push({ kind: "object", entries: new Map(), line: item.line })
      else this.#refuse("wrong_labels", `A ${quoted(type)} block must be an object here.`, item.line)
    }
    return objects
  }

  #readLabelled(type: string, shape: BlockShape, node: LocatedJson, labels: ReadonlyArray<string>) {
    const isBody = labels.length === shape.labels
    // Where a body is expected, null means that the block is absent.
    if (isBody && node.kind === "null") return
    const objects = this.#objects(node, type, isBody)
    if (!isBody && objects.every(({ entries }) => entries.size === 0)) {
      this.#refuse("wrong_labels", `A ${quoted(type)} block needs a name here.`, node.line)
    }
    for (const object of objects) {
      if (isBody) {
        this.#readBlock(type, labels, object, shape)
        continue
      }
      for (const [label, child] of propertiesOf(object)) {
        if (isIdentifier(label)) this.#readLabelled(type, shape, child, [...labels, label])
        else {
          this.#refuse(
            "invalid_name",
            `${quoted(label)} is not a name: use letters, digits, _ and -, and start with a letter.`,
            child.line
          )
        }
      }
    }
  }

  #readBlock(type: string, labels: ReadonlyArray<string>, body: LocatedObject, shape: BlockShape) {
    const attributes = new Map<string, ConfigAttribute>()
    for (const [name, value] of propertiesOf(body)) {
      if (name === comment || shape.inside?.has(name) === true) continue
      if (shape.keep === "all" || shape.keep.has(name)) {
        if (attributes.has(name) || hasRepeatedKey(value)) {
          this.#refuse("duplicate_key", `${quoted(name)} is given twice, or holds a key twice. Keep one.`, value.line)
        }
        attributes.set(name, { value: configValue(value, "json"), line: value.line })
      } else if (shape.closed === true) {
        this.#refuse("unknown_block", `${quoted(name)} is not known inside ${quoted(type)}.`, value.line)
      }
    }
    this.blocks.push({ type, labels, line: body.line, syntax: "json", attributes })
    for (const [name, node] of propertiesOf(body)) {
      const inner = shape.inside?.get(name)
      if (inner !== undefined) this.#readLabelled(name, inner, node, [])
    }
  }

  readFile(root: LocatedObject) {
    for (const [type, node] of propertiesOf(root)) {
      if (type === comment) continue
      const shape = blockShapes.get(type)
      if (shape === undefined) this.#refuse("unknown_block", `${quoted(type)} is not a known block.`, node.line)
      else this.#readLabelled(type, shape, node, [])
    }
  }
}

/** The blocks of a file in JSON syntax. If the reading has a problem of severity `error`, the blocks must not be used. */
export const readJsonConfig = (root: LocatedJson): ConfigReading => {
  const reader = new JsonReader()
  for (const part of root.kind === "array" ? root.items : [root]) {
    if (part.kind === "object") reader.readFile(part)
    else {
      const message = "The file must hold a JSON object, or an array of objects."
      return { blocks: [], problems: [refusal("json_syntax", message, part.line)] }
    }
  }
  return { blocks: reader.blocks, problems: reader.problems }
}
