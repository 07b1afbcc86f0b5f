import { type BlockShape, blockShapes, type ConfigAttribute, type ConfigBlock } from "./ConfigBlock.ts"
import { configValue } from "./ConfigValue.ts"
import type { ConfigReading } from "./HclConfig.ts"
import { isIdentifier } from "./Identifier.ts"
import type { LocatedJson, LocatedObject } from "./LocatedJson.ts"
import { quoted, refusal, type ScanProblem } from "./ScanProblem.ts"

/** A property that acts as a comment. */
const comment = "//"

class JsonReader {
  readonly blocks: Array<ConfigBlock> = []
  readonly problems: Array<ScanProblem> = []

  #refuse(code: string, message: string, line: number) {
    this.problems.push(refusal(code, message, line))
  }

  /** The objects in a position that accepts one object or a list. */
  #objects(node: LocatedJson, type: string): ReadonlyArray<LocatedObject> {
    const objects: Array<LocatedObject> = []
    for (const item of node.kind === "array" ? node.items : [node]) {
      if (item.kind === "object") objects.push(item)
      else this.#refuse("wrong_labels", `A ${quoted(type)} block must be an object here.`, item.line)
    }
    return objects
  }

  #readLabelled(type: string, shape: BlockShape, node: LocatedJson, labels: ReadonlyArray<string>) {
    for (const object of this.#objects(node, type)) {
      if (labels.length === shape.labels) {
        this.#readBlock(type, labels, object, shape)
        continue
      }
      for (const [label, child] of object.entries) {
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
    for (const [name, value] of body.entries) {
      if (name === comment || shape.inside?.has(name) === true) continue
      if (shape.keep === "all" || shape.keep.has(name)) {
        attributes.set(name, { value: configValue(value, "json"), line: value.line })
      } else if (shape.closed === true) {
        this.#refuse("unknown_block", `${quoted(name)} is not known inside ${quoted(type)}.`, value.line)
      }
    }
    this.blocks.push({ type, labels, line: body.line, syntax: "json", attributes })
    for (const [name, inner] of shape.inside ?? []) {
      const node = body.entries.get(name)
      if (node !== undefined) this.#readLabelled(name, inner, node, [])
    }
  }

  readFile(root: LocatedObject) {
    for (const [type, node] of root.entries) {
      if (type === comment) continue
      const shape = blockShapes.get(type)
      if (shape === undefined) this.#refuse("unknown_block", `${quoted(type)} is not a known block.`, node.line)
      else this.#readLabelled(type, shape, node, [])
    }
  }
}

/** The blocks of a file in JSON syntax. If there is a problem of severity `error`, the blocks must not be used. */
export const readJsonConfig = (root: LocatedJson): ConfigReading => {
  if (root.kind !== "object") {
    return { blocks: [], problems: [refusal("json_syntax", "The file must hold one JSON object.", root.line)] }
  }
  const reader = new JsonReader()
  reader.readFile(root)
  return { blocks: reader.blocks, problems: reader.problems }
}
