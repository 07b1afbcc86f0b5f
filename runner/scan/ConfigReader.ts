import { createHash } from "node:crypto"
import { Cache, Context, Duration, Effect, Layer, Option, Result } from "effect"
import { type ConfigSyntax, configValue } from "./ConfigValue.ts"
import { configText } from "./ConfigText.ts"
import { type OutlineBlock, type OutlineBody, readOutline } from "./HclOutline.ts"
import { HclParser } from "./HclParser.ts"
import { type LocatedJson, type LocatedObject, propertiesOf, readLocatedJson } from "./LocatedJson.ts"
import type { HclParserUnavailable } from "./ScanError.ts"
import { ScanLimits, type ScanLimitValues } from "./ScanLimits.ts"
import { quoted, refusal, type ScanProblem } from "./ScanProblem.ts"
import { type BlockShape, blockShapes, type ConfigAttribute, type ConfigBlock } from "./ConfigBlock.ts"
import { isIdentifier } from "./Identifier.ts"

interface ConfigReading {
  readonly blocks: ReadonlyArray<ConfigBlock>
  readonly problems: ReadonlyArray<ScanProblem>
}

const labelsText = (count: number) => (count === 1 ? "one label" : count === 0 ? "no label" : `${count} labels`)

/**
 * Combines a file's outline, which contains every block and its line, with the parser's result, which contains the values.
 */
class HclReader {
  readonly blocks: Array<ConfigBlock> = []
  readonly problems: Array<ScanProblem> = []

  #refuse(code: string, message: string, line: number) {
    this.problems.push(refusal(code, message, line))
  }

  /**
   * Reports that the outline and the parser disagree: either an argument hides a block, or one of the two results is wrong.
   * If they disagree, svc cannot trust either of them.
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

  /** Checks for an argument and a block with the same name, because the parser's result would contain only one of them. */
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
        `The argument ${quoted(name)} is outside of any block. Remove it or move it into a block.`,
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

/** Reads the blocks of a file in HCL syntax. Do not use the blocks if the result has a problem of severity `error`. */
const readHclConfig = (outline: OutlineBody, json: LocatedObject): ConfigReading => {
  const reader = new HclReader()
  reader.readFile(outline, json)
  return { blocks: reader.blocks, problems: reader.problems }
}

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

/** Name of a property that is a comment. */
const comment = "//"

class JsonReader {
  readonly blocks: Array<ConfigBlock> = []
  readonly problems: Array<ScanProblem> = []

