import type { CompatibilityReport, InstallConfig } from "../../../../src/dashboard/api/Types.ts"
import { ago, digest, text, without } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

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
  outputs: [
    { name: "url", sensitive: false, ephemeral: false },
    { name: "admin_password", sensitive: true, ephemeral: false }
  ],
  providerPackages: [{ source: "registry.opentofu.org/hashicorp/aws", versionConstraints: [">= 5.0"] }],
  rootProviderRequirements: [{ provider: "registry.opentofu.org/hashicorp/aws", moduleLocalName: "aws" }],
  manifest: { status: "valid", diagnostics: [] },
  installConfigId: installConfig.id,
  createdByRunId: "run_0000000000000009",
  createdAt: ago(10)
}
