import { Result, type Schema } from "effect"
import type { JsonLimits } from "./JsonLimits.ts"
import { type JsonPosition, JsonRefusal, type JsonRefusalReason } from "./JsonRefusal.ts"
import { type JsonFault, JsonScanner } from "./JsonScanner.ts"

const explain = (reason: JsonRefusalReason, limits: JsonLimits): string => {
  switch (reason) {
    case "too_large":
      return `The document is larger than ${limits.maxBytes} bytes; shorten it.`
    case "byte_order_mark":
      return "The document begins with a byte order mark; save it as UTF-8 without one."
    case "invalid_utf8":
      return "The document is not UTF-8; save it as UTF-8 without a byte order mark."
    case "syntax":
      return "The document is not JSON (RFC 8259): comments, trailing commas, extra text and empty documents are not allowed."
    case "too_deep":
      return `Arrays and objects are nested deeper than ${limits.maxDepth} levels; flatten the document.`
    case "too_many_nodes":
      return `The document holds more than ${limits.maxNodes} values; shorten it.`
    case "key_too_long":
      return `An object key is longer than ${limits.maxKeyBytes} bytes; shorten it.`
    case "string_too_long":
      return `A string is longer than ${limits.maxStringBytes} bytes; shorten it.`
    case "duplicate_key":
      return "An object names the same key twice; keep one of them."
    case "lone_surrogate":
      return "A string holds half of a surrogate pair; write the whole character."
    case "number_out_of_range":
      return "A number is outside the range of a double; write it as a string."
    case "number_rounded":
      return "A number has more digits than JSON readers keep; write it as a string of its digits."
  }
}

const positionOf = (text: string, fault: JsonFault): JsonPosition => {
  let line = 1
  let lineStart = 0
  for (let at = text.indexOf("\n"); at !== -1 && at < fault.offset; at = text.indexOf("\n", at + 1)) {
    line++
    lineStart = at + 1
  }
  return { line, column: fault.offset - lineStart + 1 }
}

const hasByteOrderMark = (bytes: Uint8Array) =>
  (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) ||
  (bytes[0] === 0xfe && bytes[1] === 0xff) ||
  (bytes[0] === 0xff && bytes[1] === 0xfe)

/**
 * Decodes a JSON document from its exact bytes. Checks size, encoding, structure and duplicate keys before building any value, so
 * that later code sees only bounded, unambiguous values. Keys such as `__proto__` become own properties. Copy such objects
 * with spread syntax or `Object.entries`, never with `Object.assign`.
 */
export const decodeJson = (bytes: Uint8Array, limits: JsonLimits): Result.Result<Schema.Json, JsonRefusal> => {
  const refuse = (reason: JsonRefusalReason) =>
    Result.fail(new JsonRefusal({ reason, message: explain(reason, limits) }))
  if (bytes.byteLength > limits.maxBytes) return refuse("too_large")
  if (hasByteOrderMark(bytes)) return refuse("byte_order_mark")
  const decoded = Result.try(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))
  if (Result.isFailure(decoded)) return refuse("invalid_utf8")
  const text = decoded.success
  const fault = new JsonScanner(text, limits).scan()
  if (fault !== undefined) {
    const message = explain(fault.reason, limits)
    return Result.fail(new JsonRefusal({ reason: fault.reason, message, position: positionOf(text, fault) }))
  }
  const value: Schema.Json = JSON.parse(text)
  return Result.succeed(value)
}
