import type { makeRouter } from "../../../src/dashboard/app/Router.tsx"
import type { signedOutPages } from "../../../src/dashboard/Pages.tsx"
import { storefrontId } from "./records/Capsules.ts"
import { mergedPullRequest, openPullRequest, strangePullRequest } from "./records/PullRequests.ts"
import { waitingUpdate } from "./records/RunGroups.ts"
import { applyRun, doneRun, driftRun, failedRun, queuedRun, reviewRun } from "./records/Runs.ts"

export interface Screen {
  readonly name: string
  readonly path: string
  /** Identifies the screen in both languages. */
  readonly ready: string
  /** Set if the screen's record does not exist, so that the browser's console reports an error. */
  readonly missing?: true
}

/** Every address in the router, except index addresses that duplicate another address. */
type AppRoute = Exclude<keyof ReturnType<typeof makeRouter>["routesByPath"], "/w/$workspace/">
type SignedOutPath = `/${(typeof signedOutPages)[number]}`

/** Routes that only redirect, with their targets. */
export const redirects = {
  "/": { path: "/", to: "/w/acme" },
  "/install": { path: "/install?git=https%3A%2F%2Fx.example%2Fy", to: "/new" },
  "/runs/$runId": { path: `/runs/${reviewRun}`, to: `/w/acme/runs/${reviewRun}` },
  "/capsules/$capsuleId": { path: `/capsules/${storefrontId}`, to: `/w/acme/capsules/${storefrontId}` },
  "/sources/$sourceId": { path: "/sources/src_0000000000000001", to: "/w/acme/sources/src_0000000000000001" }
} as const

const capsule = `/w/acme/capsules/${storefrontId}`
const options = "kind=capsule-source-options&git=https%3A%2F%2Fgit.acme.example%2Finfra%2Fshop.git&path=install.json"

/** Every route of the dashboard with the screens it shows. A new route does not compile until it is listed here. */
export const screensByRoute: Readonly<
  Record<Exclude<AppRoute | SignedOutPath, keyof typeof redirects>, ReadonlyArray<Screen>>
