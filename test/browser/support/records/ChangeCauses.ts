import type { ChangeCause, ChangeCauses, Run } from "../../../../src/dashboard/api/Types.ts"

const commit: ChangeCause = {
  kind: "commit",
  from: "8c1f0a2".padEnd(40, "0"),
  to: "b41d09e".padEnd(40, "0"),
  fileCount: 2
}
const input: ChangeCause = { kind: "input", input: "office_range", change: "changed" }

/** The commit is the cause of every change, except changes caused by an input or made outside svc. */
export const changeCausesOf = (run: Run): ChangeCauses => {
  const drift: ChangeCause = { kind: "drift", addresses: ["aws_iam_policy.deploy"], count: 1 }
  const causesOf = (address: string): ReadonlyArray<ChangeCause> =>
    address === "aws_iam_policy.deploy" ? [drift] : address.includes("ingress") ? [input, commit] : [commit]
  return {
    runId: run.id,
    status: "compared",
    causes: [commit, input, drift],
    unknown: [],
    resources: (run.resourceChanges ?? []).map(({ address }) => {
      const causes = causesOf(address)
      return { address, certain: causes.length === 1, causes }
    })
  }
}
