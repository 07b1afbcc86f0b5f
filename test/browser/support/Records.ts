import type {
  AuditEvent,
  Backup,
  Capsule,
  CompatibilityReport,
  Connection,
  CredentialRecipe,
  Dependency,
  Discovery,
  InstallConfig,
  Member,
  Output,
  OutputShare,
  Run,
  Source,
  SourceSnapshot,
  StateVersion,
  TokenRecord,
  TokenScope,
  Workspace
} from "../../../src/dashboard/api/Types.ts"

const start = Date.parse("2026-11-20T09:00:00.000Z")

/** A time some minutes before the suite's fixed "now". */
export const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()

/** A copy of a record that lacks some of its fields. */
export const without = <A extends object, K extends keyof A>(record: A, ...keys: ReadonlyArray<K>): Omit<A, K> => {
  const copy = { ...record }
  for (const key of keys) Reflect.deleteProperty(copy, key)
  return copy
}

let count = 0
export const newId = (prefix: string): string => {
  count += 1
  return `${prefix}_${(start + count).toString(36).padStart(16, "0")}${count.toString(36).padStart(4, "0")}`
}

export const commit = (seed: number): string => seed.toString(16).padStart(8, "a").repeat(5)
export const digest = (seed: number): string => `sha256:${seed.toString(16).padStart(8, "c").repeat(8)}`

export const workspaceId = "ws_0000000000000001"
export const personalId = "ws_0000000000000002"
export const me = "usr_0000000000000001"
export const aiko = "usr_0000000000000002"
export const bruno = "usr_0000000000000003"

export const workspaces: ReadonlyArray<Workspace> = [
  {
    id: workspaceId,
    handle: "acme",
    displayName: "Acme Platform",
    type: "organization",
    role: "owner",
    createdAt: ago(60 * 24 * 200),
    updatedAt: ago(60)
  },
  {
    id: personalId,
    handle: "mina",
    displayName: "Mina Sato",
    type: "personal",
    role: "owner",
    createdAt: ago(60 * 24 * 210),
    updatedAt: ago(600)
  }
]

export const members: ReadonlyArray<Member> = [
  {
    subject: me,
    displayName: "Mina Sato",
    email: "mina@acme.example",
    role: "owner",
    status: "active",
    createdAt: ago(288_000),
    updatedAt: ago(288_000)
  },
  {
    subject: aiko,
    displayName: "Aiko Tanaka",
    email: "aiko@acme.example",
    role: "admin",
    status: "active",
    createdAt: ago(200_000),
    updatedAt: ago(200_000)
  },
  {
    subject: bruno,
    displayName: "Bruno Keller",
    email: "bruno@acme.example",
    role: "member",
    status: "active",
    createdAt: ago(90_000),
    updatedAt: ago(90_000)
  },
  {
    subject: "usr_0000000000000004",
    email: "guest@partner.example",
    role: "viewer",
    status: "invited",
    createdAt: ago(900),
    updatedAt: ago(900)
  }
]

export const sources: ReadonlyArray<Source> = [
  {
    id: "src_0000000000000001",
    workspaceId,
    name: "platform",
    url: "https://git.acme.example/infra/platform.git",
    defaultRef: "main",
    defaultPath: ".",
    autoSync: true,
    status: "active",
    lastSyncedAt: ago(12),
    createdAt: ago(200_000),
    updatedAt: ago(12)
  },
  {
    id: "src_0000000000000002",
    workspaceId,
    name: "data services",
    url: "https://git.acme.example/infra/data.git",
    defaultRef: "v2.3.0",
    defaultPath: "modules",
    autoSync: false,
    status: "active",
    lastSyncedAt: ago(2900),
    createdAt: ago(100_000),
    updatedAt: ago(2900)
  },
  {
    id: "src_0000000000000003",
    workspaceId,
    name: "old website",
    url: "https://git.acme.example/web/legacy.git",
    defaultRef: "main",
    defaultPath: ".",
    autoSync: true,
    status: "error",
    lastSyncedAt: ago(40_000),
    createdAt: ago(180_000),
    updatedAt: ago(50)
  }
]

export const snapshots: ReadonlyArray<SourceSnapshot> = [0, 1, 2].map((index) => ({
  id: `snap_000000000000000${index + 1}`,
  workspaceId,
  sourceId: "src_0000000000000001",
  url: "https://git.acme.example/infra/platform.git",
  ref: "main",
  resolvedCommit: commit(40 - index),
  path: ".",
  archiveDigest: digest(index + 1),
  archiveSizeBytes: 812_345 - index * 9000,
  fileCount: 143 - index * 2,
  omitted: index === 0 ? [{ path: "vendor/tool", kind: "submodule" as const }] : [],
  repositoryManifest: { status: "valid" as const, digest: digest(90), apiVersion: "svc.com/v2.3" },
  createdByRunId: "run_0000000000000009",
  createdAt: ago(12 + index * 1600)
}))

