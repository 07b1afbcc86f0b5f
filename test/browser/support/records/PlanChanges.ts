import type { ResourceChange } from "../../../../src/dashboard/api/Types.ts"

export const aws = "registry.opentofu.org/hashicorp/aws"

export const change = (
  address: string,
  actions: ReadonlyArray<string>,
  attributes: ResourceChange["changedAttributes"],
  reason?: string
): ResourceChange => {
  const [type = "", name = ""] = address.replace(/^module\.[^.]+\./, "").split(".")
  return {
    address,
    mode: "managed",
    type,
    name,
    provider: aws,
    actions,
    changedAttributes: attributes,
    ...(reason === undefined ? {} : { reason })
  }
}

/** Returns a policy with twenty statements, of which the statement `LegacyExportRead` either allows or denies. */
const exportsPolicy = (effect: "Allow" | "Deny") =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: Array.from({ length: 20 }, (_, index) => ({
      Sid: index === 13 ? "LegacyExportRead" : `Service${index}`,
      Effect: index === 13 ? effect : "Allow",
      Principal: { AWS: `arn:aws:iam::481302776120:role/service-${index}` },
      Action: ["s3:GetObject", "s3:GetObjectVersion"],
      Resource: `arn:aws:s3:::acme-exports/${index}/*`
    }))
  })

const startScript = (version: string) =>
  btoa(
    [
      "#!/bin/bash",
      "set -euo pipefail",
      ...Array.from({ length: 8 }, (_, index) => `sysctl -w net.core.setting${index}=4096`),
      `docker run -d --name api acme/api:${version}`,
      "systemctl enable --now api"
    ].join("\n")
  )

export const planChanges: ReadonlyArray<ResourceChange> = [
  change(
    "aws_cloudwatch_log_group.legacy",
    ["delete"],
    [
      { name: "name", before: "/acme/storefront/legacy" },
      { name: "retention_in_days", before: 30 }
    ],
    "delete_because_no_resource_config"
  ),
  change(
    "module.data.aws_db_instance.main",
    ["delete", "create"],
    [
      { name: "engine_version", before: "15.8", after: "16.4", forcesReplacement: true },
      { name: "identifier", before: "acme-shop", after: "acme-shop-16" },
      { name: "password", sensitive: true, before: null, after: null },
      { name: "endpoint", before: "acme-shop.c3xk.ap-northeast-1.rds.amazonaws.com", unknown: true }
    ],
    "replace_because_cannot_update"
  ),
  change(
    "aws_iam_policy.deploy",
    ["update"],
    [
      {
        name: "policy",
        before: '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":"*"}]}',
        after:
          '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"*"}]}'
      }
    ]
  ),
  change(
    'module.network.aws_security_group_rule.ingress["office"]',
    ["update"],
    [{ name: "cidr_blocks", before: ["198.51.100.0/24"], after: ["198.51.100.0/24", "203.0.113.0/24"] }]
  ),
  change(
    "aws_lb_target_group.green",
    ["create"],
    [
      { name: "name", after: "shop-green" },
      { name: "port", after: 8080 },
      { name: "arn", unknown: true }
    ]
  ),
  change(
    "aws_lb_listener_rule.green",
    ["create"],
    [
      { name: "priority", after: 20 },
      { name: "id", unknown: true }
    ]
  ),
  change(
    "aws_s3_bucket.assets",
    ["update"],
    [
      { name: "tags.revision", before: "a1b2", after: "c3d4" },
      { name: "tags_all", unknown: true }
    ]
  ),
  change("aws_ecs_service.web", ["update"], [{ name: "tags.revision", before: "a1b2", after: "c3d4" }]),
  change(
    "aws_s3_bucket_policy.exports",
    ["update"],
    [{ name: "policy", before: exportsPolicy("Allow"), after: exportsPolicy("Deny") }]
  ),
  change(
    "aws_launch_template.api",
    ["update"],
    [
      { name: "latest_version", before: 41, unknown: true },
      { name: "user_data", before: startScript("4.17.2"), after: startScript("4.18.0") }
    ]
  ),
  {
    ...change("aws_s3_bucket.audit", ["update"], [{ name: "object_lock_enabled", before: false, after: true }]),
    importing: { id: "acme-audit-prod" }
  },
  { ...change("module.network.aws_security_group.api", ["no-op"], []), previousAddress: "aws_security_group.api" },
  change("data.aws_ami.base", ["read"], [{ name: "id", unknown: true }], "read_because_dependency_pending")
]
