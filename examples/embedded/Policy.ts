import type { Run } from "@svc-dev/server"

/** Returns the reason why a person has to review a plan before it is applied, or `undefined` for a routine plan. */
export const needsReview = ({ planSummary, resourceChanges }: Run): string | undefined => {
  if (planSummary === undefined || resourceChanges === undefined) return "The plan says nothing of what it changes."
  const { destroy, forget, replace } = planSummary
  if (destroy + replace + forget > 0) return "The plan destroys, replaces or gives up something."
  return resourceChanges.length > 20 ? "The plan changes more than 20 resources at once." : undefined
}