const capsule = (fields: Partial<Capsule> & Pick<Capsule, "id" | "name">): Capsule => ({
  workspaceId,
  projectId: "prj_0000000000000001",
  slug: fields.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
  environment: "production",
  sourceId: "src_0000000000000001",
  modulePath: "modules/service",
  installConfigId: "icfg_0000000000000001",
  status: "active",
  runtimeSafety: "safe",
  currentStateVersionId: "sv_0000000000000003",
  currentStateGeneration: 3,
  executionAuthorityEpoch: 1,
  adoptedSourceRevision: {
    sourceSnapshotId: "snap_0000000000000002",
    ref: "main",
    path: ".",
    resolvedCommit: commit(39)
  },
  installConfigReAdoption: { authorityGuard: "guard-1" },
  autoUpdate: { enabled: true, apply: false },
  driftStatus: "none",
  driftCheckedAt: ago(180),
  createdAt: ago(150_000),
  updatedAt: ago(90),
  ...fields
})

export const storefrontId = "cap_0000000000000001"

export const capsules: ReadonlyArray<Capsule> = [
  capsule({ id: storefrontId, name: "storefront", publicEndpoint: "https://shop.acme.example/" }),
  capsule({ id: "cap_0000000000000002", name: "checkout", status: "stale", updatedAt: ago(14) }),
  capsule({
    id: "cap_0000000000000003",
    name: "billing-database",
    sourceId: "src_0000000000000002",
    modulePath: "postgres",
    status: "error",
    runtimeSafety: "unknown",
    updatedAt: ago(55)
  }),
  capsule({
    id: "cap_0000000000000004",
    name: "network",
    modulePath: "modules/network",
    driftStatus: "drifted",
    driftCheckedAt: ago(33),
    updatedAt: ago(33)
  }),
  capsule({ id: "cap_0000000000000005", name: "storefront", environment: "staging", updatedAt: ago(400) }),
  capsule({ id: "cap_0000000000000006", name: "event-bus", modulePath: "modules/queue", updatedAt: ago(4000) }),
  capsule({
    id: "cap_0000000000000007",
    name: "社内ポータル",
    environment: "本番",
    modulePath: "modules/portal",
    updatedAt: ago(9000)
  }),
  without(
    capsule({
      id: "cap_0000000000000008",
      name: "search",
      status: "pending",
      currentStateGeneration: 0,
      driftStatus: "unknown",
      updatedAt: ago(3)
    }),
    "currentStateVersionId",
    "adoptedSourceRevision"
  )
]

export const connections: ReadonlyArray<Connection> = [
  {
    id: "conn_0000000000000001",
    workspaceId,
    scope: "workspace",
    provider: "hashicorp/aws",
    kind: "provider",
    recipeId: "aws-access-key",
    authMode: "access_key",
    displayName: "AWS production",
    status: "verified",
    envNames: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
    fileNames: [],
    providerConfig: { region: "ap-northeast-1" },
    moduleInputDefaults: {},
    lastUsedAt: ago(12),
    verifiedAt: ago(5000),
    expiresAt: new Date(Date.now() + 40 * 86_400_000).toISOString(),
    createdAt: ago(100_000),
    updatedAt: ago(5000)
  },
  {
    id: "conn_0000000000000002",
    workspaceId,
    scope: "workspace",
    provider: "git",
    kind: "git_https",
    recipeId: "git-https-token",
    authMode: "token",
    displayName: "git.acme.example reader",
    status: "verified",
    envNames: ["token"],
    fileNames: [],
    providerConfig: {},
    moduleInputDefaults: {},
    lastUsedAt: ago(12),
    createdAt: ago(90_000),
    updatedAt: ago(90_000)
  },
  {
    id: "conn_0000000000000003",
    scope: "operator",
    provider: "cloudflare/cloudflare",
    kind: "provider",
    recipeId: "cloudflare-token",
    authMode: "api_token",
    displayName: "Shared DNS zone",
    status: "expired",
    envNames: ["CLOUDFLARE_API_TOKEN"],
    fileNames: [],
    providerConfig: {},
    moduleInputDefaults: {},
    createdAt: ago(300_000),
    updatedAt: ago(300_000)
  }
]

