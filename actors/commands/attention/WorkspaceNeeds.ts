import type { Connection } from "../../../schema/records/Connection.ts"
import type { Need } from "../../../schema/records/Need.ts"
import type { StuckWork } from "../../base/DueWork.ts"
import type { FailingLane } from "../../ledger/source/SourceLanes.ts"
import { groupOf, type OpenNeed } from "./NeedDecision.ts"

interface Records {
  /** Connections with unconfirmed origins. */
  readonly unconfirmed: ReadonlyArray<Connection>
  /** Connections that have expired or soon will. */
  readonly expiring: ReadonlyArray<Connection>
  /** Connections whose renewal or revocation failed at the issuer. */
  readonly failing: ReadonlyArray<Connection>
  readonly lanes: ReadonlyArray<FailingLane>
  readonly stuck: ReadonlyArray<StuckWork>
  /** When automation was paused. */
  readonly pausedAt: string | undefined
}

type About = Omit<Need, "key" | "group" | "also" | "capsules" | "run" | "commit">

const entry = (id: string, about: About): OpenNeed => ({
  key: `${about.kind} ${id}`,
  group: groupOf[about.kind],
  also: [],
  capsules: [],
  ...about
})

const connectionNeed = ({ displayName, id }: Connection, about: About): OpenNeed =>
  entry(id, { connectionId: id, connectionName: displayName, ...about })

/** What needs a person's attention but concerns no single Capsule: Connections, refs of Sources, the automation switch. */
export const workspaceNeeds = ({
  expiring,
  failing,
  lanes,
  pausedAt,
  stuck,
  unconfirmed
}: Records): ReadonlyArray<OpenNeed> => [
  ...unconfirmed.map((connection) =>
    connectionNeed(connection, { kind: "origins_unconfirmed", since: connection.updatedAt })
  ),
  ...expiring.map((connection) =>
    connectionNeed(connection, {
      kind: connection.status === "expired" ? "connection_expired" : "connection_expiring",
      since: connection.expiresAt ?? connection.updatedAt
    })
  ),
  ...failing.flatMap((connection): ReadonlyArray<OpenNeed> => {
    const fault = connection.oauth?.fault
    if (fault === undefined) return []
    const kind = fault.code === "revocation_failed" ? "connection_unrevoked" : "connection_unrenewed"
    return [connectionNeed(connection, { kind, reason: fault.message, since: fault.at })]
  }),
  ...lanes.map(({ path, ref, since, sourceId, sourceName }) =>
    entry(`${sourceId} ${ref} ${path}`, { kind: "lane_failed", sourceId, sourceName, ref, since })
  ),
  ...stuck.map(({ kind, record_id, since }) =>
    entry(`${kind} ${record_id}`, { kind: "work_stuck", work: kind, recordId: record_id, since })
  ),
  ...(pausedAt === undefined ? [] : [entry("", { kind: "automation_paused", since: pausedAt })])
]
