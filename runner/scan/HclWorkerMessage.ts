import { Schema } from "effect"

/** A request to the worker: the text of one file. */
export interface HclRequest {
  readonly id: number
  readonly text: string
}

/**
 * Messages from the worker: first whether it is ready or has failed to start, then one response per request.
 * - `json`: the file as JSON text, with blocks as arrays and expressions as template strings
 * - `error`: the parser's diagnostics, for a file with the name in HclFileName.ts
 * - `crash`: the parser itself crashed, rather than rejecting the file; do not use the worker again
 */
export const HclAnswer = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("ready") }),
  Schema.Struct({ kind: Schema.Literal("json"), id: Schema.Int, json: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("error"), id: Schema.Int, error: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("crash"), id: Schema.Int }),
  Schema.Struct({ kind: Schema.Literal("failed"), message: Schema.String })
])
export type HclAnswer = typeof HclAnswer.Type