const text = (en: string, ja: string) => ({ en, ja })

export const recipes: ReadonlyArray<CredentialRecipe> = [
  {
    id: "generic-env",
    provider: "*",
    displayName: text("Generic environment and files", "汎用(環境変数とファイル)"),
    description: text(
      "Gives any provider its credentials as environment variables or files.",
      "任意のプロバイダーに、環境変数やファイルで認証情報を渡します。"
    ),
    authModes: [
      { id: "env", label: text("Environment and files", "環境変数・ファイル"), values: [], files: [] },
      { id: "none", label: text("No credentials", "認証情報なし"), values: [], files: [] }
    ]
  },
  {
    id: "aws-access-key",
    provider: "hashicorp/aws",
    displayName: text("AWS access key", "AWS アクセスキー"),
    description: text("Keys of an IAM user or of temporary credentials.", "IAM ユーザーまたは一時認証情報のキー。"),
    authModes: [
      {
        id: "access_key",
        label: text("Access key", "アクセスキー"),
        values: [
          { name: "AWS_ACCESS_KEY_ID", label: text("Access key ID", "アクセスキー ID"), required: true, secret: true },
          {
            name: "AWS_SECRET_ACCESS_KEY",
            label: text("Secret access key", "シークレットアクセスキー"),
            required: true,
            secret: true
          }
        ],
        files: []
      }
    ],
    documentationUrl: "https://search.opentofu.org/provider/hashicorp/aws/latest"
  },
  {
    id: "git-https-token",
    provider: "git",
    displayName: text("Git over HTTPS", "Git(HTTPS トークン)"),
    description: text("A token that may read a private repository.", "非公開リポジトリを読むためのトークン。"),
    authModes: [
      {
        id: "token",
        label: text("Token", "トークン"),
        values: [
          { name: "username", label: text("User name", "ユーザー名"), required: false, secret: false },
          { name: "token", label: text("Token", "トークン"), required: true, secret: true }
        ],
        files: []
      }
    ]
  }
]

export const installConfig: InstallConfig = {
  id: "icfg_0000000000000001",
  workspaceId,
  origin: "repository_manifest",
  modulePath: "modules/service",
  sourceSnapshotId: "snap_0000000000000001",
  digest: digest(70),
  variables: [
    {
      name: "name",
      type: "string",
      required: true,
      hasDefault: false,
      sensitive: false,
      ephemeral: false,
      origin: "capsule_name",
      set: true
    },
    {
      name: "domain",
      type: "string",
      required: true,
      hasDefault: false,
      sensitive: false,
      ephemeral: false,
      origin: "user",
      set: true
    },
    {
      name: "replicas",
      type: "number",
      required: false,
      hasDefault: true,
      sensitive: false,
      ephemeral: false,
      origin: "user",
      set: true
    },
    {
      name: "session_key",
      type: "string",
      required: true,
      hasDefault: false,
      sensitive: true,
      ephemeral: false,
      origin: "user",
      set: true
    },
    {
      name: "public",
      type: "boolean",
      required: false,
      hasDefault: true,
      sensitive: false,
      ephemeral: false,
      origin: "user",
      set: false
    },
    {
      name: "mail_from",
      type: "string",
      required: false,
      hasDefault: true,
      sensitive: false,
      ephemeral: false,
      origin: "user",
      set: false
    },
    {
      name: "allowed_ranges",
      type: "json",
      required: false,
      hasDefault: true,
      sensitive: false,
      ephemeral: false,
      origin: "user",
      set: false
    }
  ],
  outputAllowlist: [],
  interfaceBlueprints: [],
  presentation: {
    inputs: [
      {
        name: "domain",
        label: text("Domain", "ドメイン"),
        helper: text("Where people reach the shop.", "ショップの公開先です。"),
        placeholder: "shop.example.com",
        required: true
      },
      { name: "replicas", label: text("Instances", "インスタンス数") },
      { name: "session_key", label: text("Session key", "セッションキー"), secret: true, required: true },
      { name: "public", label: text("Reachable from the internet", "インターネットに公開") },
      { name: "mail_from", label: text("Sender address", "差出人アドレス"), placeholder: "shop@example.com" }
    ],
    features: [{ id: "mail", optional: true, label: text("E-mail notifications", "メール通知"), inputs: ["mail_from"] }]
  },
  sourceBuild: {
    commands: [{ argv: ["npm", "run", "build", "--", "--mode production"], workingDirectory: "web" }],
    outputs: ["web/dist"]
  },
  createdAt: ago(12)
}

