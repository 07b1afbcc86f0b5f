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
    description: "Allow sign-in with a password; off requires another sign-in method"
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
    description: "Name of the upstream provider on the sign-in page; default: the host of its address"
  },
  upstreamOidcTrust: {
    env: "SVC_UPSTREAM_OIDC_TRUST",
    flag: "upstream-oidc-trust",
    metavar: "email_verified|single_tenant",
    default: "email_verified",
    description:
      "How the provider's identities are recognised: by verified addresses, or only by subject ids if the provider verifies no addresses and serves a single organisation"
  },
  upstreamOidcScopes: {
    env: "SVC_UPSTREAM_OIDC_SCOPES",
    flag: "upstream-oidc-scopes",
    metavar: "scopes",
    default: "openid email profile",
    description: "Scopes requested from the upstream provider, separated by spaces"
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
    description: "Mail server: smtps://host:465, or smtp://host:587 with STARTTLS; default: no mail is sent"
  },
  smtpFrom: {
    env: "SVC_SMTP_FROM",
    flag: "smtp-from",
    metavar: "address",
    description: "Sender address of mails"
  },
  smtpUser: {
    env: "SVC_SMTP_USER",
    flag: "smtp-user",
    metavar: "name",
    description: "User at the mail server; default: no sign-in"
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
    description: "File with the password"
  },
  smtpCaFile: {
    env: "SVC_SMTP_CA_FILE",
    flag: "smtp-ca-file",
    metavar: "file",
    description: "PEM certificates that verify the mail server instead of the usual authorities"
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

/** Retention periods of records that are no longer needed. */
const keepSettings = define({
  keepLogs: {
    env: "SVC_KEEP_LOGS",
    flag: "keep-logs",
    metavar: "days",
    default: days(retention.runLog),
    description: "Days to keep the logs of ended Runs, at least 7; logs that are still needed are kept longer"
  },
  keepEvents: {
    env: "SVC_KEEP_EVENTS",
    flag: "keep-events",
    metavar: "days",
    default: days(retention.runEvent),
    description: "Days to keep the events of ended Runs, at least 7"
  },
  keepRuns: {
    env: "SVC_KEEP_RUNS",
    flag: "keep-runs",
    metavar: "days",
    default: days(retention.run),
    description: "Days to keep ended Runs, at least 7, and at least as long as their logs"
  },
  keepStates: {
    env: "SVC_KEEP_STATES",
    flag: "keep-states",
    metavar: "days",
    default: days(retention.stateVersion),
    description: "Days to keep StateVersions, at least 7; the ten newest of an existing Capsule are always kept"
  },
  keepSnapshots: {
    env: "SVC_KEEP_SNAPSHOTS",
    flag: "keep-snapshots",
    metavar: "days",
    default: days(retention.sourceSnapshot),
    description: "Days to keep source snapshots and compatibility reports, at least 7"
  },
  keepPlans: {
    env: "SVC_KEEP_PLANS",
    flag: "keep-plans",
    metavar: "days",
    default: days(retention.planRecord),
    description: "Days to keep install plans, revision plans and decisions of auto-update, at least 7"
  },
  keepAgentFiles: {
    env: "SVC_KEEP_AGENT_FILES",
    flag: "keep-agent-files",
    metavar: "days",
    default: days(retention.agentFile),
    description: "Days to keep an agent's files of an abandoned apply, at least 1"
  },
  forgetAgents: {
    env: "SVC_FORGET_AGENTS",
    flag: "forget-agents",
    metavar: "days",
    default: days(retention.goneAgent),
    description: "Days of silence after which an ephemeral agent is removed, at least 1"
  },
  keepCapsuleBackups: {
    env: "SVC_KEEP_CAPSULE_BACKUPS",
    flag: "keep-capsule-backups",
    metavar: "days",
    default: days(retention.backup),
    description: "Days to keep backups of Capsules and Workspaces, at least 7; the newest backups are always kept"
  }
})

/** Settings for backups, whether a command or the running server writes them. */
const backupSettings = define({
  backupSnapshots: {
    env: "SVC_BACKUP_SNAPSHOTS",
    flag: "backup-snapshots",
    metavar: "true|false",
    default: "true",
    description:
      "Include the snapshots and builds of existing Capsules in backups; otherwise svc fetches and builds them again after a restore"
  },
  backupDirectory: {
    env: "SVC_BACKUP_DIRECTORY",
    flag: "backup-directory",
    metavar: "folder",
    description: "Existing folder for scheduled backups; default: no scheduled backups"
  },
  backupInterval: {
    env: "SVC_BACKUP_INTERVAL",
    flag: "backup-interval",
    metavar: "hours",
    default: "24",
    description: "Hours between scheduled backups"
  },
  backupKeep: {
    env: "SVC_BACKUP_KEEP",
    flag: "backup-keep",
    metavar: "number",
    default: "7",
    description: "Number of scheduled backups to keep; the oldest is removed once a newer backup has been verified"
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
    description: "The only installation that the data folder may contain, e.g. if its disk may be mounted late"
  },
  databaseUrl: {
    env: "SVC_DATABASE_URL",
    metavar: "url",
    description:
      "Database in PostgreSQL instead of the data folder: postgres://user:password@host/database. Environment or file only, never a flag"
  },
  listen: {
    env: "SVC_LISTEN",
    flag: "listen",
    metavar: "host:port",
    default: "127.0.0.1:8787",
    description: "Address of the API and the dashboard; port 0 selects any free port"
  },
  baseUrl: {
    env: "SVC_BASE_URL",
    flag: "base-url",
    metavar: "origin",
    description: "Public origin and issuer, e.g. https://svc.example.com; default: the listener's address"
  },
  plainHttp: {
    env: "SVC_PLAIN_HTTP",
    flag: "plain-http",
    metavar: "loopback|anywhere",
    default: "loopback",
    description:
      "Where plain http is allowed. Beyond loopback, passwords and sessions cross the network in clear text, so this requires `anywhere` or an https base URL (a proxy with TLS)"
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
    description: "Comma-separated families of endpoints to disable: state-uploads, backup-imports, exports"
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
    description: "JSON file with the OpenID clients and resource servers of this installation"
  },
  oidcRefreshGrace: {
    env: "SVC_OIDC_REFRESH_GRACE",
    flag: "oidc-refresh-grace",
    metavar: "seconds",
    default: "0",
    description: "Seconds in which a used refresh token returns the same successor to a client that lost the response"
  },
  oidcClientId: {
    env: "SVC_OIDC_CLIENT_ID",
    flag: "oidc-client-id",
    metavar: "id",
    description: "Client in the clients file that the discovery document lists for mobile applications"
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
    description: "File with the vault key, mode 0600; default: a file in the data folder"
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
    description: "Use of an installed git for fetching"
  },
  policyFile: {
    env: "SVC_POLICY_FILE",
    flag: "policy-file",
    metavar: "file",
    description: "JSON file with the permissions of manifests and the endpoints of Capsules"
  },
  tool: {
    env: "SVC_TOOL",
    flag: "tool",
    metavar: "path|auto",
    default: "auto",
    description: "Path of OpenTofu or Terraform for Runs; auto searches for it"
  },
  toolDownload: {
    env: "SVC_TOOL_DOWNLOAD",
    flag: "tool-download",
    metavar: "on|off",
    default: "on",
    description: "Download OpenTofu if no tool is found"
  },
  toolMirror: {
    env: "SVC_TOOL_MIRROR",
    flag: "tool-mirror",
    metavar: "url",
    description: "Mirror of OpenTofu releases; default: the project's release page"
  },
  toolMirrorKey: {
    env: "SVC_TOOL_MIRROR_KEY",
    flag: "tool-mirror-key",
    metavar: "file",
    description:
      "OpenPGP public key that signs the releases: a file, or the armored text; default: the OpenTofu project's key, verified by its fingerprint"
  },
  toolVersion: {
    env: "SVC_TOOL_VERSION",
    flag: "tool-version",
    metavar: "version",
    description: "OpenTofu release to download; default: the release that this version pins"
  },
  toolSha256: {
    env: "SVC_TOOL_SHA256",
    flag: "tool-sha256",
    metavar: "hex",
    description: "SHA-256 of the downloaded archive, used instead of a signature"
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
    description: "Allow only providers from the mirror"
  },
  runnerIsolation: {
    env: "SVC_RUNNER_ISOLATION",
    flag: "runner-isolation",
    metavar: "auto|required|off",
    default: "auto",
    description:
      "Sandbox of module code: the best level of this machine, only a level with separate namespaces, or none"
  },
  runnerNetwork: {
    env: "SVC_RUNNER_NETWORK",
    flag: "runner-network",
    metavar: "auto|isolated|host",
    default: "auto",
    description:
      "Network of Runs: a separate network if this machine supports it, always a separate network, or the host's network with its loopback"
  },
  runnerForbiddenRanges: {
    env: "SVC_RUNNER_FORBIDDEN_RANGES",
    flag: "runner-forbidden-ranges",
    metavar: "ranges",
    default: metadataRanges.join(","),
    description: "Comma-separated ranges that Runs cannot reach from a separate network; 'none' for no ranges"
  },
  runMemory: {
    env: "SVC_RUN_MEMORY",
    flag: "run-memory",
    metavar: "size|auto",
    default: "auto",
    description: "Total memory of a Run's processes; auto is half of the machine's memory, at most 4GiB"
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
    description: "Maximum size of a Run's folder, and of each file in it"
  },
  runFreeDisk: {
    env: "SVC_RUN_FREE_DISK",
    flag: "run-free-disk",
    metavar: "size",
    default: "512MiB",
    description: "Free space, at most a twentieth of the disk, below which svc stops the Run that uses the most disk"
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
    description: "Maximum number of these Runs per Workspace; default: one fewer than SVC_RUN_CONCURRENCY, at least 1"
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
    description: "Maximum number of these Runs per Workspace; default: one fewer than SVC_BUILD_CONCURRENCY, at least 1"
  },
  workspaceQueue: {
    env: "SVC_WORKSPACE_QUEUE",
    flag: "workspace-queue",
    metavar: "number",
    default: "1000",
    description: "Maximum number of queued Runs per Workspace"
  },
  ...keepSettings,
  ...backupSettings,
  keepAudit: {
    env: "SVC_KEEP_AUDIT",
    flag: "keep-audit",
    metavar: "days",
    description: "Days to keep audit events, at least 30; default: forever"
  },
  operatorListen: {
    env: "SVC_OPERATOR_LISTEN",
    flag: "operator-listen",
    metavar: "host:port",
    description: "Second listener, with /metrics, /healthz and /readyz"
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
    description: "OTLP/HTTP collector for traces, metrics and logs"
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
    description: "Format of log lines"
  }
})

export type SettingName = keyof typeof settingDefinitions

/** The environment variable that contains the path of the settings file. A settings file cannot set it. */
export const settingsFileEnv = "SVC_CONFIG"
