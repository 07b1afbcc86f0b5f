import { Redacted, Result, Schema } from "effect"
import { decodeJson } from "../../schema/json/JsonDocument.ts"
import type { JsonLimits } from "../../schema/json/JsonLimits.ts"
import { JsonRefusal } from "../../schema/json/JsonRefusal.ts"
import { JsonScanner } from "../../schema/json/JsonScanner.ts"
import { JobResult } from "../agent/JobResult.ts"
import { receivedResult } from "../agent/ReceivedResult.ts"
import { type ChangeHash, changeHash } from "../execution/ChangeDigest.ts"
import { textsIn } from "../execution/DocumentTexts.ts"
import { withExactNumbers, withNumbersAsText } from "../../schema/json/ExactNumbers.ts"
import { PlanDocument } from "../execution/PlanDocument.ts"
import { ProviderSchemas } from "../execution/ProviderSchemas.ts"
import type { RunnerFailure } from "../execution/RunnerFailure.ts"
import { UnfinishedApply, type StateOutput } from "../execution/RunOutcome.ts"
import { Instance, Outputs, Resource } from "../execution/StateDocument.ts"
import { parseState, type StateFile } from "../execution/StateFile.ts"
import { isWholeState } from "../execution/StateScan.ts"
import { type Unwrapped, unwrapSecrets } from "./UnwrappedSecrets.ts"

/** A state file as transferred between threads, with unwrapped Outputs. */
export type PlainStateFile = Omit<StateFile, "outputs"> & {
  readonly outputs: ReadonlyArray<Omit<StateOutput, "value"> & { readonly value: Schema.Json }> | undefined
}

/**
 * The result of a job as transferred between threads. It contains no error objects, because the transfer would drop their
 * fields.
 */
export type PlainJobResult =
  | Exclude<JobResult, { readonly status: "failed" }>
  | (Omit<Extract<JobResult, { readonly status: "failed" }>, "failure"> & {
      readonly failure: Pick<RunnerFailure, "diagnostics" | "message" | "phase" | "reason" | "sandboxKilled">
    })

/** Result type of each kind of document. */
export interface DocumentContents {
  /** Any JSON document within the request's limits. */
  readonly json: Schema.Json
  readonly state: PlainStateFile
  /** A plan, as the tool describes it. */
  readonly plan: PlanDocument
  /** The hash of the change in a plan. */
  readonly change: ChangeHash
  /** Parts of a state. */
  readonly resource: typeof Resource.Type
  readonly instance: typeof Instance.Type
  /** The Outputs that the tool prints, or the Outputs of a state. */
  readonly outputs: typeof Outputs.Type
  readonly providers: ProviderSchemas
  /** An agent's report about a job, with its messages cleaned again. */
  readonly jobResult: Unwrapped<PlainJobResult>
  /** The results of an apply, as stored by an agent. */
  readonly leftOver: Unwrapped<UnfinishedApply>
  /** Every string, number and key in a document. Numbers keep all their digits. */
  readonly texts: ReadonlyArray<string>
}
export type DocumentKind = keyof DocumentContents

/** Maximum nesting. The tools nest documents a few dozen levels deep at most. */
const deepest = 1000
const ofTool = {
  maxDepth: deepest,
  maxNodes: Number.POSITIVE_INFINITY,
  maxKeyBytes: Number.POSITIVE_INFINITY,
  maxStringBytes: Number.POSITIVE_INFINITY
}

/** Limits for documents that have no specific limits. Their receiver limits their size. */
export const documentLimits: JsonLimits = { ...ofTool, maxBytes: Number.POSITIVE_INFINITY }

/** Limits for an agent's report about a Run, in which a state is one long string. */
export const agentDocumentLimits: JsonLimits = { ...documentLimits, maxNodes: 2_000_000 }

// Creates the failure. Drops the parser's own message, which may contain a value.
const unreadable = (reason: JsonRefusal["reason"] = "syntax") =>
  new JsonRefusal({ reason, message: "The document does not have the expected form." })

/**
 * Returns the text of a document from the tool, after a scan has verified that the document is complete and not too deep.
 */
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

const change = (bytes: Uint8Array): Result.Result<ChangeHash, JsonRefusal> =>
  Result.flatMap(
    scanned(bytes, (text) => text),
    (text) => Result.fromNullishOr(changeHash(text), () => unreadable())
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
const decodeUnfinishedApply = Schema.decodeUnknownResult(UnfinishedApply)

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
    Result.mapBoth(decodeUnfinishedApply(document), { onFailure: () => unreadable(), onSuccess: unwrapSecrets })
  )

type Readings = {
  readonly [K in DocumentKind]: (
    bytes: Uint8Array,
    limits: JsonLimits
  ) => Result.Result<DocumentContents[K], JsonRefusal>
}

/**
 * Readers for each kind. They scan every document before building any value, so the time is proportional to the document's
 * length even if the document is deeply nested.
 */
export const documentReadings: Readings = {
  json: decodeJson,
  state,
  plan: fromTool(PlanDocument),
  change,
  resource: fromTool(Resource),
  instance: fromTool(Instance),
  outputs: fromTool(Outputs),
  providers: fromTool(ProviderSchemas),
  jobResult,
  leftOver,
  texts
}
