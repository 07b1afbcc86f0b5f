import { metadataRanges } from "../../runner/sandbox/network/NetworkSettings.ts"
import { define } from "./SettingDefinition.ts"
import { Duration } from "effect"
import { retention, type RetentionPeriod } from "../../schema/records/Retention.ts"

/** Settings of the sign-in methods: passwords, and an upstream provider. */
const signInSettings = define({
  passwordSignIn: {
    env: "SVC_PASSWORD_SIGN_IN",
    flag: "password-sign-in",
    metavar: "on|off",
    default: "on",
    description: "Whether people sign in with a password; off needs an upstream provider"
  },
  upstreamOidcIssuer: {
    env: "SVC_UPSTREAM_OIDC_ISSUER",
    flag: "upstream-oidc-issuer",
    metavar: "url",
    description: "OpenID provider that people may sign in with; https, or http on loopback"
  },
  upstreamOidcClientId: {
    env: "SVC_UPSTREAM_OIDC_CLIENT_ID",
    flag: "upstream-oidc-client-id",
    metavar: "id",
    description: "Client id at the upstream provider; its redirect URI is <base url>/auth/upstream/callback"
  },
  upstreamOidcClientSecret: {
    env: "SVC_UPSTREAM_OIDC_CLIENT_SECRET",
    metavar: "secret",
    description: "Client secret at the upstream provider. Environment or file only, never a flag"
  },
  upstreamOidcName: {
    env: "SVC_UPSTREAM_OIDC_NAME",
    flag: "upstream-oidc-name",
    metavar: "text",
    description: "Name of the upstream provider on the sign-in page; the host of its address when absent"
  },
  upstreamOidcTrust: {
    env: "SVC_UPSTREAM_OIDC_TRUST",
    flag: "upstream-oidc-trust",
    metavar: "email_verified|single_tenant",
    default: "email_verified",
    description:
      "How the provider's identities are recognised: by addresses that it verified, or, where it verifies none and serves one organisation alone, by its subject ids only"
  },
  upstreamOidcScopes: {
    env: "SVC_UPSTREAM_OIDC_SCOPES",
    flag: "upstream-oidc-scopes",
    metavar: "scopes",
    default: "openid email profile",
    description: "Scopes asked of the upstream provider, separated by spaces"
  },
  upstreamOidcGroupsClaim: {
    env: "SVC_UPSTREAM_OIDC_GROUPS_CLAIM",
    flag: "upstream-oidc-groups-claim",
    metavar: "name",
    default: "groups",
    description: "Claim in which the upstream provider lists a person's groups"
  }
})

/** Settings of the mail server. */
const mailServerSettings = define({
  smtpUrl: {
    env: "SVC_SMTP_URL",
    flag: "smtp-url",
    metavar: "url",
    description: "Mail server: smtps://host:465, or smtp://host:587 with STARTTLS; no mail is sent when absent"
  },
  smtpFrom: {
    env: "SVC_SMTP_FROM",
    flag: "smtp-from",
    metavar: "address",
    description: "Address that mails come from"
  },
  smtpUser: {
    env: "SVC_SMTP_USER",
    flag: "smtp-user",
    metavar: "name",
    description: "User at the mail server; without one nobody signs in there"
  },
  smtpPassword: {
    env: "SVC_SMTP_PASSWORD",
    metavar: "secret",
    description: "Password at the mail server. Environment or file only, never a flag"
  },
  smtpPasswordFile: {
    env: "SVC_SMTP_PASSWORD_FILE",
    flag: "smtp-password-file",
    metavar: "file",
    description: "File with that password instead"
  },
  smtpCaFile: {
    env: "SVC_SMTP_CA_FILE",
    flag: "smtp-ca-file",
    metavar: "file",
    description: "Certificates in PEM that vouch for the mail server instead of the usual authorities"
  },
  mailLanguage: {
    env: "SVC_MAIL_LANGUAGE",
    flag: "mail-language",
    metavar: "en|ja",
    default: "en",
    description: "Language of mails"
  }
})

const days = ({ after }: RetentionPeriod) => String(Duration.toDays(after))

