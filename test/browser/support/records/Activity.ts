import type { AuditEvent } from "../../../../src/dashboard/api/Types.ts"
import { storefrontId } from "./Capsules.ts"
import { aiko, bruno, me } from "./People.ts"
import { approvedRun, failedRun, reviewRun } from "./Runs.ts"
import { ago } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

const kindOf: Readonly<Record<string, string>> = { cap: "capsule", run: "run", src: "source", conn: "connection" }

const audit = (
  id: number,
  action: string,
  minutes: number,
  subject: string | undefined,
  target: string,
  run?: Pick<AuditEvent, "capsuleId" | "runId">,
  data: AuditEvent["data"] = {}
): AuditEvent => ({
  id: `act_${String(id).padStart(16, "0")}`,
  workspaceId,
  actor: subject === undefined ? { kind: "webhook" } : { kind: "user", subject },
  action,
  target: { kind: kindOf[target.split("_")[0] ?? ""] ?? "member", id: target },
  ...run,
  data,
  requestId: `req_${id}`,
  createdAt: ago(minutes)
})

export const activity: ReadonlyArray<AuditEvent> = [
  audit(1, "capsule.plan", 4, aiko, reviewRun, {
    runId: reviewRun,
    capsuleId: storefrontId
  }),
  audit(2, "source.sync", 12, undefined, "src_0000000000000001"),
  audit(3, "run.apply", 55, bruno, failedRun, {
    runId: failedRun,
    capsuleId: "cap_0000000000000003"
  }),
  audit(
    4,
    "run.approve",
    90,
    me,
    approvedRun,
    { runId: approvedRun, capsuleId: storefrontId },
    { comment: "Looks right." }
  ),
  audit(5, "connection.test", 240, aiko, "conn_0000000000000001"),
  audit(6, "capsule.configure", 1500, me, storefrontId),
  audit(7, "member.add", 2000, me, "usr_0000000000000004")
]