export const report: CompatibilityReport = {
  id: "rep_0000000000000001",
  sourceId: "src_0000000000000001",
  sourceSnapshotId: "snap_0000000000000001",
  modulePath: "modules/service",
  status: "needs_attention",
  findings: [
    {
      severity: "warning",
      code: "provider_version_open",
      message:
        "The provider hashicorp/aws has no upper version limit; the lock of each plan pins the one that is used.",
      path: "modules/service/versions.tf",
      line: 6
    }
  ],
  variables: installConfig.variables.map((variable) => without(variable, "origin", "set")),
  outputs: [{ name: "url", sensitive: false, ephemeral: false }],
  providerPackages: [{ source: "registry.opentofu.org/hashicorp/aws", versionConstraints: [">= 5.0"] }],
  rootProviderRequirements: [{ provider: "registry.opentofu.org/hashicorp/aws", moduleLocalName: "aws" }],
  manifest: { status: "valid", diagnostics: [] },
  installConfigId: installConfig.id,
  createdByRunId: "run_0000000000000009",
  createdAt: ago(10)
}

export const outputs: ReadonlyArray<Output> = [
  {
    name: "url",
    type: "string",
    value: "https://shop.acme.example/",
    sensitive: false,
    stateVersionId: "sv_0000000000000003"
  },
  {
    name: "bucket",
    type: "string",
    value: "acme-shop-assets-production",
    sensitive: false,
    stateVersionId: "sv_0000000000000003"
  },
  {
    name: "script",
    type: "string",
    value: "javascript:alert(1)",
    sensitive: false,
    stateVersionId: "sv_0000000000000003"
  },
  {
    name: "subnets",
    type: ["list", "string"],
    value: ["subnet-0a1b2c", "subnet-0d3e4f"],
    sensitive: false,
    stateVersionId: "sv_0000000000000003"
  }
]

export const stateVersions: ReadonlyArray<StateVersion> = [3, 2, 1].map((generation) => ({
  id: `sv_000000000000000${generation}`,
  workspaceId,
  capsuleId: storefrontId,
  generation,
  serial: generation * 2,
  digest: digest(generation + 50),
  resourceCount: 20 + generation,
  createdByRunId: "run_0000000000000005",
  createdAt: ago(generation === 3 ? 90 : 90 + (3 - generation) * 9000),
  partial: generation === 2
}))

export const dependencies: ReadonlyArray<Dependency> = [
  {
    id: "dep_0000000000000001",
    workspaceId,
    producerCapsuleId: "cap_0000000000000004",
    consumerCapsuleId: storefrontId,
    mode: "variable_injection",
    outputs: [{ from: "subnet_ids", to: "subnets", required: true }],
    createdAt: ago(9000)
  },
  {
    id: "dep_0000000000000002",
    workspaceId,
    producerCapsuleId: storefrontId,
    consumerCapsuleId: "cap_0000000000000002",
    mode: "published_output",
    outputs: [{ from: "url", to: "shop_url", required: false }],
    createdAt: ago(9000)
  }
]

export const outputShares: ReadonlyArray<OutputShare> = [
  {
    id: "oshare_0000000000000001",
    fromWorkspaceId: personalId,
    toWorkspaceId: workspaceId,
    producerCapsuleId: "cap_0000000000000091",
    outputs: [{ name: "zone_id", alias: "dns_zone" }],
    status: "pending",
    createdAt: ago(300)
  },
  {
    id: "oshare_0000000000000002",
    fromWorkspaceId: workspaceId,
    toWorkspaceId: personalId,
    producerCapsuleId: storefrontId,
    outputs: [{ name: "url" }, { name: "region" }],
    status: "active",
    createdAt: ago(7000),
    approvedAt: ago(6900)
  }
]

export const backups: ReadonlyArray<Backup> = [
  {
    id: "bkp_0000000000000001",
    workspaceId,
    digest: digest(91),
    sizeBytes: 48_213,
    createdByRunId: "run_0000000000000005",
    createdAt: ago(600)
  },
  {
    id: "bkp_0000000000000002",
    workspaceId,
    capsuleId: storefrontId,
    digest: digest(92),
    sizeBytes: 9144,
    createdByRunId: "run_0000000000000005",
    createdAt: ago(9000)
  }
]