  #refuse(code: string, message: string, line: number) {
    this.problems.push(refusal(code, message, line))
  }

  /** Returns the objects at a position that accepts either one object or a list. */
  #objects(node: LocatedJson, type: string, isBody: boolean): ReadonlyArray<LocatedObject> {
    const objects: Array<LocatedObject> = []
    for (const item of node.kind === "array" ? node.items : [node]) {
      if (item.kind === "object") objects.push(item)
      // In a list of bodies, null represents a body without arguments.
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

/** Reads the blocks of a file in JSON syntax. Do not use the blocks if the result has a problem of severity `error`. */
const readJsonConfig = (root: LocatedJson): ConfigReading => {
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

const refused = (...problems: ReadonlyArray<ScanProblem>): ConfigReading => ({ blocks: [], problems })

const readJson = (text: string, limits: ScanLimitValues): ConfigReading => {
  const json = readLocatedJson(text, limits.nesting)
  if (Result.isSuccess(json)) return readJsonConfig(json.success)
  const { reason, offset } = json.failure
  const line = text.slice(0, offset).split("\n").length
  switch (reason) {
    case "too_deep":
      return refused(refusal("nesting_too_deep", `Values are nested deeper than ${limits.nesting} levels.`, line))
    case "number_out_of_range":
      return refused(
        refusal("number_out_of_range", "The file holds a number that is too large to be carried exactly.", line)
      )
    default:
      return refused(refusal("json_syntax", "The file is not JSON (RFC 8259).", line))
  }
}

/**
 * Returns the maximum depth to accept in the parser's output. Each level in the source adds several levels to the output,
 * for the block and the arrays around it.
 */
const outputDepth = (nesting: number) => nesting * 4 + 16

/**
 * Reads configuration files in either syntax. Caches results by content for a while, because most files of a repository do not
 * change between two scans.
 */
export class ConfigReader extends Context.Service<
  ConfigReader,
  {
    /** Reads a file. If it is unreadable, the result has problems of severity `error`, and its blocks are not reliable. */
    readonly read: (bytes: Uint8Array, syntax: ConfigSyntax) => Effect.Effect<ConfigReading, HclParserUnavailable>
  }
>()("svc/runner/scan/ConfigReader") {
  static readonly layerWithoutParser = Layer.effect(
    ConfigReader,
    Effect.gen(function* () {
      const parser = yield* HclParser
      const known = yield* Cache.make<string, ConfigReading>({
        capacity: cachedFiles,
        timeToLive: cacheTime,
        lookup: () => Effect.die("readings are only put in from outside")
      })

      const readHcl = Effect.fnUntraced(function* (text: string, limits: ScanLimitValues) {
        const outline = readOutline(text, limits.nesting)
        // Refuse deeply nested files here, because the parser must never receive them. The parser reports all other broken
        // files, because its messages are better than those of the outline.
        if (Result.isFailure(outline) && outline.failure.code === "nesting_too_deep") {
          return refused(refusal(outline.failure.code, outline.failure.message, outline.failure.line))
        }
        const verdict = yield* parser.parse(text)
        switch (verdict._tag) {
          case "Refused":
            return refused(...verdict.diagnostics.map(({ line, message }) => refusal("hcl_syntax", message, line)))
          case "Abandoned":
            return refused(
              verdict.reason === "deadline"
                ? refusal(
                    "parse_deadline",
                    `The file was not parsed within ${Duration.format(limits.fileDeadline)}. Split or simplify it.`
                  )
                : refusal(
                    "parser_crash",
                    "The parser failed on the file. Simplify it; deeply nested expressions are the usual cause."
                  )
            )
          case "Parsed": {
            if (Result.isFailure(outline)) {
              return refused(
                refusal(
                  "parser_disagreement",
                  `${outline.failure.message} Rewrite the file plainly.`,
                  outline.failure.line
                )
              )
            }
            const json = readLocatedJson(verdict.json, outputDepth(limits.nesting))
            if (Result.isFailure(json) || json.success.kind !== "object") {
              return refused(
                refusal(
                  "hcl_value",
                  "The file holds a value that cannot be represented, such as a number out of range."
                )
              )
            }
            return readHclConfig(outline.success, json.success)
          }
        }
      })

      const read = Effect.fn("ConfigReader.read")(function* (bytes: Uint8Array, syntax: ConfigSyntax) {
        const limits = yield* ScanLimits
        const key = `${syntax} ${limits.nesting} ${createHash("sha256").update(bytes).digest("hex")}`
        const cached = yield* Cache.getOption(known, key)
        if (Option.isSome(cached)) return cached.value
        const text = configText(bytes, syntax)
        if (Result.isFailure(text)) return refused(text.failure)
        const reading = syntax === "json" ? readJson(text.success, limits) : yield* readHcl(text.success, limits)
        const verdictMayChange = reading.problems.some(
          ({ code }) => code === "parse_deadline" || code === "parser_crash"
        )
        if (!verdictMayChange && bytes.byteLength <= cachedFileBytes) yield* Cache.set(known, key, reading)
        return reading
      })
      return ConfigReader.of({ read })
    })
  )

  static readonly layer = this.layerWithoutParser.pipe(Layer.provide(HclParser.layer))
}

/**
 * Maximum number of cached files. They contain at most 16 MiB of source in total, and the cached result of a file is smaller
 * than the file's text.
 */
const cachedFiles = 512
const cachedFileBytes = 32 * 1024
const cacheTime = Duration.minutes(15)
