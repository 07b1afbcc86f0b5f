import type { CapsuleHealth, AttentionItem } from "../../../../src/dashboard/api/Types.ts"
import { storefrontId } from "./Capsules.ts"
import { openPullRequest } from "./PullRequests.ts"
import { failedRun, reviewRun } from "./Runs.ts"
import { ago, commit } from "./Seeds.ts"

const about = (index: number, name: string, environment = "production") => ({
  id: index === 1 ? storefrontId : `cap_${String(index).padStart(16, "0")}`,
  name,
  environment
})

const behind = [
  about(2, "checkout"),
  ...Array.from({ length: 13 }, (_, index) => about(100 + index, `worker-${index + 1}`, "staging"))
]

/** A change that waits for this person's approval. */
export const changeItem: AttentionItem = {
  key: `waiting_change ${openPullRequest}`,
  group: "decision",
  kind: "waiting_change",
  also: [],
  since: ago(9),
  capsules: [about(1, "storefront")],
  pullRequest: { id: openPullRequest, number: 1, title: "Keep the exports for a month" }
}

/** In the API's order, most serious first. */
export const needs: ReadonlyArray<AttentionItem> = [
  {
    key: "cap_0000000000000003",
    group: "failed",
    kind: "unknown_safety",
    also: [],
    since: ago(53),
    capsules: [about(3, "billing-database")],
    run: {
      id: failedRun,
      type: "apply",
      error: { code: "apply_interrupted", message: "The service ended during the apply." }
    }
  },
  {
    key: "cap_0000000000000201",
    group: "failed",
    kind: "failed",
    also: [],
    since: ago(70),
    capsules: [about(201, "metrics", "staging")],
    neverApplied: true,
    run: {
      id: failedRun,
      type: "plan",
      error: { code: "plan_failed", message: "Reference to undeclared input variable: retention_days" }
    }
  },
  {
    key: storefrontId,
    group: "decision",
    kind: "waiting_approval",
    also: ["drifted"],
    since: ago(4),
    capsules: [about(1, "storefront")],
    run: {
      id: reviewRun,
      type: "plan",
      planSummary: { add: 2, change: 1, destroy: 1, replace: 1, import: 0, forget: 0 }
    },
    commit: {
      id: commit(41),
      sourceId: "src_0000000000000001",
      description: { title: "storefront: cut legacy export access", authorName: "Aiko Mori", authoredAt: ago(14) }
    }
  },
  {
    key: "origins_unconfirmed conn_0000000000000004",
    group: "blocked",
    kind: "origins_unconfirmed",
    also: [],
    since: ago(300),
    capsules: [],
    connectionId: "conn_0000000000000004",
    connectionName: "Deploy token"
  },
  {
    key: "cap_0000000000000004",
    group: "drifted",
    kind: "drifted",
    also: [],
    since: ago(33),
    capsules: [about(4, "network")],
    run: { id: "run_0000000000000006", type: "drift_check", driftedResources: 3 }
  },
  {
    key: "commit src_0000000000000001",
    group: "update",
    kind: "stale",
    also: [],
    since: ago(120),
    capsules: behind,
    commit: {
      id: commit(42),
      sourceId: "src_0000000000000001",
      description: { title: "modules/service: rotate base image", authorName: "Daniel Reyes", authoredAt: ago(125) }
    }
  }
]

export const health: CapsuleHealth = {
  capsules: 300,
  healthy: 279,
  unchecked: 0,
  waiting: 16,
  failed: 2,
  notApplied: 3,
  disabled: 0,
  complete: true
}

/** Reports that every Capsule has been applied and compared, or that there are no Capsules if the number is 0. */
export const healthOf = (capsules: number, change: Partial<CapsuleHealth> = {}): CapsuleHealth => ({
  capsules,
  healthy: capsules,
  unchecked: 0,
  waiting: 0,
  failed: 0,
  notApplied: 0,
  disabled: 0,
  complete: true,
  ...change
})
