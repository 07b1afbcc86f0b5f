import { describe, expect, test } from "bun:test"
import { Effect, type Schema } from "effect"
import type { PlanDocument } from "../../../runner/execution/PlanDocument.ts"
import { projectPlan } from "../../../runner/execution/PlanProjection.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { directRedactor } from "../../support/DirectRedactor.ts"
import { declaredKeys, valueSecrets } from "../../../runner/redaction/SecretRule.ts"

interface OrdinaryModule {
  readonly type: string
  readonly secret: Schema.Json
  /** Addresses of the module's resources, each with its type. */
  readonly resources: Readonly<Record<string, string>>
}

const statement = { Effect: "Allow", Action: ["s3:GetObject", "s3:ListBucket"], Resource: "arn:aws:s3:::assets/*" }
/** Values that are not secret. Every plan below must show them unchanged. */
const policy = JSON.stringify({ Version: "2012-10-17", Statement: [statement] })

/** Modules with realistic secrets, several of which are also words in addresses, types and verbs. */
const modules: Readonly<Record<string, OrdinaryModule>> = {
  "a database": {
    type: "object({ engine = string, username = string, password = string, port = number })",
    secret: { engine: "postgres", username: "app", password: "S3cr3t-pass-1", port: 5432 },
    resources: { "postgresql_role.app": "postgresql_role", "aws_db_instance.postgres": "aws_db_instance" }
  },
  "a map of application secrets": {
    type: "map(string)",
    secret: { DATABASE_URL: "postgres://u:pass-word-9@h/db", "api-token": "tok_1234567890" },
    resources: { "aws_ssm_parameter.this": "aws_ssm_parameter", "aws_ecs_service.api": "aws_ecs_service" }
  },
  "a list of users": {
    type: "list(object({ name = string, password = string }))",
    secret: [
      { name: "admin", password: "hunter2-hunter2" },
      { name: "reader", password: "reader-pass-77" }
    ],
    resources: { "mysql_user.admin": "mysql_user", "module.reader.mysql_grant.reader": "mysql_grant" }
  },
  "a registry login": {
    type: "object({ server = string, username = string, token = string })",
    secret: { server: "ghcr.io", username: "octocat", token: "ghp_0123456789abcdef" },
    resources: { "kubernetes_secret.ghcr": "kubernetes_secret", "kubernetes_namespace.octocat": "kubernetes_namespace" }
  },
  "a service account key": {
    type: "string",
    secret: JSON.stringify({
      type: "service_account",
      project_id: "shop-prod",
      private_key: "-----BEGIN x-----\nabcdefghijklmnop\n"
    }),
    resources: {
      "google_service_account.this": "google_service_account",
      "google_project_iam_member.shop": "google_project_iam_member"
    }
  },
  "SMTP settings": {
    type: "object({ host = string, port = number, tls = bool, user = string, pass = string })",
    secret: { host: "smtp.example.test", port: 587, tls: true, user: "mailer", pass: "mail-pass-123" },
    resources: { "helm_release.mailer": "helm_release" }
  },
  "a TLS pair": {
    type: "object({ cert = string, key = string })",
    secret: { cert: "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmg\n", key: "-----BEGIN KEY-----\nMIIEvQIBADANBg\n" },
    resources: { "tls_private_key.key": "tls_private_key", "aws_acm_certificate.cert": "aws_acm_certificate" }
  },
  "OAuth clients": {
    type: "map(object({ client_id = string, client_secret = string }))",
    secret: { github: { client_id: "Iv1.8a61f9b3a7aba766", client_secret: "c0ffee-secret-01" } },
    resources: { "github_app.github": "github_app", "vault_generic_secret.oauth[0]": "vault_generic_secret" }
  },
  "a numbered set": {
    type: "object({ replicas = number, pin = number, password = string })",
    secret: { replicas: 12, pin: 10, password: "numbered-pass-1" },
    resources: { "aws_instance.node[12]": "aws_instance", "aws_instance.node[10]": "aws_instance" }
  },
  "an environment": {
    type: "object({ stage = string, key = string })",
    secret: { stage: "production", key: "prod-key-4711" },
    resources: {
      "module.production.aws_lb.production": "aws_lb",
      "aws_route53_record.production": "aws_route53_record"
    }
  },
  "words that are verbs": {
    type: "object({ mode = string, on_exit = string, secret = string })",
    secret: { mode: "create", on_exit: "delete", secret: "verb-secret-001" },
    resources: { "terraform_data.create": "terraform_data", "terraform_data.delete": "terraform_data" }
  },
  "a nested object": {
    type: "object({ db = object({ main = object({ password = string }) }) })",
    secret: { db: { main: { password: "nested-pass-55" } } },
    resources: { "aws_rds_cluster.main": "aws_rds_cluster", "aws_rds_cluster_instance.db": "aws_rds_cluster_instance" }
  },
  "optional attributes": {
    type: 'object({ token = string, region = optional(string, "eu-west-1") })',
    secret: { token: "optional-token-1", region: "eu-west-1" },
    resources: { "aws_instance.region": "aws_instance", "aws_vpc.token": "aws_vpc" }
  },
  "a tuple": {
    type: "tuple([string, number, bool])",
    secret: ["tuple-secret-1", 443, false],
    resources: {
      "aws_lb_listener.https": "aws_lb_listener",
      "aws_security_group_rule.tuple": "aws_security_group_rule"
    }
  },
  "any value": {
    type: "any",
    secret: { password: "any-pass-value", user: "root" },
    resources: { "random_password.password": "random_password", "aws_iam_user.root": "aws_iam_user" }
  },
  "a kubeconfig": {
    type: "string",
    secret: "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    token: kube-token-123456\n",
    resources: { "kubernetes_config_map.config": "kubernetes_config_map", "kubernetes_role.admin": "kubernetes_role" }
  },
  webhooks: {
    type: "set(string)",
    secret: ["https://hooks.example.test/T0/B0/xyzxyzxyz"],
    resources: {
      "aws_sns_topic.hooks": "aws_sns_topic",
      "aws_sns_topic_subscription.example": "aws_sns_topic_subscription"
    }
  },
  "feature flags beside a key": {
    type: "object({ enabled = bool, level = string, flag = string, key = string })",
    secret: { enabled: true, level: "true", flag: "null", key: "flag-key-123" },
    resources: {
      "aws_appconfig_application.flag": "aws_appconfig_application",
      "null_resource.enabled": "null_resource"
    }
  },
  "a VPN": {
    type: "object({ psk = string, peers = map(string) })",
    secret: { psk: "psk-000111222", peers: { "203.0.113.7": "peer-secret-1" } },
    resources: { "aws_vpn_connection.peers": "aws_vpn_connection", 'aws_vpn_gateway.this["main"]': "aws_vpn_gateway" }
  },
  "a cache": {
    type: "object({ auth_token = string, nodes = number })",
    secret: { auth_token: "cache-token-88", nodes: 3 },
    resources: {
      "aws_elasticache_cluster.cache": "aws_elasticache_cluster",
      "aws_elasticache_subnet_group.nodes": "aws_elasticache_subnet_group"
    }
  }
}

