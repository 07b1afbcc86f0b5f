/** Limits on one JSON document. All are inclusive: a document that exactly meets a limit is accepted. */
export interface JsonLimits extends JsonValueLimits {
  readonly maxBytes: number
}

/** The limits that also apply to a parsed value, such as one field of a body. */
export interface JsonValueLimits {
  readonly maxDepth: number
  readonly maxNodes: number
  readonly maxKeyBytes: number
  readonly maxStringBytes: number
  /** Refuses a number that a double would round. */
  readonly exactNumbers?: boolean
}

const kibibyte = 1024

/**
 * A manifest or source options file. Only bytes and depth matter: an Interface value may be 32 levels deep, and begins nine
 * levels down. The other limits cannot be exceeded within the byte limit.
 */
export const repositoryFileLimits: JsonLimits = {
  maxBytes: 128 * kibibyte,
  maxDepth: 41,
  maxNodes: 64 * kibibyte,
  maxKeyBytes: 4 * kibibyte,
  maxStringBytes: 128 * kibibyte
}

/** Interface documents and literal Interface inputs in a manifest. */
export const interfaceValueMaxDepth = 32

/**
 * A complete set of private values, as submitted in an install, a configuration plan or a re-adoption (`reviewedUserVariables`).
 */
export const privateValuesLimits: JsonValueLimits = {
  maxDepth: 32,
  maxNodes: 4096,
  maxKeyBytes: 256,
  maxStringBytes: 32_768
}
