import { createHash } from "node:crypto"
import { Cache, Context, Duration, Effect, Layer, Option, Result } from "effect"
import type { ConfigSyntax } from "./ConfigValue.ts"
import { configText } from "./ConfigText.ts"
import { type ConfigReading, readHclConfig } from "./HclConfig.ts"
import { readOutline } from "./HclOutline.ts"
import { HclParser } from "./HclParser.ts"
import { readJsonConfig } from "./JsonConfig.ts"
import { readLocatedJson } from "./LocatedJson.ts"
import type { HclParserUnavailable } from "./ScanError.ts"
import { ScanLimits, type ScanLimitValues } from "./ScanLimits.ts"
import { refusal, type ScanProblem } from "./ScanProblem.ts"

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

/** Blocks and arrays around each level of the source add levels to the parser's output. */
const outputDepth = (nesting: number) => nesting * 4 + 16

/**
 * Reads configuration files in either syntax. The reader caches results by content for a while, because most files in a
 * repository do not change between two scans.
 */
export class ConfigReader extends Context.Service<
  ConfigReader,
  {
    /** An unreadable file has problems of severity `error` and no reliable blocks. */
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
        // The parser has better messages about a broken file than the outline, but must never receive a deeply nested file.
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

/** At most 16 MiB of source in total; a file's cached result is smaller than its text. */
const cachedFiles = 512
const cachedFileBytes = 32 * 1024
const cacheTime = Duration.minutes(15)