> = {
  "/sign-in": [{ name: "sign-in", path: "/sign-in", ready: "input[type=password]" }],
  "/setup": [
    { name: "setup", path: "/setup#right-secret", ready: ".signed-out-ways" },
    // If the link contains an email address, the page does not show an address field.
    {
      name: "setup-recovery",
      path: "/setup#reset-secret",
      ready: "main:not(:has(input[type=email])) .signed-out-ways"
    },
    { name: "setup-used", path: "/setup#used-reset-secret", ready: ".notice-warn" },
    { name: "setup-expired", path: "/setup#old-reset-secret", ready: ".notice-warn" }
  ],
  "/join": [{ name: "join", path: "/join#svci_secret", ready: ".signed-out-ways .button-primary" }],
  "/new": [
    { name: "install", path: "/new", ready: "input[type=url]" },
    { name: "source-options", path: `/new?${options}`, ready: ".page .facts" }
  ],
  "/account": [{ name: "account", path: "/account", ready: ".row-static" }],
  "/account/address": [
    { name: "address", path: "/account/address#svce_secret", ready: ".form-actions .button-primary" },
    { name: "address-used", path: "/account/address#svce_used", ready: ".notice-warn" }
  ],
  "/confirm": [
    { name: "confirm", path: "/confirm?code=BCDF-GHJK", ready: ".form-actions .button-primary" },
    { name: "confirm-unknown", path: "/confirm?code=ZZZZ-ZZZZ", ready: ".notice-warn", missing: true },
    { name: "confirm-code", path: "/confirm", ready: "input" }
  ],
  "/w/$workspace": [{ name: "home", path: "/w/acme", ready: ".attention-row" }],
  "/w/$workspace/capsules": [{ name: "capsules", path: "/w/acme/capsules", ready: ".long-row" }],
  "/w/$workspace/capsules/$capsuleId": [
    { name: "capsule", path: capsule, ready: ".outputs dd" },
    { name: "capsule-unsafe", path: "/w/acme/capsules/cap_0000000000000003", ready: ".notice-warn" }
  ],
  "/w/$workspace/capsules/$capsuleId/$tab": [
    { name: "capsule-resources", path: `${capsule}/resources`, ready: ".resource-address" },
    { name: "capsule-history", path: `${capsule}/history`, ready: ".history li" },
    { name: "capsule-readme", path: `${capsule}/readme`, ready: ".readme h3" },
    { name: "capsule-runs", path: `${capsule}/runs`, ready: ".row-run" },
    { name: "capsule-pull-requests", path: `${capsule}/pull-requests`, ready: ".row-run" },
    { name: "capsule-state", path: `${capsule}/state`, ready: ".row-static" },
    { name: "capsule-configuration", path: `${capsule}/configuration`, ready: ".inputs .input-source :is(a, .status)" },
    { name: "capsule-dependencies", path: `${capsule}/dependencies`, ready: ".row-static" },
    { name: "capsule-activity", path: `${capsule}/activity`, ready: ".activity-row" },
    { name: "capsule-danger", path: `${capsule}/danger`, ready: ".panel-danger" }
  ],
  "/w/$workspace/runs": [{ name: "runs", path: "/w/acme/runs", ready: ".run-row" }],
  "/w/$workspace/runs/$runId": [
    { name: "run-review", path: `/w/acme/runs/${reviewRun}`, ready: ".log-line" },
    { name: "run-apply", path: `/w/acme/runs/${applyRun}`, ready: ".resource" },
    { name: "run-failed", path: `/w/acme/runs/${failedRun}`, ready: ".diagnosis" },
    { name: "run-applied", path: `/w/acme/runs/${doneRun}`, ready: ".result" },
    { name: "run-queued", path: `/w/acme/runs/${queuedRun}`, ready: ".notice-info" },
    { name: "run-drift", path: `/w/acme/runs/${driftRun}`, ready: ".change" }
  ],
  "/w/$workspace/updates/$groupId": [
    { name: "update", path: `/w/acme/updates/${waitingUpdate.id}`, ready: ".row-static" }
  ],
  "/w/$workspace/pull-requests": [
    { name: "pull-requests", path: "/w/acme/pull-requests", ready: ".row-run" },
    { name: "pull-requests-none", path: "/w/acme/pull-requests?state=closed", ready: ".empty" }
  ],
  "/w/$workspace/pull-requests/$pullRequestId": [
    { name: "pull-request", path: `/w/acme/pull-requests/${openPullRequest}`, ready: ".row-static" },
    { name: "pull-request-stranger", path: `/w/acme/pull-requests/${strangePullRequest}`, ready: ".row-static" },
    { name: "pull-request-merged", path: `/w/acme/pull-requests/${mergedPullRequest}`, ready: ".row-static" }
  ],
  "/w/$workspace/sources": [{ name: "sources", path: "/w/acme/sources", ready: ".row-run" }],
  "/w/$workspace/sources/$sourceId": [
    { name: "source", path: "/w/acme/sources/src_0000000000000001", ready: ".row-static" }
  ],
  "/w/$workspace/connections": [{ name: "connections", path: "/w/acme/connections", ready: ".row-connection" }],
  "/w/$workspace/activity": [{ name: "activity", path: "/w/acme/activity", ready: ".activity-row" }],
  "/w/$workspace/graph": [{ name: "graph", path: "/w/acme/graph", ready: ".node" }],
  "/w/$workspace/settings": [{ name: "workspace", path: "/w/acme/settings", ready: ".row-static" }],
  "/w/$workspace/settings/$tab": [
    { name: "workspace-approvals", path: "/w/acme/settings/approvals", ready: ".row-static" },
    { name: "workspace-tokens", path: "/w/acme/settings/tokens", ready: ".row-static" },
    { name: "workspace-settings", path: "/w/acme/settings/settings", ready: ".facts" },
    { name: "workspace-shares", path: "/w/acme/settings/shares", ready: ".row-static" },
    { name: "workspace-agents", path: "/w/acme/settings/agents", ready: ".agent-row" },
    { name: "workspace-backups", path: "/w/acme/settings/backups", ready: ".row-static" },
    { name: "workspace-notices", path: "/w/acme/settings/notices", ready: ".row-static" }
  ]
}

export const screens: ReadonlyArray<Screen> = [
  ...Object.values(screensByRoute).flat(),
  { name: "not-found", path: "/w/acme/nothing-here", ready: ".empty" },
  { name: "capsule-unknown-tab", path: `${capsule}/nothing-here`, ready: "h1.empty-title" },
  { name: "capsule-unknown", path: "/w/acme/capsules/cap_9999999999999999", ready: "h1.empty-title", missing: true },
  { name: "run-unknown", path: "/w/acme/runs/run_9999999999999999", ready: "h1.empty-title", missing: true },
  {
    name: "pull-request-unknown",
    path: "/w/acme/pull-requests/pr_9999999999999999",
    ready: "h1.empty-title",
    missing: true
  },
  { name: "workspace-unknown-tab", path: "/w/acme/settings/nothing-here", ready: "h1.empty-title" }
]
