import { me } from "../records/People.ts"
import { ago } from "../records/Seeds.ts"
import type { World } from "./World.ts"
import { type Answer, type Asked, ok, refuse, textField } from "./Answer.ts"

const identities = [
  { id: "uid_1", issuer: "https://login.acme.example/realms/main", createdAt: ago(90_000), lastUsedAt: ago(400) }
]

const grants = [
  {
    id: "grant_1",
    clientId: "svc-cli",
    clientName: "svc command line",
    scopes: ["workspace.read", "plan.write"],
    offline: true,
    createdAt: ago(20_000)
  }
]

/**
 * Routes other than passwords and passkeys that grant access to the account or act for its owner. Returns nothing for other
 * paths.
 */
const recoveryCodes = Array.from({ length: 10 }, (_, n) => `aaaa-bbbb-cccc-ddd${(n % 6) + 2}`)

const secondFactor = (world: World, method: string): Answer => {
  if (method === "GET") return ok({ active: world.secondFactor, recoveryCodes: world.secondFactor ? 10 : 0 })
  if (method === "DELETE") {
    world.secondFactor = false
    return ok(undefined, 204)
  }
  const secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
  return ok({ secret, uri: `otpauth://totp/svc:mina%40acme.example?secret=${secret}&issuer=svc` })
}

const addressLink = (secret: string | undefined): Answer => {
  if (secret === "svce_used") return ok({ change: { state: "used" } })
  if (secret === "svce_expired") return ok({ change: { state: "expired" } })
  if (secret !== "svce_secret") return refuse(404, "not_found", "Link not found.")
  return ok({
    change: { state: "live", from: "mina@acme.example", to: "mina.sato@acme.example", expiresAt: ago(-1440) }
  })
}

const waitingConfirmation = (userCode: string | undefined): Answer =>
  userCode === "BCDF-GHJK"
    ? ok({
        confirmation: {
          userCode,
          action: "source.hook_secret.renew",
          workspace: { id: "ws_0000000000000001", handle: "acme" },
          target: { kind: "source", id: "src_0000000000000001", name: "infrastructure" },
          asker: { kind: "application", name: "svc-cli" },
          createdAt: ago(1),
          expiresAt: ago(-9)
        }
      })
    : refuse(404, "not_found", "No confirmation waits under this code.")

export const signInRoute = (world: World, { body, method, path }: Asked): Answer | undefined => {
  if (path === "/auth/upstream/identities") return ok({ identities })
  if (path === "/auth/offer") return ok({ password: true, passkeys: true, provider: { name: "login.acme.example" } })
  if (path === "/auth/notices") {
    return ok({ notices: [{ id: "ntc_1", kind: "passkey_added", detail: "work laptop", createdAt: ago(900) }] })
  }
  if (path === "/auth/address/inspect") return addressLink(textField(body, "secret"))
  if (path === "/auth/address/link") return ok({ expiresAt: ago(-1440) }, 202)
  if (["/auth/address", "/auth/profile", "/auth/notices/seen", "/auth/sessions/revoke-others"].includes(path)) {
    return ok(undefined, 204)
  }
  if (path === "/auth/confirmation") {
    return ok({
      confirmed: true,
      password: true,
      code: false,
      passkeys: true,
      provider: { name: "login.acme.example" }
    })
  }
  if (path === "/auth/second-factor") return secondFactor(world, method)
  if (path === "/auth/second-factor/activate") {
    if (textField(body, "code") !== "123456") return refuse(401, "second_factor_required", "The code is wrong.")
    world.secondFactor = true
    return ok({ recoveryCodes })
  }
  if (path === "/auth/second-factor/recovery-codes") return ok({ recoveryCodes })
  if (path === "/auth/confirmation/waiting") return waitingConfirmation(textField(body, "userCode"))
  if (path === "/auth/confirmation/decide") return ok(undefined, 204)
  if (path === "/auth/confirmation/password") {
    return textField(body, "password") === "correct horse battery"
      ? ok(undefined, 204)
      : refuse(403, "permission_denied", "The password is wrong.")
  }
  if (path === "/auth/session") {
    return ok({ session: { id: "ses_1" }, user: { subject: me, email: "mina@acme.example", isOperator: false } })
  }
  if (path === "/api/v1/invitations/inspect") {
    const workspace = { handle: "acme", displayName: "Acme Platform" }
    return ok({
      invitation: { workspace, role: "member", invitedBy: "Aiko Tanaka", expiresAt: ago(-9000), signUp: true }
    })
  }
  if (path === "/auth/grants") return ok({ grants })
  if (path.startsWith("/auth/upstream/identities/") || path.startsWith("/auth/grants/")) return ok(undefined, 204)
  return undefined
}
