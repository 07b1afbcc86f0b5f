import type { Run } from "@svc-dev/server"

/** Why a person has to look at a plan before it is applied; nothing for one that is routine here. */
export const needsReview = ({ planSummary, resourceChanges }: Run): string | undefined => {
  if (planSummary === undefined || resourceChanges === undefined) return "The plan says nothing of what it changes."
  const { destroy, forget, replace } = planSummary
  if (destroy + replace + forget > 0) return "The plan destroys, replaces or gives up something."
  return resourceChanges.length > 20 ? "The plan changes more than 20 resources at once." : undefined
}
