import { Context, Duration, Schema } from "effect"

/**
 * A retention period, the records that it affects, and the reason for its length. The operations page prints `what` and
 * `why`.
 */
export interface RetentionPeriod {
  readonly after: Duration.Duration
  readonly what: string
  readonly why: string
}

const period = (after: Duration.Duration, what: string, why: string): RetentionPeriod => ({ after, what, why })

/**
 * All periods after which svc expires or removes records. These are the defaults; operators can change some of the periods
 * (`svc serve --help`). Everything else is kept: audit events, and left-over states until a person adopts or discards them.
 */
export const retention = {
  plan: period(
    Duration.days(7),
    "reviewable and approved plans that nobody applies",
    "the basis of a plan becomes outdated; a week covers a holiday"
  ),
  idempotency: period(
    Duration.hours(48),
    "receipts of requests with an Idempotency-Key",
    "clients retry for a day or two, never for a week"
  ),
  emptySync: period(
    Duration.hours(25),
    "sync Runs of webhooks and the schedule that found nothing",
    "a client that received the id of such a Run can read it for a day"
  ),
  runLog: period(
    Duration.days(90),
    "logs of ended Runs (`SVC_KEEP_LOGS`), except logs that are still needed",
    "people rarely look back further than a quarter; events, summaries of plans and states are kept longer"
  ),
  stateUpload: period(
    Duration.hours(1),
    "uploaded states that no install uses",
    "an install follows immediately, and a state contains secrets"
  ),
  run: period(
    Duration.days(365),
    "ended Runs with their plans, approvals and events, and groups of Runs (`SVC_KEEP_RUNS`)",
    "a year answers most questions; the operation history is kept"
  ),
  speculativePlan: period(
    Duration.days(30),
    "ended speculative plans with their logs and events",
    "a pull request is merged or closed within weeks, and nothing is applied from such a plan"
  ),
  runEvent: period(
    Duration.days(180),
    "events of ended Runs (`SVC_KEEP_EVENTS`)",
    "people read the steps of a Run soon or never; its result is kept longer"
  ),
  planFile: period(Duration.days(7), "files of plans that ended", "an ended plan is never applied"),
  stateVersion: period(
    Duration.days(365),
    "StateVersions and their Outputs (`SVC_KEEP_STATES`)",
    "nobody rolls back that far; the ten newest of each Capsule are kept"
  ),
  pullRequestReview: period(
    Duration.days(90),
    "static reviews of pull requests that are closed or merged",
    "people rarely look back further than a quarter; the record of the pull request is kept"
  ),
  sourceSnapshot: period(
    Duration.days(180),
    "source snapshots and their reports (`SVC_KEEP_SNAPSHOTS`)",
    "the Git repository still has the commit"
  ),
  planRecord: period(
    Duration.days(180),
    "install plans, plans of other revisions and decisions of auto-update (`SVC_KEEP_PLANS`)",
    "their Runs and Capsules record the results"
  ),
  backup: period(
    Duration.days(365),
    "backups of Capsules and Workspaces, never the newest (`SVC_KEEP_CAPSULE_BACKUPS`)",
    "the objects in an old backup no longer exist"
  ),
  agentFile: period(
    Duration.days(30),
    "files of an abandoned apply that an agent sent (`SVC_KEEP_AGENT_FILES`)",
    "states among them are kept as left-over states; the other files help only during the clean-up"
  ),
  goneAgent: period(
    Duration.days(7),
    "silent agents without pending results that had a token for several agents or the label `ephemeral=true` (`SVC_FORGET_AGENTS`)",
    "a machine that restarts after a week enrols as a new agent"
  ),
  capsuleExport: period(Duration.minutes(10), "links to the export of a Capsule", "the download begins immediately"),
  formerHookSecret: period(
    Duration.hours(24),
    "renewed webhook secrets, or earlier once a delivery uses the new secret",
    "people enter the new secret at the Git server within a working day"
  ),
  webhookDelivery: period(
    Duration.hours(24),
    "ids of webhook deliveries",
    "Git servers repeat a delivery within hours"
  ),
  buildArchive: period(
    Duration.hours(1),
    "build archives without a Run",
    "a Run refers to a finished build within a moment"
  ),
  endedSession: period(
    Duration.days(30),
    "sessions and setup links after their end",
    "after a theft, people can see when a session ended"
  ),
  session: period(Duration.days(30), "unused sessions", "signing in once a month is acceptable"),
  setupLink: period(Duration.minutes(30), "setup links", "people use a setup link immediately"),
  addressChange: period(Duration.hours(24), "address-change links", "people may read the mail the next day"),
  invitation: period(Duration.days(7), "invitations without an expiry", "a week covers a holiday"),
  longestInvitation: period(Duration.days(30), "invitations with an expiry, at most", "somebody may find an old link"),
  endedInvitation: period(
    Duration.days(30),
    "invitations after their end",
    "the list shows their results; the operation history keeps them"
  ),
  confirmation: period(
    Duration.minutes(5),
    "confirmations of a signed-in person's identity",
    "long enough for the current task, too short for the next person at the machine"
  ),
  actionConfirmation: period(
    Duration.minutes(10),
    "confirmations of one action that a program requested",
    "a person approves within minutes, and the program acts immediately"
  ),
  passkeyChallenge: period(Duration.minutes(5), "challenges of passkeys", "a person responds within minutes"),
  upstreamSignIn: period(
    Duration.minutes(10),
    "sign-ins that began at another identity provider",
    "a person may have to enter a second factor there"
  ),
  connectionAuthorization: period(
    Duration.minutes(10),
    "authorizations of a Connection that began at a provider",
    "a person may have to enter a second factor there"
  ),
  unsentMail: period(
    Duration.hours(24),
    "mails that the mail server does not accept",
    "most links in them have expired by then"
  ),
  endedMail: period(
    Duration.hours(24),
    "address and kind of a mail that was sent or abandoned, without its text",
    "limits the number of mails of one kind per address"
  ),
  noticeDelivery: period(
    Duration.days(30),
    "notices and their deliveries after their end",
    "a receiver that lost notices requests them within days"
  ),
  setupTicket: period(Duration.minutes(10), "setup tickets of a hand-off", "the client redeems its ticket immediately"),
  endedSetupTicket: period(
    Duration.hours(24),
    "setup tickets after their end",
    "a late client gets the reason why its ticket is invalid"
  ),
  personalToken: period(
    Duration.days(90),
    "personal access tokens without an expiry",
    "a forgotten token expires automatically"
  ),
  longestPersonalToken: period(Duration.days(366), "personal access tokens with an expiry, at most", "a leap year"),
  endedGrant: period(
    Duration.days(30),
    "authorization codes, tokens and grants of the issuer after their end",
    "reuse still reveals a theft"
  ),
  authorizationCode: period(Duration.seconds(60), "authorization codes", "a client exchanges its code immediately"),
  accessToken: period(Duration.minutes(15), "access tokens of the issuer", "a removed member loses access soon"),
  resourceToken: period(Duration.minutes(5), "tokens of other resource servers", "they cannot be revoked"),
  idToken: period(Duration.minutes(10), "ID tokens", "clients read them immediately"),
  refreshToken: period(
    Duration.days(30),
    "refresh tokens that were not rotated",
    "the person signs in again after a month without use"
  ),
  refreshFamily: period(
    Duration.days(365),
    "refresh tokens since the consent, including rotated tokens",
    "people renew their consent once a year"
  ),
  deviceCode: period(Duration.minutes(10), "device codes", "a person types a code within minutes"),
  signingKey: period(Duration.days(90), "active signing keys", "keys rotate every quarter"),
  dataKey: period(Duration.days(90), "active data keys of the vault", "keys rotate every quarter"),
  tokenRevocation: period(
    Duration.days(7),
    "attempts to revoke a token at its provider",
    "a provider that is unreachable for a week is probably gone"
  )
} as const satisfies Readonly<Record<string, RetentionPeriod>>