/** Retention periods of records that nothing needs. */
const keepSettings = define({
  keepLogs: {
    env: "SVC_KEEP_LOGS",
    flag: "keep-logs",
    metavar: "days",
    default: days(retention.runLog),
    description: "Days that the logs of ended Runs are kept, at least 7; what is still needed stays longer"
  },
  keepEvents: {
    env: "SVC_KEEP_EVENTS",
    flag: "keep-events",
    metavar: "days",
    default: days(retention.runEvent),
    description: "Days that the events of ended Runs are kept, at least 7"
  },
  keepRuns: {
    env: "SVC_KEEP_RUNS",
    flag: "keep-runs",
    metavar: "days",
    default: days(retention.run),
    description: "Days that ended Runs are kept, at least 7; never shorter than their logs"
  },
  keepStates: {
    env: "SVC_KEEP_STATES",
    flag: "keep-states",
    metavar: "days",
    default: days(retention.stateVersion),
    description: "Days that StateVersions are kept, at least 7; the ten newest of a living Capsule stay"
  },
  keepSnapshots: {
    env: "SVC_KEEP_SNAPSHOTS",
    flag: "keep-snapshots",
    metavar: "days",
    default: days(retention.sourceSnapshot),
    description: "Days that source snapshots and compatibility reports are kept, at least 7"
  },
  keepPlans: {
    env: "SVC_KEEP_PLANS",
    flag: "keep-plans",
    metavar: "days",
    default: days(retention.planRecord),
    description: "Days that install plans, revision plans and decisions of auto-update are kept, at least 7"
  },
  keepAgentFiles: {
    env: "SVC_KEEP_AGENT_FILES",
    flag: "keep-agent-files",
    metavar: "days",
    default: days(retention.agentFile),
    description: "Days that the files are kept that an agent sent of an apply that was given up, at least 1"
  },
  forgetAgents: {
    env: "SVC_FORGET_AGENTS",
    flag: "forget-agents",
    metavar: "days",
    default: days(retention.goneAgent),
    description: "Days after which an agent that comes and goes is forgotten when it is not heard of, at least 1"
  },
  keepCapsuleBackups: {
    env: "SVC_KEEP_CAPSULE_BACKUPS",
    flag: "keep-capsule-backups",
    metavar: "days",
    default: days(retention.backup),
    description: "Days that backups of Capsules and Workspaces are kept, at least 7; the newest of each stays"
  }
})

/** Settings of backups, whether written by a command or by the running server. */
const backupSettings = define({
  backupSnapshots: {
    env: "SVC_BACKUP_SNAPSHOTS",
    flag: "backup-snapshots",
    metavar: "true|false",
    default: "true",
    description:
      "Whether backups take along the snapshots and builds that living Capsules need; without them they are fetched from Git and built again"
  },
  backupDirectory: {
    env: "SVC_BACKUP_DIRECTORY",
    flag: "backup-directory",
    metavar: "folder",
    description: "Existing folder that the running server writes backups into; none are scheduled when absent"
  },
  backupInterval: {
    env: "SVC_BACKUP_INTERVAL",
    flag: "backup-interval",
    metavar: "hours",
    default: "24",
    description: "Hours from one scheduled backup to the next"
  },
  backupKeep: {
    env: "SVC_BACKUP_KEEP",
    flag: "backup-keep",
    metavar: "number",
    default: "7",
    description: "Scheduled backups that are kept; the oldest is removed once a newer one was verified"
  }
})

