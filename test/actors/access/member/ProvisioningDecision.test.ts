import { describe, expect, test } from "bun:test"
import {
  type HeldMembership,
  type ProvenClaims,
  type ProvisioningChange,
  provisioningDecision
} from "../../../../actors/access/member/ProvisioningDecision.ts"
import {
  type ProvisioningRule,
  ruleFaults,
  rulesContradiction
} from "../../../../actors/access/member/ProvisioningRules.ts"
import { WorkspaceId } from "../../../../schema/records/Ids.ts"
import type { MemberStatus, Role } from "../../../../schema/records/Workspace.ts"

const acme = WorkspaceId.make("ws_aaaaaaaaaaaaaaaa")
const other = WorkspaceId.make("ws_bbbbbbbbbbbbbbbb")

const inAcme = (role: Role) => [{ workspaceId: acme, role }]
const staff: ProvisioningRule = { emailDomains: ["acme.example"], workspaces: inAcme("viewer") }
const admins: ProvisioningRule = { groups: ["platform"], workspaces: inAcme("admin") }
const owners: ProvisioningRule = { groups: ["founders"], workspaces: inAcme("owner") }
const everybody: ProvisioningRule = { everybody: true, workspaces: inAcme("member") }

const proven = (groups?: ReadonlyArray<string>, verifiedEmail?: string): ProvenClaims => ({
  trust: "email_verified",
  groups,
  verifiedEmail
})

const member = (role: Role, rest: Partial<HeldMembership["member"] & object> = {}) => ({
  role,
  status: "active" as MemberStatus,
  left: false,
  lastOwner: false,
  ...rest
})

const held = (rest: Partial<HeldMembership> = {}): HeldMembership => ({ workspaceId: acme, archived: false, ...rest })

const admit = (role: Role): ProvisioningChange => ({ kind: "admit", workspaceId: acme, role })
const setRole = (role: Role): ProvisioningChange => ({ kind: "set_role", workspaceId: acme, role })
const end: ProvisioningChange = { kind: "end", workspaceId: acme }
const release: ProvisioningChange = { kind: "release", workspaceId: acme }
const keep: ProvisioningChange = { kind: "keep_last_owner", workspaceId: acme }

const all = [staff, admins, owners]

const cases: ReadonlyArray<
  readonly [
    name: string,
    rules: ReadonlyArray<ProvisioningRule>,
    claims: ProvenClaims,
    held: HeldMembership,
    changes: ReadonlyArray<ProvisioningChange>
  ]
