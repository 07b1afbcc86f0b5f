import { Schema } from "effect"

/** The request to the worker: the text of one file. */
export interface HclRequest {
  readonly id: number
  readonly text: string
}

/**
 * Messages from the worker: first its readiness or the failure to start, then one response per request.
 *
 * - `json`: the file as JSON text, in which blocks are arrays and expressions are template strings
 * - `error`: the parser's diagnostics, for a file with the name in HclFileName.ts
 * - `crash`: the parser itself failed, not the file; the worker must not be used again
 */
export const HclAnswer = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("ready") }),
  Schema.Struct({ kind: Schema.Literal("json"), id: Schema.Int, json: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("error"), id: Schema.Int, error: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("crash"), id: Schema.Int }),
  Schema.Struct({ kind: Schema.Literal("failed"), message: Schema.String })
])
export type HclAnswer = typeof HclAnswer.Type
