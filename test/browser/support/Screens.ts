import { failedRun, applyRun, driftRun, queuedRun, reviewRun } from "./records/Runs.ts"
import { storefrontId } from "./records/Capsules.ts"

/** Every screen with a text or control that shows it is there, in words that both languages share or by role. */
export const screens: ReadonlyArray<{ readonly name: string; readonly path: string; readonly ready: string }> = [
  { name: "sign-in", path: "/sign-in", ready: "input[type=password]" },
  { name: "setup", path: "/setup#right-secret", ready: "input[type=password]" },
  { name: "home", path: "/w/acme", ready: ".attention-row" },
  { name: "install", path: "/new", ready: "input[type=url]" },
  {
    name: "source-options",
    path: "/new?kind=capsule-source-options&git=https%3A%2F%2Fgit.acme.example%2Finfra%2Fshop.git&path=install.json",
    ready: ".page .facts"
  },
  { name: "capsules", path: "/w/acme/capsules", ready: ".long-row" },
  { name: "capsule", path: `/w/acme/capsules/${storefrontId}`, ready: ".outputs dd" },
  { name: "capsule-unsafe", path: "/w/acme/capsules/cap_0000000000000003", ready: ".notice-warn" },
  { name: "capsule-runs", path: `/w/acme/capsules/${storefrontId}/runs`, ready: ".row-run" },
  { name: "capsule-state", path: `/w/acme/capsules/${storefrontId}/state`, ready: ".row-static" },
  { name: "capsule-configuration", path: `/w/acme/capsules/${storefrontId}/configuration`, ready: ".field" },
  { name: "capsule-dependencies", path: `/w/acme/capsules/${storefrontId}/dependencies`, ready: ".row-static" },
  { name: "capsule-activity", path: `/w/acme/capsules/${storefrontId}/activity`, ready: ".activity-row" },
  { name: "capsule-danger", path: `/w/acme/capsules/${storefrontId}/danger`, ready: ".panel-danger" },
  { name: "runs", path: "/w/acme/runs", ready: ".row-run" },
  { name: "run-review", path: `/w/acme/runs/${reviewRun}`, ready: ".log-line" },
  { name: "run-apply", path: `/w/acme/runs/${applyRun}`, ready: ".resource" },
  { name: "run-failed", path: `/w/acme/runs/${failedRun}`, ready: ".diagnosis" },
  { name: "run-queued", path: `/w/acme/runs/${queuedRun}`, ready: ".notice-info" },
  { name: "run-drift", path: `/w/acme/runs/${driftRun}`, ready: ".change" },
  { name: "sources", path: "/w/acme/sources", ready: ".row-run" },
  { name: "source", path: "/w/acme/sources/src_0000000000000001", ready: ".row-static" },
  { name: "connections", path: "/w/acme/connections", ready: ".row-connection" },
  { name: "graph", path: "/w/acme/graph", ready: ".node" },
  { name: "activity", path: "/w/acme/activity", ready: ".activity-row" },
  { name: "workspace", path: "/w/acme/settings", ready: ".row-static" },
  { name: "workspace-tokens", path: "/w/acme/settings/tokens", ready: ".row-static" },
  { name: "workspace-settings", path: "/w/acme/settings/settings", ready: ".facts" },
  { name: "workspace-shares", path: "/w/acme/settings/shares", ready: ".row-static" },
  { name: "workspace-backups", path: "/w/acme/settings/backups", ready: ".row-static" },
  { name: "account", path: "/account", ready: ".row-static" },
  { name: "not-found", path: "/w/acme/nothing-here", ready: ".empty" }
]