> = [
  ["a newcomer of the domain joins", all, proven([], "ann@acme.example"), held(), [admit("viewer")]],
  [
    "the highest of the rules that hold counts",
    all,
    proven(["platform"], "ann@acme.example"),
    held(),
    [admit("admin")]
  ],
  ["a subdomain is another domain", all, proven([], "ann@eu.acme.example"), held(), []],
  ["a domain that only ends alike is another one", all, proven([], "ann@notacme.example"), held(), []],
  ["an address before the last @ is no domain", all, proven([], '"x@acme.example"@evil.example'), held(), []],
  ["without a verified address no domain counts", all, proven([]), held(), []],
  ["no group without the claim", all, proven(), held(), []],
  ["another group", all, proven(["platforms"]), held(), []],
  [
    "both conditions of a rule must hold: no group",
    [{ ...staff, ...admins }],
    proven([], "ann@acme.example"),
    held(),
    []
  ],
  ["both conditions of a rule must hold: no address", [{ ...staff, ...admins }], proven(["platform"]), held(), []],
  [
    "both conditions of a rule hold",
    [{ ...staff, ...admins }],
    proven(["platform"], "ann@acme.example"),
    held(),
    [admit("admin")]
  ],
  ["a rule that names nobody holds for nobody", [{ workspaces: inAcme("owner") }], proven(["platform"]), held(), []],
  ["everybody needs a single tenant", [everybody], proven([], "ann@acme.example"), held(), []],
  ["everybody of a single tenant", [everybody], { trust: "single_tenant" }, held(), [admit("member")]],
  ["an archived Workspace takes nobody in", all, proven(["platform"]), held({ archived: true }), []],
  [
    "a mapped role rises with the groups",
    all,
    proven(["platform"]),
    held({ member: member("viewer"), mapped: "viewer" }),
    [setRole("admin")]
  ],
  [
    "a mapped role falls with the groups",
    all,
    proven([], "ann@acme.example"),
    held({ member: member("admin"), mapped: "admin" }),
    [setRole("viewer")]
  ],
  ["a missing claim keeps no mapped role", all, proven(), held({ member: member("admin"), mapped: "admin" }), [end]],
  [
    "a missing claim lowers to what the domain gives",
    all,
    proven(undefined, "ann@acme.example"),
    held({ member: member("admin"), mapped: "admin" }),
    [setRole("viewer")]
  ],
  [
    "an unchanged role changes nothing",
    all,
    proven(["platform"]),
    held({ member: member("admin"), mapped: "admin" }),
    []
  ],
  [
    "a mapped role in an archived Workspace still ends",
    all,
    proven([]),
    held({ archived: true, member: member("admin"), mapped: "admin" }),
    [end]
  ],
  [
    "rules that no longer name the Workspace end what they gave",
    [],
    proven(["platform"]),
    held({ member: member("admin"), mapped: "admin" }),
    [end]
  ],
  ["what people gave is not lowered", all, proven([]), held({ member: member("admin") }), []],
  ["what people gave is not raised", all, proven(["platform"]), held({ member: member("viewer") }), []],
  [
    "a role changed by hand is the person's own from then on",
    all,
    proven(["platform"]),
    held({ member: member("viewer"), mapped: "admin" }),
    [release]
  ],
  [
    "brought back by hand after the rules ended it",
    all,
    proven([]),
    held({ member: member("member"), mapped: null }),
    [release]
  ],
  [
    "the last owner stays without the group",
    all,
    proven(),
    held({ member: member("owner", { lastOwner: true }), mapped: "owner" }),
    [keep]
  ],
  [
    "the last owner is not lowered",
    all,
    proven(["platform"]),
    held({ member: member("owner", { lastOwner: true }), mapped: "owner" }),
    [keep]
  ],
  [
    "one of two owners is lowered",
    all,
    proven(["platform"]),
    held({ member: member("owner"), mapped: "owner" }),
    [setRole("admin")]
  ],
  [
    "who was suspended by hand stays suspended",
    all,
    proven(["platform"]),
    held({ member: member("admin", { status: "suspended" }), mapped: "admin" }),
    []
  ],
  [
    "whom the rules suspended comes back by them",
    all,
    proven(["platform"]),
    held({ member: member("admin", { status: "suspended" }), mapped: null }),
    [admit("admin")]
  ],
  [
    "whom the rules suspended stays so without a rule",
    all,
    proven([]),
    held({ member: member("admin", { status: "suspended" }), mapped: null }),
    []
  ],
  [
    "who left is not brought back",
    all,
    proven(["platform"]),
    held({ member: member("admin", { status: "suspended", left: true }), mapped: null }),
    []
  ],
  [
    "who left before there were rules is not brought back",
    all,
    proven(["platform"]),
    held({ member: member("admin", { status: "suspended", left: true }) }),
    []
  ],
  [
    "what a restore brought back awaits the operator",
    all,
    proven([]),
    held({ member: member("admin", { status: "unconfirmed" }), mapped: "admin" }),
    []
  ]
]

describe("Sign-in effects", () => {
  for (const [name, rules, claims, membership, changes] of cases) {
    test(name, () => {
      expect(provisioningDecision(rules, claims, [membership]).changes).toEqual(changes)
    })
  }

  test("provisioning decides separately for each Workspace", () => {
    const rules: ReadonlyArray<ProvisioningRule> = [
      { groups: ["platform"], workspaces: [...inAcme("admin"), { workspaceId: other, role: "viewer" }] }
    ]
    const both = [held(), held({ workspaceId: other, member: member("member"), mapped: "member" })]
    expect(provisioningDecision(rules, proven(["platform"]), both).changes).toEqual([
      admit("admin"),
      { kind: "set_role", workspaceId: other, role: "viewer" }
    ])
  })
})

test("a matching provisioning rule creates an account even if its Workspaces do not exist", () => {
  const alone: ProvisioningRule = { emailDomains: ["acme.example"] }
  expect(provisioningDecision([alone], proven([], "ann@acme.example"), []).admitted).toBe(true)
  expect(provisioningDecision([alone], proven([], "ann@evil.example"), []).admitted).toBe(false)
  expect(provisioningDecision([], proven(["platform"], "ann@acme.example"), []).admitted).toBe(false)
})

test("a provisioning rule must select people, list each Workspace once, and use only claims the provider can verify", () => {
  const twice: ProvisioningRule = { groups: ["a"], workspaces: [...inAcme("viewer"), ...inAcme("admin")] }
  expect(ruleFaults([staff, {}, twice]).map(({ path }) => path)).toEqual(["/1", "/2/workspaces"])
  expect(rulesContradiction([everybody], "email_verified")).toContain("SVC_UPSTREAM_OIDC_TRUST=single_tenant")
  expect(rulesContradiction([everybody], "single_tenant")).toBeUndefined()
  expect(rulesContradiction([staff], "single_tenant")).toContain("emailDomains")
  expect(rulesContradiction(all, "email_verified")).toBeUndefined()
})