/** Kinds of records that svc removes once nothing refers to them. */
export const RetainedKindName = Schema.Literals([
  "plan_files",
  "run_events",
  "speculative_plans",
  "auto_update_decisions",
  "install_plans",
  "revision_plans",
  "backups",
  "state_versions",
  "compatibility_reports",
  "source_snapshots",
  "runs",
  "run_groups"
])
export type RetainedKindName = typeof RetainedKindName.Type

/** The retention period of each kind. */
export const periodOfKind = {
  plan_files: "planFile",
  run_events: "runEvent",
  speculative_plans: "speculativePlan",
  auto_update_decisions: "planRecord",
  install_plans: "planRecord",
  revision_plans: "planRecord",
  backups: "backup",
  state_versions: "stateVersion",
  compatibility_reports: "sourceSnapshot",
  source_snapshots: "sourceSnapshot",
  runs: "run",
  run_groups: "run"
} as const satisfies Readonly<Record<RetainedKindName, keyof typeof retention>>

/** The names of the retention periods in `periodOfKind`. */
export type KindPeriod = (typeof periodOfKind)[RetainedKindName]

/**
 * The retention periods that the operator has set (`src/settings/RetentionSettings.ts`); if a period is absent, the default
 * above applies.
 */
export interface PolicyPeriods {
  readonly logs?: Duration.Duration
  readonly agentFiles?: Duration.Duration
  readonly goneAgents?: Duration.Duration
  readonly periods: { readonly [Period in KindPeriod]?: Duration.Duration }
}

export const RetentionPolicy = Context.Reference<PolicyPeriods>("svc/schema/records/RetentionPolicy", {
  defaultValue: () => ({ periods: {} })
})
