import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { live } from "../src/cli/support/CommandLine.ts"
import { isIncomplete } from "./support/NetworkShell.ts"
import { acme } from "./support/Verbs.ts"

setDefaultTimeout(180_000)

const modules = {
  "network/main.tf": `
resource "terraform_data" "network" {
  input = "here"
}
output "greeting" {
  value = "hello"
}
`
}

describe.skipIf(isIncomplete)("svc", () => {
  live("svc administers a Workspace: teams, rules, Connections, Sources, shares, backups and history", () =>
    Effect.gen(function* () {
      const { file, json, server, told } = yield* acme(modules)
      const { subject } = server
      /** Runs a command that must succeed, and returns its result. */
      const did = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const { code, error, value } = yield* json(args)
        expect([args, code, code === 0 ? "" : error]).toEqual([args, 0, ""])
        return value
      })
      /** Runs a command that must fail, and returns its exit code and message. */
      const refused = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const { code, error, out } = yield* told(args)
        expect([args, out]).toEqual([args, ""])
        return [code, error] as const
      })

      // Workspaces
      expect((yield* did("workspace", "create", "beta", "--display-name", "Beta")).workspace).toMatchObject({
        handle: "beta",
        displayName: "Beta"
      })
      expect((yield* refused("workspace", "create", "beta"))[0]).toBe(6)

      // Teams
      expect((yield* did("team", "create", "platform")).team).toMatchObject({
        name: "platform",
        members: [],
        grants: []
      })
      expect((yield* refused("team", "create", "Not A Name"))[0]).toBe(2)
      expect((yield* did("team", "add", "platform", "ada@example.test")).team.members).toEqual([subject])
      expect((yield* did("team", "add", "platform", subject)).team.members).toEqual([subject])
      const inProduction = ["--environment", "production"]
      yield* did("team", "grant", "platform", "member")
      const granted = yield* did("team", "grant", "platform", "admin", ...inProduction)
      expect(granted.team.grants).toEqual([{ role: "member" }, { role: "admin", environment: "production" }])
      const replaced = yield* did("team", "grant", "platform", "viewer", ...inProduction)
      expect(replaced.team.grants).toEqual([{ role: "member" }, { role: "viewer", environment: "production" }])
      expect((yield* did("team", "grant", "platform", "none")).team.grants).toHaveLength(1)
      expect((yield* told(["team", "list"])).out).toMatch(
        /^platform +ada@example\.test +viewer in every Project\/production/m
      )
      expect(yield* refused("team", "add", "platfrom", subject)).toEqual([
        5,
        expect.stringContaining("Did you mean platform?")
      ])

      // Approval rules.
      const rule = [
        "--approvers",
        "2",
        "--role",
        "owner",
        "--team",
        "platform",
        "--commit-author-counts",
        "--carry-over",
        "approval"
      ]
      const { approvalRule } = yield* did("rule", "add", ...rule, ...inProduction)
      expect(approvalRule).toMatchObject({
        approvers: 2,
        role: "owner",
        environment: "production",
        planAuthorCounts: false,
        commitAuthorCounts: true,
        automationCounts: false,
        carryOver: "approval"
      })
      expect((yield* refused("rule", "add", "--approvers", "11"))[0]).toBe(2)
      expect((yield* told(["rule", "list"])).out).toMatch(/^2 +owner +platform +all +production +the commit's author/m)
      expect(yield* refused("rule", "remove", approvalRule.id)).toEqual([2, expect.stringContaining("--yes")])
      expect(yield* did("rule", "remove", approvalRule.id, "--yes")).toEqual({ removed: approvalRule.id })
      expect((yield* did("rule", "list")).approvalRules).toEqual([])

      // Notices.
      const { endpoint, secret } = yield* did(
        "notice",
        "create",
        "ops",
        "https://hooks.example.com/svc",
        "--kind",
        "run.failed",
        ...inProduction
      )
      expect([endpoint.host, endpoint.kinds, endpoint.filter, secret]).toEqual([
        "https://hooks.example.com",
        ["run.failed"],
        { environments: ["production"] },
        expect.stringMatching(/^whsec_/)
      ])
      expect((yield* refused("notice", "create", "ops", "not an address"))[0]).toBe(2)
      expect((yield* did("notice", "set", "ops", "--all-capsules", "--state", "disabled")).endpoint).toMatchObject({
        filter: {},
        state: "disabled",
        reason: "person"
      })
      expect((yield* refused("notice", "set", "ops"))[0]).toBe(2)
      expect((yield* did("notice", "rotate-secret", "ops", "--overlap", "2h")).endpoint.secretVersion).toBe(2)
      expect((yield* told(["notice", "list"])).out).toMatch(
        /^ops +json +https:\/\/hooks\.example\.com +run\.failed +all/m
      )
      expect((yield* did("notice", "log", "ops")).deliveries).toEqual([])
      expect((yield* did("notice", "remove", "ops", "--yes")).removed).toBe(endpoint.id)
      expect((yield* refused("notice", "log", "ops"))[0]).toBe(5)

      yield* did("team", "remove", "platform", "ada@example.test")
      expect(yield* refused("team", "delete", "platform")).toEqual([2, expect.stringContaining("0 members lose")])
      yield* did("team", "delete", "platform", "--yes")
      expect((yield* did("team", "list")).teams).toEqual([])

      // Connections
      const values = yield* file("values.json", '{ "AWS_ACCESS_KEY_ID": "an example" }')
      yield* did("connection", "create", "staging", "--provider", "hashicorp/aws", "--values", values)
      const use = ["connection", "use", "staging"]
      expect((yield* told(use)).out).toMatch(/^roles +owner, admin\nprojects +all\nmodules +all\nrefs +the lane/m)
      const module = "https://git.example.com/infra.git//network"
      const narrowed = yield* did(...use, "--role", "member", "--module", module, "--ref", "refs/heads/main")
      expect(narrowed.connection.use).toEqual({
        roles: ["member"],
        modules: [{ origin: "https://git.example.com/infra.git/", path: "network" }],
        refs: ["refs/heads/main"]
      })
      // An option keeps its value if its flag is omitted.
      expect((yield* did(...use, "--any-module")).connection.use).toEqual({
        roles: ["member"],
        refs: ["refs/heads/main"]
      })
      expect((yield* did(...use, "--reviewed-refs")).connection.use).toEqual({ roles: ["member"] })
      expect((yield* refused(...use, "--project", "nowhere"))[0]).toBe(5)
      expect((yield* refused(...use, "--module", "no address"))[0]).toBe(2)
      expect(yield* refused("connection", "revoke", "staging")).toEqual([
        2,
        expect.stringContaining("cannot be undone")
      ])
      expect((yield* did("connection", "revoke", "staging", "--yes")).connection.status).toBe("revoked")
      expect((yield* refused("connection", "delete", "staging"))[0]).toBe(2)
      yield* did("connection", "delete", "staging", "--yes")
      expect((yield* did("connection", "list")).connections).toEqual([])

      // Installs the Capsule that the backups need.
      const install = ["install", server.repositoryUrl, "--module", "network", "--name", "network"]
      const { run } = (yield* json(install)).value
      yield* did("approve", run.id, "--digest", run.planDigest)
      yield* did("apply", run.id)

      // Sources
      const source = ["source", "set", "network"]
      expect((yield* did(...source, "--name", "infra", "--no-auto-sync")).source).toMatchObject({
        name: "infra",
        autoSync: false
      })
      source[2] = "infra"
      expect((yield* did(...source, "--reviewed-ref", "refs/heads/next")).source.reviewedRefs).toEqual([
        "refs/heads/next"
      ])
      expect((yield* did(...source, "--no-other-reviewed-refs", "--auto-sync")).source).toMatchObject({
        reviewedRefs: [],
        autoSync: true
      })
      expect((yield* did(...source, "--pull-requests", "off")).source.pullRequests).toBe("off")
      expect((yield* did(...source, "--connection", "none")).source).not.toHaveProperty("authConnectionId")
      expect(yield* refused(...source)).toEqual([2, expect.stringContaining("Nothing would change")])
      expect((yield* refused(...source, "--ref", "a b"))[0]).toBe(2)

      // Shares
      const offer = ["share", "create", "network", "--to", "beta", "--output", "greeting=hello"]
      const { outputShare } = yield* did(...offer)
      expect(outputShare).toMatchObject({ status: "pending", outputs: [{ name: "greeting", alias: "hello" }] })
      expect((yield* did("share", "approve", outputShare.id)).outputShare.status).toBe("active")
      expect((yield* told(["share", "list"])).out).toMatch(/^active +greeting as hello +ws_/m)
      expect((yield* refused("share", "revoke", outputShare.id))[0]).toBe(2)
      expect((yield* did("share", "revoke", outputShare.id, "--yes")).outputShare.status).toBe("revoked")
      expect((yield* refused("share", "create", "network", "--to", "gamma", "--output", "greeting"))[0]).toBe(5)

      // Capsules
      expect((yield* did("capsule", "rename", "network", "net")).capsule.name).toBe("net")
      const auto = ["capsule", "auto-update", "net"]
      expect((yield* did(...auto, "on", "--no-apply")).autoUpdate).toEqual({ enabled: true, apply: false })
      expect((yield* told(auto)).out).toMatch(/^auto-update +on\napplies +nothing; its plans wait/)
      expect((yield* did(...auto, "off")).autoUpdate.enabled).toBe(false)
      expect((yield* did("capsule", "disable", "net")).capsule.status).toBe("disabled")
      expect((yield* refused("plan", "net"))[0]).not.toBe(0)
      expect((yield* did("capsule", "enable", "net")).capsule.status).toBe("active")

      // Backups
      const { backup } = yield* did("capsule", "backup", "create", "net")
      expect((yield* did("capsule", "backup", "list", "net")).backups).toEqual([backup])
      const whole = (yield* did("workspace", "backup", "create")).backup
      expect((yield* did("workspace", "backup", "list")).backups).toHaveLength(2)
      expect((yield* told(["workspace", "backup", "list"])).out).toContain("all of acme")
      const restore = ["workspace", "backup", "restore-plan", whole.id]
      expect((yield* refused(...restore))[1]).toContain("capsuleId")
      const key = ["--capsule", "net", "--idempotency-key", "once"]
      const planned = yield* json([...restore, ...key])
      expect([planned.code, planned.value.run]).toMatchObject([3, { type: "restore", status: "waiting_approval" }])
      expect((yield* json([...restore, ...key])).value.run.id).toBe(planned.value.run.id)
      yield* did("run", "cancel", planned.value.run.id)

      // The history contains all of these actions.
      const listed = yield* did("activity", "list", "--limit", "200", "--since", "1h")
      const actions = new Set(listed.events.map(({ action }: { readonly action: string }) => action))
      expect([...actions]).toEqual(expect.arrayContaining(["run.approve", "connection.revoke", "capsule.update"]))
      const approvals = yield* did("activity", "list", "--action", "run.approve", "--capsule", "net")
      expect(approvals.events).toHaveLength(1)
      expect((yield* did("activity", "list", "--until", "2026-01-31")).events).toEqual([])
      expect((yield* did("activity", "list", "--limit", "3")).events).toHaveLength(3)
      expect(yield* refused("activity", "list", "--since", "yesterday")).toEqual([
        2,
        expect.stringContaining("--since")
      ])
      expect((yield* refused("activity", "list", "--limit", "0"))[0]).toBe(2)
      expect((yield* told(["activity", "list", "--limit", "3"])).out.split("\n")).toHaveLength(4)

      // Releases the Capsule.
      const release = ["capsule", "release", "net", "--reason", "moved_elsewhere"]
      expect(yield* refused(...release)).toEqual([2, expect.stringContaining("--confirm net")])
      expect((yield* refused(...release, "--confirm", "network"))[0]).toBe(2)
      expect((yield* did(...release, "--confirm", "net")).capsule.status).toBe("released")
    })
  )
})
