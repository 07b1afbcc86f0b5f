import type { JobResult } from "./JobResult.ts"
import { RunnerFailure } from "../execution/RunnerFailure.ts"
import { plainText } from "../redaction/LogText.ts"
import type { RunDiagnostic } from "../../schema/records/Run.ts"

const cleaned = ({ address, detail, path, summary, ...rest }: RunDiagnostic): RunDiagnostic => ({
  ...rest,
  summary: plainText(summary),
  ...(detail === undefined ? {} : { detail: plainText(detail) }),
  ...(address === undefined ? {} : { address: plainText(address) }),
  ...(path === undefined ? {} : { path: plainText(path) })
})

/**
 * Cleans the messages in an agent's report again. The agent has already cleaned them, but readers of the report must not
 * depend on the agent.
 */
export const receivedResult = (result: JobResult): JobResult => {
  if (result.status === "left") return result
  if (result.status === "failed") {
    const { diagnostics, message, phase, reason, sandboxKilled } = result.failure
    const failure = new RunnerFailure({
      reason,
      phase,
      sandboxKilled,
      message: plainText(message),
      diagnostics: diagnostics.map(cleaned)
    })
    return { ...result, failure }
  }
  switch (result.kind) {
    case "plan":
      return { ...result, outcome: { ...result.outcome, diagnostics: result.outcome.diagnostics.map(cleaned) } }
    case "drift_check":
      return { ...result, outcome: { ...result.outcome, diagnostics: result.outcome.diagnostics.map(cleaned) } }
    case "apply":
      return {
        ...result,
        outcome: {
          ...result.outcome,
          diagnostics: result.outcome.diagnostics.map(cleaned),
          possiblyCreated: result.outcome.possiblyCreated.map(plainText)
        }
      }
  }
}
