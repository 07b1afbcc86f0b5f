import { Duration, Schema } from "effect"

/**
 * A retention period: the records that it affects, and the reason for its length. The operations page prints `what` and `why`.
 */
export interface RetentionPeriod {
  readonly after: Duration.Duration
  readonly what: string
  readonly why: string
}

const period = (after: Duration.Duration, what: string, why: string): RetentionPeriod => ({ after, what, why })

/**
 * Every period after which svc expires or removes something. Operators can change some of them (`svc serve --help`); these are
 * the defaults. Everything else is kept: audit events, and left-over states until a person adopts or discards them.
 */
export const retention = {
  plan: period(
    Duration.days(7),
    "reviewable and approved plans that nobody applies",
    "what a plan was computed from moves on; a week spans a holiday"
  ),
  idempotency: period(
    Duration.hours(48),
    "receipts of requests with an Idempotency-Key, and processed messages between actors",
    "a client retries for a day or two, never for a week"
  ),
  quietLook: period(
    Duration.hours(25),
    "sync Runs of webhooks and the schedule that found nothing",
    "a Run id that was answered stays readable for a day"
  ),
  runLog: period(
    Duration.days(90),
    "logs of ended Runs, unless `SVC_KEEP_LOGS` says otherwise; a log that is still needed stays",
    "a quarter is when people look back; events, plans' summaries and states stay"
  ),
  stateUpload: period(
    Duration.hours(1),
    "uploaded states that no install takes over",
    "an install follows at once, and a state holds secrets"
  ),
  run: period(
    Duration.days(365),
    "ended Runs with their plans, approvals and events, and groups of Runs (`SVC_KEEP_RUNS`)",
    "a year back answers most questions; the operation history stays"
  ),
  runEvent: period(
    Duration.days(180),
    "events of ended Runs (`SVC_KEEP_EVENTS`)",
    "what a Run did step by step is asked soon, or never; its result stays"
  ),
  planFile: period(Duration.days(7), "files of plans that ended", "an ended plan is never applied"),
  stateVersion: period(
    Duration.days(365),
    "StateVersions and their Outputs (`SVC_KEEP_STATES`)",
    "nobody goes back that far; the ten newest of a Capsule stay"
  ),
  sourceSnapshot: period(
    Duration.days(180),
    "source snapshots and what was found in them (`SVC_KEEP_SNAPSHOTS`)",
    "Git still has the commit"
  ),
  planRecord: period(
    Duration.days(180),
    "install plans, plans of other revisions and decisions of auto-update (`SVC_KEEP_PLANS`)",
    "their Runs and Capsules say what became of them"
  ),
  backup: period(
    Duration.days(365),
    "backups of Capsules and Workspaces, never the newest (`SVC_KEEP_CAPSULE_BACKUPS`)",
    "an old one restores pointers that nothing answers to"
  ),
  agentFile: period(
    Duration.days(30),
    "files that an agent sent of an apply that was given up (`SVC_KEEP_AGENT_FILES`)",
    "what of them is a state is a left-over state, which stays; the rest helps while somebody still cleans up"
  ),
  goneAgent: period(
    Duration.days(7),
    "agents that are not heard of, owe nothing, and had a token for several agents or the label `ephemeral=true` (`SVC_FORGET_AGENTS`)",
    "a machine that is started again after a week is a new one"
  ),
  capsuleExport: period(
    Duration.minutes(10),
    "links to the export of a Capsule",
    "the download begins at once; a link that lies about is of no use to anybody else"
  ),
  formerHookSecret: period(
    Duration.hours(24),
    "webhook secrets that were renewed, unless a delivery proves the new one before",
    "the Git server gets the new secret within a working day"
  ),
  webhookDelivery: period(
    Duration.hours(24),
    "ids of webhook deliveries",
    "a Git server repeats a delivery within hours"
  ),
  buildArchive: period(
    Duration.hours(1),
    "build archives that no Run names",
    "a build that ends now is named a moment later"
  ),
  endedSession: period(
    Duration.days(30),
    "sessions and setup links after their end",
    "an ended session says when it ended, which helps after a theft"
  ),
  session: period(Duration.days(30), "sessions that nobody uses", "signing in again once a month is bearable"),
  setupLink: period(Duration.minutes(30), "setup links", "whoever makes one uses it at once"),
  addressChange: period(Duration.hours(24), "links to another address", "a letter may be read the next day"),
  invitation: period(Duration.days(7), "invitations that name no end", "a week spans a holiday"),
  longestInvitation: period(Duration.days(30), "invitations that name one", "a link that lies about gets found"),
  endedInvitation: period(
    Duration.days(30),
    "invitations after their end",
    "the list says what became of them; the operation history keeps it"
  ),
  confirmation: period(
    Duration.minutes(5),
    "confirmations by a signed-in person that it is still them",
    "enough for what was begun, not for whoever sits down at the machine next"
  ),
  actionConfirmation: period(
    Duration.minutes(10),
    "confirmations of one action that a program asked for",
    "a person approves it within minutes, and the program acts at once"
  ),
  passkeyChallenge: period(Duration.minutes(5), "challenges of passkeys", "a person answers within minutes"),
  upstreamSignIn: period(
    Duration.minutes(10),
    "sign-ins begun at another identity provider",
    "a person may have to enter a second factor there"
  ),
  connectionAuthorization: period(
    Duration.minutes(10),
    "authorizations of a Connection begun at a provider",
    "a person may have to enter a second factor there"
  ),
  unsentMail: period(
    Duration.hours(24),
    "mails that the mail server does not take",
    "later the link in it has mostly ended"
  ),
  endedMail: period(
    Duration.hours(24),
    "what is kept of a mail that was sent or given up: address and kind, never its text",
    "nobody gets too many of a kind"
  ),
  noticeDelivery: period(
    Duration.days(30),
    "notices and their deliveries after their end",
    "a receiver that lost some asks within days"
  ),
  setupTicket: period(Duration.minutes(10), "setup tickets of a hand-off", "the client asks at once"),
  endedSetupTicket: period(
    Duration.hours(24),
    "setup tickets after their end",
    "a client that comes late is told that its ticket ended"
  ),
  personalToken: period(
    Duration.days(90),
    "personal access tokens that name no end",
    "a forgotten token ends by itself"
  ),
  longestPersonalToken: period(Duration.days(366), "personal access tokens that name one", "a year, and its leap day"),
  endedGrant: period(
    Duration.days(30),
    "authorization codes, tokens and grants of the issuer after their end",
    "one that comes back still gives a theft away"
  ),
  authorizationCode: period(Duration.seconds(60), "authorization codes", "a client exchanges one at once"),
  accessToken: period(Duration.minutes(15), "access tokens of the issuer", "a removed member is out soon"),
  resourceToken: period(Duration.minutes(5), "tokens of other resource servers", "they cannot be taken back"),
  idToken: period(Duration.minutes(10), "ID tokens", "they are read at once"),
  refreshToken: period(Duration.days(30), "refresh tokens that were not rotated", "an unused client signs in again"),
  refreshFamily: period(
    Duration.days(365),
    "refresh tokens since the consent, however often rotated",
    "a consent is asked again once a year"
  ),
  deviceCode: period(Duration.minutes(10), "device codes", "a person types one within minutes"),
  signingKey: period(Duration.days(90), "signing keys as the active ones", "keys rotate every quarter"),
  dataKey: period(Duration.days(90), "data keys of the vault as the active ones", "keys rotate every quarter"),
  tokenRevocation: period(
    Duration.days(7),
    "attempts to revoke a token at its provider",
    "a provider that is away for a week will not come back for it"
  )
} as const satisfies Readonly<Record<string, RetentionPeriod>>

/** Kinds of records that svc removes once nothing refers to them. */
export const RetainedKindName = Schema.Literals([
  "plan_files",
  "run_events",
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

/** The retention periods of the kinds above. */
export type KindPeriod = (typeof periodOfKind)[RetainedKindName]

const units = [
  ["day", Duration.toMillis("1 day")],
  ["hour", Duration.toMillis("1 hour")],
  ["minute", Duration.toMillis("1 minute")],
  ["second", 1000]
] as const

/** Formats a period in the largest unit that divides it evenly; from two days upwards in days. */
const inWords = (after: Duration.Duration): string => {
  const millis = Duration.toMillis(after)
  const fits = units.find(([unit, size]) => millis % size === 0 && (unit !== "day" || millis > 2 * size))
  const [unit, size] = fits ?? (["second", 1000] as const)
  const count = millis / size
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

/** Returns the table of the operations page in Markdown. */
export const retentionTable = (): string =>
  [
    "| after | what ends or is removed | why |",
    "|---|---|---|",
    ...Object.values(retention).map(({ after, what, why }) => `| ${inWords(after)} | ${what} | ${why} |`)
  ].join("\n")
