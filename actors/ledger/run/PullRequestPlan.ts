import { Schema } from "effect"
import { jsonText } from "../../base/database/StoredRecord.ts"
import type { SourceRow } from "../source/SourceRow.ts"
import { isSpeculative, type RunRow } from "./RunRow.ts"

/** Parameters of the speculative plan of a pull request. */
export const PullRequestSpec = Schema.Struct({
  /** True if the head belongs to the Source's repository. */
  ofOwnBranch: Schema.optionalKey(Schema.Boolean)
})
export type PullRequestSpec = typeof PullRequestSpec.Type

const SpecJson = jsonText(PullRequestSpec)

/** Returns the parameters of a pull request's plan, or `undefined` for any other Run. */
export const pullRequestSpecOf = (run: Pick<RunRow, "coordinator_kind" | "spec">): PullRequestSpec | undefined =>
  run.coordinator_kind === "pull_request" ? SpecJson.read(run.spec) : undefined

/** Returns true for a speculative plan that no person started. */
export const isUnasked = (run: Pick<RunRow, "purpose" | "trigger_kind">): boolean =>
  isSpeculative(run) && run.trigger_kind !== "user"

/** Returns true if the Source's rule allows plans of this head. */
export const isAllowedBySource = (
  spec: PullRequestSpec | undefined,
  source: Pick<SourceRow, "pull_requests"> | undefined
): boolean => spec?.ofOwnBranch === true && source?.pull_requests === "own_branches"

/**
 * Returns the reason why svc may not plan the head of a pull request automatically, or `undefined` if the Source's rule
 * allows it.
 */
export const ruleObstacle = (
  spec: PullRequestSpec,
  source: Pick<SourceRow, "pull_requests"> | undefined
): string | undefined => {
  if (isAllowedBySource(spec, source)) return undefined
  return spec.ofOwnBranch === true
    ? "The Source does not allow plans of pull requests (`pullRequests` is not `own_branches`)."
    : "The head of the pull request is in another repository. A maintainer has to start its plan."
}
