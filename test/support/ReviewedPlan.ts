import type { Run } from "../../schema/records/Run.ts"

/** The approval of somebody who has read the plan: its digest, and what its diagnostics require to be acknowledged. */
export const reviewed = ({ diagnostics = [], planDigest }: Pick<Run, "diagnostics" | "planDigest">) => {
  const acknowledged = diagnostics.flatMap(({ code }) => (code === undefined ? [] : [code]))
  return {
    ...(planDigest === undefined ? {} : { planDigest }),
    ...(acknowledged.length === 0 ? {} : { acknowledged })
  }
}
