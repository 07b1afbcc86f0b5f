/** Limits of a JSON document, all inclusive. */
export interface JsonLimits extends JsonValueLimits {
  readonly maxBytes: number
}

/** Limits that can also be applied to a parsed value, such as one field of a body. */
export interface JsonValueLimits {
  readonly maxDepth: number
  readonly maxNodes: number
  readonly maxKeyBytes: number
  readonly maxStringBytes: number
  /** If true, rejects numbers that a double would round. */
  readonly exactNumbers?: boolean
}

const kibibyte = 1024

/**
 * Limits of a manifest or source options file. A file can exceed only the limits for bytes and depth, because the byte limit
 * implies all other limits. An Interface value starts at the ninth level of the document and may itself be 32 levels deep.
 */
export const repositoryFileLimits: JsonLimits = {
  maxBytes: 128 * kibibyte,
  maxDepth: 41,
  maxNodes: 64 * kibibyte,
  maxKeyBytes: 4 * kibibyte,
  maxStringBytes: 128 * kibibyte
}

/** Maximum depth of Interface documents, and of literal Interface inputs in a manifest. */
export const interfaceValueMaxDepth = 32

/** Combined limits for all private values of an install, a configuration plan or a re-adoption (`reviewedUserVariables`). */
export const privateValuesLimits: JsonValueLimits = {
  maxDepth: 32,
  maxNodes: 4096,
  maxKeyBytes: 256,
  maxStringBytes: 32_768
}
