import type { Agent, Run, WorkspacePool } from "../../../../src/dashboard/api/Types.ts"
import { ago } from "./Seeds.ts"

export const pools: ReadonlyArray<WorkspacePool> = [
  {
    name: "eu-west",
    isolation: "namespaces",
    leaseSeconds: 2700,
    assignedAt: ago(9000),
    agents: { connected: 1, draining: 1, silent: 1 },
    places: 2,
    runs: 1,
    queued: 1,
    provided: ["aws-production"]
  },
  {
    name: "on-premises",
    leaseSeconds: 7200,
    assignedAt: ago(4000),
    agents: { connected: 0, draining: 0, silent: 0 },
    places: 0,
    runs: 0,
    queued: 0
  }
]

const gib = 1024 ** 3

const agent = (number: number, name: string, more: Partial<Agent>): Agent => ({
  id: `agt_${String(number).padStart(16, "0")}`,
  pool: "eu-west",
  name,
  status: "connected",
  version: "0.1.0",
  platform: "linux_amd64",
  tools: [{ name: "opentofu", version: "1.12.3" }],
  isolation: "bubblewrap",
  labels: {},
  provided: [],
  places: 2,
  runs: 0,
  disk: { freeBytes: 31 * gib, totalBytes: 40 * gib, low: false },
  enrolledAt: ago(8000),
  lastContactAt: ago(0.2),
  ...more
})

export const agents: ReadonlyArray<Agent> = [
  agent(1, "build-1", { labels: { zone: "eu-west-1a", team: "platform" }, runs: 1 }),
  agent(2, "build-2", { status: "draining", disk: { freeBytes: gib / 2, totalBytes: 40 * gib, low: true } }),
  agent(3, "build-3", { status: "silent", tools: [], lastContactAt: ago(12), isolation: "landlock" })
]

/** Returns the fields of a Run that describe its agent. */
export const applyingAgent = (more: Partial<NonNullable<Run["agent"]>> = {}): Partial<Run> => ({
  pool: "eu-west",
  agentId: "agt_0000000000000001",
  agent: {
    id: "agt_0000000000000001",
    name: "build-1",
    fence: 3,
    leaseSeconds: 2700,
    heardAt: ago(0.1),
    startedAt: ago(0.5),
    state: { savedAt: ago(0.3), savedSerial: 4, newestSerial: 6 },
    ...more
  }
})
