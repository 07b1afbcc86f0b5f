import { metadataRanges } from "../../runner/sandbox/network/NetworkSettings.ts"
import { backupSettings } from "./BackupSettings.ts"
import { keepSettings } from "./KeepSettings.ts"
import { define } from "./SettingDefinition.ts"
import { mailServerSettings } from "./MailServerSettings.ts"
import { signInSettings } from "./SignInSettings.ts"

/** Every setting, in the order in which help lists them. */
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
    description: "Client of the clients file that the discovery document names to mobile applications; none when absent"
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
    description: "JSON file with what manifests may ask for and which endpoints Capsules have; the defaults when absent"
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
      "Sandbox of module code: the best accepted level of this machine, only one with namespaces of its own, or none at all"
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
    description: "What a Run may write into its folder, and the largest file that it may write"
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
    description: "Runs executing at once, beside syncs, compatibility checks and plans with a source build"
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

/** The settings file itself can only be set by a flag or a variable. */
export const settingsFileEnv = "SVC_CONFIG"
