import type { Run } from "../../schema/records/Run.ts"

/**
 * Builds the approval of a person who has read the plan, with the plan's digest and the acknowledgements that its
 * diagnostics require.
 */
export const reviewed = ({ diagnostics = [], planDigest }: Pick<Run, "diagnostics" | "planDigest">) => {
  const acknowledged = diagnostics.flatMap(({ code }) => (code === undefined ? [] : [code]))
  return {
    ...(planDigest === undefined ? {} : { planDigest }),
    ...(acknowledged.length === 0 ? {} : { acknowledged })
  }
}
