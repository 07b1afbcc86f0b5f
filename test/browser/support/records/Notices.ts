import type { NoticeDelivery, NoticeEndpoint } from "../../../../src/dashboard/api/Types.ts"
import { me } from "./People.ts"
import { ago } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

const ops: NoticeEndpoint = {
  id: "nep_0000000000000001",
  workspaceId,
  name: "Operations",
  format: "json",
  host: "https://hooks.acme.example",
  kinds: ["run.waiting_approval", "run.failed", "drift.found"],
  filter: { environments: ["production"] },
  state: "active",
  lastAcceptedAt: ago(12),
  waiting: 0,
  secretVersion: 1,
  createdBy: me,
  createdAt: ago(6000),
  updatedAt: ago(6000)
}

export const noticeEndpoints: ReadonlyArray<NoticeEndpoint> = [
  ops,
  {
    id: "nep_0000000000000002",
    workspaceId,
    name: "Chat of the platform team",
    format: "slack",
    host: "https://chat.acme.example",
    kinds: ["run.failed"],
    filter: {},
    state: "disabled",
    reason: "failing",
    failingSince: ago(7200),
    waiting: 0,
    createdBy: me,
    createdAt: ago(9000),
    updatedAt: ago(60)
  }
]

const subject = { kind: "capsule", id: "cap_0000000000000001" } as const

export const noticeDeliveries: ReadonlyArray<NoticeDelivery> = [
  {
    id: "ndl_0000000000000002",
    endpointId: ops.id,
    noticeId: "ntc_0000000000000002",
    kind: "run.failed",
    subject,
    sequence: 2,
    status: "waiting",
    attempts: 2,
    lastOutcome: "refused",
    lastStatus: 503,
    nextAttemptAt: ago(-5),
    createdAt: ago(1)
  },
  {
    id: "ndl_0000000000000001",
    endpointId: ops.id,
    noticeId: "ntc_0000000000000001",
    kind: "run.waiting_approval",
    subject,
    sequence: 1,
    status: "delivered",
    attempts: 1,
    lastOutcome: "accepted",
    lastStatus: 204,
    createdAt: ago(12),
    endedAt: ago(12)
  }
]
