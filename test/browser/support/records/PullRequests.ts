import type { ModuleReview, PullRequest } from "../../../../src/dashboard/api/Types.ts"
import { storefrontId } from "./Capsules.ts"
import { me } from "./People.ts"
import { doneRun, failedRun, reviewRun } from "./Runs.ts"
import { ago, commit } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

export const openPullRequest = "pr_0000000000000001"
export const strangePullRequest = "pr_0000000000000002"
export const mergedPullRequest = "pr_0000000000000003"

const nothing = { added: [], removed: [], more: 0 }

const module: ModuleReview = {
  path: "modules/storefront",
  status: "supported",
  files: { added: ["policy.tf"], changed: ["main.tf"], removed: ["legacy.tf"], more: 0 },
  resources: {
    added: [{ name: "aws_s3_bucket.exports", path: "main.tf", line: 12 }],
    removed: [{ name: "aws_s3_bucket.legacy", path: "legacy.tf", line: 1 }],
    more: 0
  },
  dataSources: { ...nothing, added: [{ name: "data.external.price", path: "main.tf", line: 30 }] },
  moduleCalls: nothing,
  providers: nothing,
  inputs: nothing,
  outputs: nothing,
  runsCode: {
    added: [{ name: "data.external.price", path: "main.tf", line: 30 }],
    removed: [],
    more: 3,
    present: [{ name: "data.external.price", path: "main.tf", line: 30 }]
  },
  lockFile: "changed",
  unread: ["generated.tf.json"],
  findings: [],
  validation: { status: "not_run", reason: "The tool would have to start the providers that the head chose." },
  formatting: { status: "failed", details: ["main.tf"] }
}

const about = (number: number, more: Partial<PullRequest>): PullRequest => ({
  id: `pr_${String(number).padStart(16, "0")}`,
  workspaceId,
  sourceId: "src_0000000000000001",
  number,
  state: "open",
  fork: "no",
  ref: `refs/pull/${number}/head`,
  headCommit: commit(60 + number),
  baseBranch: "main",
  baseCommit: commit(1),
  review: { commit: commit(60 + number), baseCommit: commit(1), at: ago(9), modules: [module], more: 1 },
  lastSeenAt: ago(2),
  createdAt: ago(60 * number),
  ...more
})

export const pullRequests: ReadonlyArray<PullRequest> = [
  about(1, {
    title: "Keep the exports for a month",
    url: "https://git.acme.example/infra/platform/pulls/1",
    author: "aiko",
    headBranch: "keep-exports",
    counts: { planned: 1, failed: 1 },
    capsules: [
      {
        capsuleId: storefrontId,
        touched: true,
        because: "main.tf was changed",
        run: { id: reviewRun, status: "succeeded" },
        verdict: "planned",
        summary: { add: 2, change: 1, destroy: 1, replace: 1, import: 0, forget: 0 },
        risks: [
          { kind: "undoes", address: "modules/storefront/limits.tf" },
          { kind: "replaces", address: "aws_db_instance.orders" },
          { kind: "destroys", address: "aws_s3_bucket.legacy" }
        ],
        behind: 2,
        awaits: [
          { approvers: 2, role: "admin", teamId: "team_0000000000000001", team: "sre" },
          { approvers: 1, role: "owner" }
        ]
      },
      {
        capsuleId: "cap_0000000000000002",
        touched: true,
        run: { id: failedRun, status: "failed" },
        verdict: "failed"
      },
      { capsuleId: "cap_0000000000000003", touched: false }
    ],
    report: { writtenAt: ago(8), error: { code: "rate_limited", message: "The forge asks for patience." } }
  }),
  about(2, {
    title: "Typo",
    author: "stranger",
    fork: "yes",
    draft: true,
    counts: { refused: 1 },
    capsules: [
      {
        capsuleId: storefrontId,
        touched: true,
        because: "main.tf was changed",
        verdict: "refused",
        refusal: { code: "static_review", message: "The head is not in this repository." }
      }
    ]
  }),
  about(3, {
    title: "Rotate the signing key",
    url: "https://git.acme.example/infra/platform/pulls/3",
    author: "mina",
    headBranch: "rotate-key",
    state: "merged",
    mergeCommit: commit(41),
    closedAt: ago(120),
    planned: { commit: commit(63), by: me, at: ago(150) },
    counts: { applied: 1 },
    capsules: [
      {
        capsuleId: storefrontId,
        touched: true,
        run: { id: reviewRun, status: "succeeded" },
        verdict: "applied",
        plan: { id: reviewRun, status: "succeeded" },
        apply: { id: doneRun, status: "succeeded" }
      }
    ]
  })
]
