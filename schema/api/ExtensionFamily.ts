import { Context } from "effect"

/**
 * Groups of endpoints that an operator may disable, because they move states or whole Capsules into or out of the
 * installation.
 */
export const optionalFamilies = ["state-uploads", "backup-imports", "exports"] as const
export type OptionalFamily = (typeof optionalFamilies)[number]

/**
 * The group of endpoints for OAuth helpers, which is part of the specification. It is enabled if the operator declares a
 * helper.
 */
export const helperFamily = "oauth-helpers"

/** The families and their summaries. */
export const familySummaries = {
  invitations: "Invitations to a Workspace, by link or by mail.",
  teams: "Teams of a Workspace and their roles.",
  "approval-rules": "Rules for the number of approvals.",
  "change-approvals": "Approvals of the change in a speculative plan.",
  audit: "The operation history as JSON lines.",
  "state-uploads": "Existing state that an install takes over.",
  "state-resources": "The resources of a Capsule, without values.",
  "left-over-states": "States that a Run left behind.",
  restores: "Backups of a Capsule or Workspace, and restoring from them.",
  "backup-imports": "A Capsule from the backup of another installation.",
  exports: "A Capsule as files for continued use without svc.",
  "action-confirmations": "One action of a token, confirmed by its person in the browser.",
  "member-tokens": "Tokens of automation members, and what the departure of a member stops.",
  ownership: "Handing a Workspace over, and pausing what starts without a person.",
  "run-search": "Counts for the filters of Runs, and what a Run changes in the source, and why.",
  "pull-requests": "Pull requests of a Source, their reviews and their plans.",
  "run-comments": "Comments on Runs.",
  "agent-pools": "Pools of agents, and releasing a Capsule from a lost one.",
  "run-groups": "Cancelling a group of Runs.",
  "source-revisions": "The branches, tags and newest commits of a repository.",
  "capsule-look": "Reading the ref that a Capsule follows before a plan by hand.",
  "capsule-release": "A Capsule that the service no longer manages.",
  "drift-repair": "A plan that takes drift back, and what auto-update decided.",
  "source-administration": "Removing a Source, and renewing its webhook secret.",
  "connection-administration": "Reading, rotating and removing a Connection, and confirming its origins.",
  [helperFamily]: "Authorising a Connection at another service.",
  notices: "Endpoints that receive notices, their deliveries, and notices by mail.",
  "dashboard-lists": "Everything that needs a person, and the latest Runs."
} as const
type FamilyName = keyof typeof familySummaries

/**
 * The family of an optional endpoint. Endpoints without a family are available on every server. Annotate a group only after
 * all its endpoints are added, because endpoints that are added later do not get the annotation.
 */
export const ExtensionFamily = Context.Reference<FamilyName | undefined>("svc/schema/api/ExtensionFamily", {
  defaultValue: () => undefined
})
