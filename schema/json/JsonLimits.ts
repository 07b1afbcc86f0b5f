/**
 * Ceilings of one JSON document. Every one is inclusive: a document that meets it exactly is accepted.
 *
 * - `maxBytes`: UTF-8 bytes of the whole document, white space included.
 * - `maxDepth`: arrays and objects open at once; a scalar document has depth 0.
 * - `maxNodes`: values of any kind, the root included; object keys are not nodes.
 * - `maxKeyBytes`, `maxStringBytes`: UTF-8 bytes of one decoded (unescaped) object key or string value.
 */
export interface JsonLimits extends JsonValueLimits {
  readonly maxBytes: number
}

/** The ceilings that also hold for a value which is already parsed, for instance one field of a body. */
export interface JsonValueLimits {
  readonly maxDepth: number
  readonly maxNodes: number
  readonly maxKeyBytes: number
  readonly maxStringBytes: number
}

const kibibyte = 1024

/**
 * A manifest or source options file. Only bytes and depth bind: 32 levels of an Interface value below the nine that
 * lead to it; the rest cannot be exceeded within the byte ceiling.
 */
export const repositoryFileLimits: JsonLimits = {
  maxBytes: 128 * kibibyte,
  maxDepth: 41,
  maxNodes: 64 * kibibyte,
  maxKeyBytes: 4 * kibibyte,
  maxStringBytes: 128 * kibibyte
}

/** Interface documents and literal Interface inputs of a manifest. */
export const interfaceValueMaxDepth = 32

/** A set of private values, as one: at install, in a configuration plan and in a re-adoption (`reviewedUserVariables`). */
export const privateValuesLimits: JsonValueLimits = {
  maxDepth: 32,
  maxNodes: 4096,
  maxKeyBytes: 256,
  maxStringBytes: 32_768
}
