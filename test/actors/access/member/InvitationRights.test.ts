import { expect, test } from "bun:test"
import { grantedBy, invitationRefusal } from "../../../../actors/access/member/InvitationRights.ts"
import type { Role } from "../../../../schema/records/Workspace.ts"

const roles = ["owner", "admin", "member", "viewer"] as const satisfies ReadonlyArray<Role>

/**
 * For each role that a member can hold: the roles that the member may grant with an invitation to a particular address, and
 * with an open link.
 */
const grantable: ReadonlyArray<
  readonly [held: Role | undefined, named: ReadonlyArray<Role>, open: ReadonlyArray<Role>]
> = [
  ["owner", ["owner", "admin", "member", "viewer"], ["owner", "admin", "member", "viewer"]],
  ["admin", ["admin", "member", "viewer"], ["member", "viewer"]],
  ["member", [], []],
  ["viewer", [], []],
  [undefined, [], []]
]

test.each(grantable)(
  "a member with the role %p may invite people with the roles %p by address, and with the roles %p by open link",
  (held, named, open) => {
    const allowed = (isOpen: boolean) => roles.filter((role) => invitationRefusal(held, role, isOpen) === undefined)
    expect(allowed(false)).toEqual([...named])
    expect(allowed(true)).toEqual([...open])
    for (const role of roles)
      expect(invitationRefusal(held, role, true)?.code ?? "permission_denied").toBe("permission_denied")
  }
)

test("an open link grants at most the member role; if the link specifies a higher role, that role is only offered", () => {
  for (const role of ["owner", "admin"] as const) {
    expect(grantedBy(role, true)).toEqual({ role: "member", offeredRole: role })
    expect(grantedBy(role, false)).toEqual({ role, offeredRole: null })
  }
  for (const role of ["member", "viewer"] as const) expect(grantedBy(role, true)).toEqual({ role, offeredRole: null })
})