/** All settings, in the order of the help. */
export const settingDefinitions = define({
  dataDir: {
    env: "SVC_DATA_DIR",
    flag: "data-dir",
    metavar: "folder",
    default: "./svc-data",
    description: "Database, snapshots, run folders and master key; on a local disk, created with mode 0700"
  },
  installation: {
    env: "SVC_INSTALLATION",
    flag: "installation",
    metavar: "id",
    description: "The only installation that the data folder may hold, e.g. where its disk may be mounted late"
  },
  listen: {
    env: "SVC_LISTEN",
    flag: "listen",
    metavar: "host:port",
    default: "127.0.0.1:8787",
    description: "Address of the API and the dashboard; port 0 is any free one"
  },
  baseUrl: {
    env: "SVC_BASE_URL",
    flag: "base-url",
    metavar: "origin",
    description: "Public origin and issuer, e.g. https://svc.example.com; from the listener when absent"
  },
  plainHttp: {
    env: "SVC_PLAIN_HTTP",
    flag: "plain-http",
    metavar: "loopback|anywhere",
    default: "loopback",
    description:
      "Where plain http may be served: beyond loopback, passwords and sessions cross the network readable, so that needs `anywhere` or an https base URL (a proxy with TLS)"
  },
  trustedProxies: {
    env: "SVC_TRUSTED_PROXIES",
    flag: "trusted-proxies",
    metavar: "addresses",
    default: "",
    description: "Comma-separated addresses or ranges of reverse proxies whose X-Forwarded-For counts"
  },
  familiesOff: {
    env: "SVC_FAMILIES_OFF",
    flag: "families-off",
    metavar: "names",
    default: "",
    description: "Comma-separated families of endpoints that are turned off: state-uploads, backup-imports, exports"
  },
  corsOrigins: {
    env: "SVC_CORS_ORIGINS",
    flag: "cors-origins",
    metavar: "origins",
    default: "",
    description:
      "Comma-separated origins whose pages may call the API from a browser, with a bearer token and never with cookies"
  },
  name: {
    env: "SVC_NAME",
    flag: "name",
    metavar: "text",
    default: "svc",
    description: "Display name in the discovery document"
  },
  ...signInSettings,
  ...mailServerSettings,
  oidcClientsFile: {
    env: "SVC_OIDC_CLIENTS_FILE",
    flag: "oidc-clients-file",
    metavar: "file",
    description: "JSON file with the OpenID clients and resource servers of this installation; none when absent"
  },
  oidcRefreshGrace: {
    env: "SVC_OIDC_REFRESH_GRACE",
    flag: "oidc-refresh-grace",
    metavar: "seconds",
    default: "0",
    description: "Seconds in which a used refresh token gives the same successor again to a client that lost the answer"
  },
  oidcClientId: {
    env: "SVC_OIDC_CLIENT_ID",
    flag: "oidc-client-id",
    metavar: "id",
    description:
      "Client of the clients file that the discovery document lists for mobile applications; none when absent"
  },
  masterKey: {
    env: "SVC_MASTER_KEY",
    metavar: "key",
    description: "Vault key: 32 bytes as hex or base64. Environment or file only, never a flag"
  },
  masterKeyFile: {
    env: "SVC_MASTER_KEY_FILE",
    flag: "master-key-file",
    metavar: "file",
    description: "File with the vault key, mode 0600; a file in the data folder when absent"
  },
  masterKeyCommand: {
    env: "SVC_MASTER_KEY_COMMAND",
    flag: "master-key-command",
    metavar: "command",
    description: "Shell command that prints the vault key"
  },
  gitAllowOrigins: {
    env: "SVC_GIT_ALLOW_ORIGINS",
    flag: "git-allow-origins",
    metavar: "origins",
    default: "",
    description: "Comma-separated exact origins exempt from the https-only and public-address rules"
  },
  noticeAllowOrigins: {
    env: "SVC_NOTICE_ALLOW_ORIGINS",
    flag: "notice-allow-origins",
    metavar: "origins",
    default: "",
    description: "Comma-separated exact origins of notice endpoints exempt from the https-only and public-address rules"
  },
  gitNative: {
    env: "SVC_GIT_NATIVE",
    flag: "git-native",
    metavar: "auto|off|required",
    default: "auto",
    description: "Whether an installed git fetches"
  },
  policyFile: {
    env: "SVC_POLICY_FILE",
    flag: "policy-file",
    metavar: "file",
    description: "JSON file with the permissions of manifests and the endpoints of Capsules; the defaults when absent"
  },
  tool: {
    env: "SVC_TOOL",
    flag: "tool",
    metavar: "path|auto",
    default: "auto",
    description: "OpenTofu or Terraform to execute Runs with; auto looks for it"
  },
  toolDownload: {
    env: "SVC_TOOL_DOWNLOAD",
    flag: "tool-download",
    metavar: "on|off",
    default: "on",
    description: "Whether OpenTofu may be downloaded when none is found"
  },
  toolMirror: {
    env: "SVC_TOOL_MIRROR",
    flag: "tool-mirror",
    metavar: "url",
    description: "Where OpenTofu releases are downloaded from; the project's own release page when absent"
  },
  toolMirrorKey: {
    env: "SVC_TOOL_MIRROR_KEY",
    flag: "tool-mirror-key",
    metavar: "file",
    description:
      "OpenPGP public key that signs the releases: a file, or the armored text; when absent the OpenTofu project's own, known by its fingerprint"
  },
  toolVersion: {
    env: "SVC_TOOL_VERSION",
    flag: "tool-version",
    metavar: "version",
    description: "OpenTofu release to download; the one this release pins when absent"
  },
  toolSha256: {
    env: "SVC_TOOL_SHA256",
    flag: "tool-sha256",
    metavar: "hex",
    description: "SHA-256 of the downloaded archive, trusted in place of a signature"
  },
  providerMirror: {
    env: "SVC_PROVIDER_MIRROR",
    flag: "provider-mirror",
    metavar: "folder",
    description: "Filesystem mirror of providers, used before their registries"
  },
  providerMirrorRequired: {
    env: "SVC_PROVIDER_MIRROR_REQUIRED",
    flag: "provider-mirror-required",
    metavar: "true|false",
    default: "false",
    description: "Whether providers may come from the mirror only"
  },
  runnerIsolation: {
    env: "SVC_RUNNER_ISOLATION",
    flag: "runner-isolation",
    metavar: "auto|required|off",
    default: "auto",
    description:
      "Sandbox of module code: the best accepted level of this machine, only one with separate namespaces, or none"
  },
  runnerNetwork: {
    env: "SVC_RUNNER_NETWORK",
    flag: "runner-network",
    metavar: "auto|isolated|host",
    default: "auto",
    description:
      "Network of Runs: one of their own where this machine can give it, nothing less, or the host's with its loopback"
  },
  runnerForbiddenRanges: {
    env: "SVC_RUNNER_FORBIDDEN_RANGES",
    flag: "runner-forbidden-ranges",
    metavar: "ranges",
    default: metadataRanges.join(","),
    description: "Comma-separated ranges that Runs do not reach from a network of their own; none when it is 'none'"
  },
  runMemory: {
    env: "SVC_RUN_MEMORY",
    flag: "run-memory",
    metavar: "size|auto",
    default: "auto",
    description: "Memory of a Run's processes together; auto is half of this machine's, and 4GiB at most"
  },
  runProcesses: {
    env: "SVC_RUN_PROCESSES",
    flag: "run-processes",
    metavar: "number",
    default: "4096",
    description: "Processes and threads of a Run"
  },
  runTmp: {
    env: "SVC_RUN_TMP",
    flag: "run-tmp",
    metavar: "size",
    default: "1GiB",
    description: "Private /tmp of a Run, in memory"
  },
  runShm: {
    env: "SVC_RUN_SHM",
    flag: "run-shm",
    metavar: "size",
    default: "64MiB",
    description: "Private /dev/shm of a Run, in memory"
  },
  runFolder: {
    env: "SVC_RUN_FOLDER",
    flag: "run-folder",
    metavar: "size",
    default: "8GiB",
    description: "Most that a Run may write into its folder, and its largest file"
  },
  runFreeDisk: {
    env: "SVC_RUN_FREE_DISK",
    flag: "run-free-disk",
    metavar: "size",
    default: "512MiB",
    description: "Free space, at most a twentieth of the disk, below which the Run that holds the most is ended"
  },
  runConcurrency: {
    env: "SVC_RUN_CONCURRENCY",
    flag: "run-concurrency",
    metavar: "number",
    default: "4",
    description: "Runs executing at once, not counting syncs, compatibility checks and plans with a source build"
  },
  workspaceRunConcurrency: {
    env: "SVC_WORKSPACE_RUN_CONCURRENCY",
    flag: "workspace-run-concurrency",
    metavar: "number",
    description: "How many of them may be of one Workspace; one fewer than SVC_RUN_CONCURRENCY when absent, at least 1"
  },
  buildConcurrency: {
    env: "SVC_BUILD_CONCURRENCY",
    flag: "build-concurrency",
    metavar: "number",
    default: "3",
    description: "Syncs, compatibility checks and plans with a source build executing at once"
  },
  workspaceBuildConcurrency: {
    env: "SVC_WORKSPACE_BUILD_CONCURRENCY",
    flag: "workspace-build-concurrency",
    metavar: "number",
    description:
      "How many of them may be of one Workspace; one fewer than SVC_BUILD_CONCURRENCY when absent, at least 1"
  },
  workspaceQueue: {
    env: "SVC_WORKSPACE_QUEUE",
    flag: "workspace-queue",
    metavar: "number",
    default: "1000",
    description: "Runs that one Workspace may have queued"
  },
  ...keepSettings,
  ...backupSettings,
  keepAudit: {
    env: "SVC_KEEP_AUDIT",
    flag: "keep-audit",
    metavar: "days",
    description: "Days that audit events are kept, at least 30; for ever when absent"
  },
  operatorListen: {
    env: "SVC_OPERATOR_LISTEN",
    flag: "operator-listen",
    metavar: "host:port",
    description: "Second listener with /metrics, /healthz and /readyz; none when absent"
  },
  drainDelay: {
    env: "SVC_DRAIN_DELAY",
    flag: "drain-delay",
    metavar: "seconds",
    default: "0",
    description: "Seconds between not being ready and closing the listener, for a load balancer in front"
  },
  otlpUrl: {
    env: "SVC_OTLP_URL",
    flag: "otlp-url",
    metavar: "url",
    description: "OTLP/HTTP collector for traces, metrics and logs; none when absent"
  },
  log: {
    env: "SVC_LOG",
    flag: "log",
    metavar: "level",
    default: "info",
    description: "Log level: trace, debug, info, warn, error or none"
  },
  logFormat: {
    env: "SVC_LOG_FORMAT",
    flag: "log-format",
    metavar: "pretty|json",
    default: "pretty",
    description: "How log lines are written"
  }
})

export type SettingName = keyof typeof settingDefinitions

/** Variable with the path of the settings file, which a settings file itself cannot set. */
export const settingsFileEnv = "SVC_CONFIG"