const actions = ["create", "update", "delete", "read"]

const planOf = (resources: OrdinaryModule["resources"]): PlanDocument => ({
  format_version: "1.2",
  resource_changes: Object.entries(resources).map(([address, type], index) => ({
    address,
    type,
    name: "n",
    change: { actions: [actions[index % actions.length] ?? ""], before: null, after: { policy, password: null } }
  }))
})

describe("Ordinary modules", () => {
  test("number twenty", () => expect(Object.keys(modules)).toHaveLength(20))

  for (const [name, { resources, secret, type }] of Object.entries(modules)) {
    test(`ordinary modules with structured secrets still show addresses, verbs, types and policies: ${name}`, () => {
      const redactor = new Redactor(valueSecrets("var.secret", secret, declaredKeys(type)))
      const plan = planOf(resources)
      const { resourceChanges } = Effect.runSync(projectPlan(plan, directRedactor(redactor)))
      expect(resourceChanges.map(({ actions: verbs, address, type: of }) => [address, of, verbs])).toEqual(
        (plan.resource_changes ?? []).map(({ address, change, type: of }) => [address, of, change.actions] as const)
      )
      for (const { changedAttributes } of resourceChanges) {
        expect(changedAttributes.find((attribute) => attribute.name === "policy")?.after).toBe(policy)
      }
      for (const address of Object.keys(resources)) {
        for (const text of [
          `${address}: Creating...`,
          `${address}: Creation complete after 1s`,
          `${address}: Plan to update`
        ]) {
          expect(redactor.message(text, address)).toBe(text)
        }
      }
      expect(redactor.text("Plan: 3 to add, 1 to change, 0 to destroy.")).toBe(
        "Plan: 3 to add, 1 to change, 0 to destroy."
      )
    })
  }
})