export const optionsDocument = JSON.stringify({
  apiVersion: "install.svc.com/v1alpha1",
  kind: "CapsuleSourceOptions",
  metadata: {
    name: "shop",
    title: "Shop, in three sizes",
    description: "The same shop: on one machine, on a cluster, or as a trial without a database."
  },
  options: [
    { id: "single", title: "One machine", source: { url: "https://git.acme.example/infra/shop.git", path: "single" } },
    {
      id: "cluster",
      title: "Cluster",
      source: { url: "https://git.acme.example/infra/shop-cluster.git", path: ".", ref: "v3.1.0" }
    },
    {
      id: "trial",
      title: "Trial",
      source: { url: "https://git.acme.example/infra/shop.git", path: "trial", ref: "main" }
    }
  ]
})

const audit = (
  id: number,
  action: string,
  minutes: number,
  subject: string | undefined,
  target: string,
  runId?: string
): AuditEvent => ({
  id: `act_${String(id).padStart(16, "0")}`,
  workspaceId,
  actor: subject === undefined ? { kind: "webhook" } : { kind: "user", subject },
  action,
  target: { kind: target.split("_")[0] === "cap" ? "capsule" : "run", id: target },
  ...(runId === undefined ? {} : { runId }),
  data: {},
  requestId: `req_${id}`,
  createdAt: ago(minutes)
})

export const activity: ReadonlyArray<AuditEvent> = [
  audit(1, "capsule.plan", 4, aiko, "run_0000000000000001", "run_0000000000000001"),
  audit(2, "source.sync", 12, undefined, "src_0000000000000001"),
  audit(3, "run.apply", 55, bruno, "run_0000000000000003", "run_0000000000000003"),
  audit(4, "run.approve", 90, me, "run_0000000000000005", "run_0000000000000005"),
  audit(5, "connection.test", 240, aiko, "conn_0000000000000001"),
  audit(6, "capsule.configure", 1500, me, storefrontId),
  audit(7, "member.add", 2000, me, "usr_0000000000000004")
]

export const tokens: ReadonlyArray<TokenRecord> = [
  {
    token_id: "pat_0000000000000001",
    subject: me,
    name: "CI deploys",
    prefix: "svcp_4f9A",
    scopes: ["read", "write"],
    workspace_id: workspaceId,
    created_at: ago(90_000),
    expires_at: null,
    revoked_at: null,
    last_used_at: ago(25)
  },
  {
    token_id: "pat_0000000000000002",
    subject: me,
    name: "laptop",
    prefix: "svcp_Qz1x",
    scopes: ["read"],
    workspace_id: null,
    created_at: ago(190_000),
    expires_at: ago(100),
    revoked_at: null,
    last_used_at: ago(70_000)
  },
  {
    token_id: "pat_0000000000000003",
    subject: me,
    name: "old script",
    prefix: "svcp_aa0B",
    scopes: ["read"],
    workspace_id: null,
    created_at: ago(290_000),
    expires_at: null,
    revoked_at: ago(1000),
    last_used_at: null
  }
]

export const tokenScopes: ReadonlyArray<TokenScope> = [
  {
    scope: "read",
    label: text("Read", "読み取り"),
    description: text("See everything you can see.", "あなたが閲覧できるものをすべて閲覧します。"),
    selfService: true,
    workspaceBinding: "optional"
  },
  {
    scope: "write",
    label: text("Write", "書き込み"),
    description: text(
      "Do everything you can do, approvals included.",
      "承認を含め、あなたができる操作をすべて行います。"
    ),
    selfService: true,
    workspaceBinding: "optional"
  }
]

export const discovery = (origin: string): Discovery => ({
  product: "svc",
  name: "svc",
  auth: { oidc: false, password: true },
  apiBaseUrl: `${origin}/api/v1`,
  api_versions: ["svc.dev/v1alpha1"],
  features: { stacks: true, opentofu_runner: true, oidc: false, workload_identity: false, interfaces: true },
  endpoints: {
    api: `${origin}/api/v1`,
    capabilities: `${origin}/api/v1/capabilities`,
    openapi: `${origin}/openapi.json`,
    oidc_issuer: origin
  }
})

export const baseRun = (fields: Partial<Run> & Pick<Run, "id" | "type" | "status">): Run => ({
  workspaceId,
  sourceId: "src_0000000000000001",
  sourceSnapshotId: "snap_0000000000000001",
  resolvedCommit: commit(40),
  requiresApproval: fields.type === "plan" || fields.type === "destroy_plan",
  createdBy: me,
  trigger: "user",
  attempt: 1,
  tool: { name: "opentofu", version: "1.12.3" },
  sandboxLevel: "bubblewrap",
  createdAt: ago(5),
  queuedAt: ago(5),
  ...fields
})
