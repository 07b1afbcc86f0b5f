import { Redacted, Result, Schema } from "effect"
import { decodeJson } from "../../schema/json/JsonDocument.ts"
import type { JsonLimits } from "../../schema/json/JsonLimits.ts"
import { JsonRefusal } from "../../schema/json/JsonRefusal.ts"
import { JsonScanner } from "../../schema/json/JsonScanner.ts"
import { JobResult } from "../agent/JobResult.ts"
import { receivedResult } from "../agent/ReceivedResult.ts"
import { textsIn } from "../execution/DocumentTexts.ts"
import { withExactNumbers, withNumbersAsText } from "../../schema/json/ExactNumbers.ts"
import { PlanDocument } from "../execution/PlanDocument.ts"
import { ProviderSchemas } from "../execution/ProviderSchemas.ts"
import type { RunnerFailure } from "../execution/RunnerFailure.ts"
import { LeftOver, type StateOutput } from "../execution/RunOutcome.ts"
import { Instance, Outputs, Resource } from "../execution/StateDocument.ts"
import { parseState, type StateFile } from "../execution/StateFile.ts"
import { isWholeState } from "../execution/StateScan.ts"
import { type Unwrapped, unwrapSecrets } from "./UnwrappedSecrets.ts"

/** A state file as it passes between threads: values of Outputs are not wrapped. */
export type PlainStateFile = Omit<StateFile, "outputs"> & {
  readonly outputs: ReadonlyArray<Omit<StateOutput, "value"> & { readonly value: Schema.Json }> | undefined
}

/** The end of a job, as it passes between threads: an error does not keep its fields there. */
export type PlainJobResult =
  | Exclude<JobResult, { readonly status: "failed" }>
  | (Omit<Extract<JobResult, { readonly status: "failed" }>, "failure"> & {
      readonly failure: Pick<RunnerFailure, "diagnostics" | "message" | "phase" | "reason" | "sandboxKilled">
    })

/** The result type for each kind of document. */
export interface DocumentContents {
  /** Any JSON within the limits of the request. */
  readonly json: Schema.Json
  readonly state: PlainStateFile
  /** The tool's description of a plan. */
  readonly plan: PlanDocument
  /** Parts of a state. */
  readonly resource: typeof Resource.Type
  readonly instance: typeof Instance.Type
  /** The Outputs that the tool prints, or the Outputs in a state. */
  readonly outputs: typeof Outputs.Type
  readonly providers: ProviderSchemas
  /** An agent's report about a job, with its messages sanitised again. */
  readonly jobResult: Unwrapped<PlainJobResult>
  /** The results of an apply that an agent kept. */
  readonly leftOver: Unwrapped<LeftOver>
  /** Each string, number and key; numbers keep all their digits. */
  readonly texts: ReadonlyArray<string>
}
export type DocumentKind = keyof DocumentContents

/** The tools nest documents at most a few dozen levels deep. */
const deepest = 1000
const ofTool = {
  maxDepth: deepest,
  maxNodes: Number.POSITIVE_INFINITY,
  maxKeyBytes: Number.POSITIVE_INFINITY,
  maxStringBytes: Number.POSITIVE_INFINITY
}

/** Limits for documents without specific limits: the receiver limits their size. */
export const documentLimits: JsonLimits = { ...ofTool, maxBytes: Number.POSITIVE_INFINITY }

/** An agent's report about a Run: a state is one long string in it. */
export const agentDocumentLimits: JsonLimits = { ...documentLimits, maxNodes: 2_000_000 }

// The parser's own message could quote a value.
const unreadable = (reason: JsonRefusal["reason"] = "syntax") =>
  new JsonRefusal({ reason, message: "The document does not have the expected form." })

/** The text of a document from the tool, after a scan has found it complete and not too deep. */
const scanned = (bytes: Uint8Array, rewritten: (text: string) => string): Result.Result<string, JsonRefusal> => {
  const text = rewritten(new TextDecoder().decode(bytes))
  const fault = new JsonScanner(text, ofTool).scan()
  return fault === undefined ? Result.succeed(text) : Result.fail(unreadable(fault.reason))
}

const texts = (bytes: Uint8Array): Result.Result<ReadonlyArray<string>, JsonRefusal> =>
  Result.flatMap(scanned(bytes, withNumbersAsText), (text) =>
    Result.map(
      Result.fromOption(textsIn(text), () => unreadable()),
      (found) => [...found]
    )
  )

const fromTool = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(schema))
  return (bytes: Uint8Array): Result.Result<A, JsonRefusal> =>
    Result.flatMap(scanned(bytes, withExactNumbers), (text) => Result.mapError(decode(text), () => unreadable()))
}

const plain = ({ outputs, ...rest }: StateFile): PlainStateFile => ({
  ...rest,
  outputs: outputs?.map((output) => ({ ...output, value: Redacted.value(output.value) }))
})

const state = (bytes: Uint8Array): Result.Result<PlainStateFile, JsonRefusal> =>
  isWholeState(bytes)
    ? Result.map(
        Result.fromOption(parseState(bytes), () => unreadable()),
        plain
      )
    : Result.fail(unreadable())

const decodeJobResult = Schema.decodeUnknownResult(JobResult)
const decodeLeftOver = Schema.decodeUnknownResult(LeftOver)

const plainResult = (result: JobResult): PlainJobResult => {
  if (result.status !== "failed") return result
  const { diagnostics, message, phase, reason, sandboxKilled } = result.failure
  return { ...result, failure: { diagnostics, message, phase, reason, sandboxKilled } }
}

const jobResult = (bytes: Uint8Array, limits: JsonLimits) =>
  Result.flatMap(decodeJson(bytes, limits), (document) =>
    Result.mapBoth(decodeJobResult(document), {
      onFailure: () => unreadable(),
      onSuccess: (result) => unwrapSecrets(plainResult(receivedResult(result)))
    })
  )

const leftOver = (bytes: Uint8Array, limits: JsonLimits) =>
  Result.flatMap(decodeJson(bytes, limits), (document) =>
    Result.mapBoth(decodeLeftOver(document), { onFailure: () => unreadable(), onSuccess: unwrapSecrets })
  )

type Readings = {
  readonly [K in DocumentKind]: (
    bytes: Uint8Array,
    limits: JsonLimits
  ) => Result.Result<DocumentContents[K], JsonRefusal>
}

/**
 * The reader of each kind. Every document is scanned before a value is built from it, so a deeply nested document costs no more
 * than its length.
 */
export const documentReadings: Readings = {
  json: decodeJson,
  state,
  plan: fromTool(PlanDocument),
  resource: fromTool(Resource),
  instance: fromTool(Instance),
  outputs: fromTool(Outputs),
  providers: fromTool(ProviderSchemas),
  jobResult,
  leftOver,
  texts
}
