import type { SetupLinkState } from "../../../../schema/records/AccountLink.ts"
import { ago } from "../records/Seeds.ts"
import { tokenScopes, tokens } from "../records/Tokens.ts"
import { type Answer, type Asked, ok, refuse, textField } from "./Answer.ts"
import type { World } from "./World.ts"

export const accountRoute = (path: string, asked: Asked): Answer => {
  if (path === "notice-mails") return ok({ noticeMails: { sendsMail: true, kinds: ["run.waiting_approval"] } })
  if (path === "tokens" && asked.method === "GET") return ok({ tokens })
  if (path === "tokens/scopes") return ok({ kind: "svc.account-pat-scope-catalog@v1", scopes: tokenScopes })
  if (path === "tokens") return ok({ token: "svcp_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE", token_record: tokens[0] }, 201)
  return ok({ token_record: tokens[0] })
}

const live = { state: "live", expiresAt: ago(-30) } as const

/** Setup links, keyed by secret. */
const setupLinks: Readonly<Record<string, SetupLinkState>> = {
  "right-secret": { ...live, purpose: "first_account" },
  "reset-secret": { ...live, purpose: "recovery", email: "mina@acme.example" },
  "used-secret": { state: "used", purpose: "first_account" },
  "used-reset-secret": { state: "used", purpose: "recovery" },
  "old-secret": { state: "expired", purpose: "first_account" },
  "old-reset-secret": { state: "expired", purpose: "recovery" }
}

export const authRoute = (world: World, path: string, asked: Asked): Answer => {
  if (path === "/auth/sessions") {
    const session = { method: "password", createdAt: ago(900), expiresAt: ago(-40_000) }
    return ok({
      sessions: [
        {
          ...session,
          id: "ses_1",
          userAgent: "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36",
          lastSeenAt: ago(0),
          current: true
        },
        {
          ...session,
          id: "ses_2",
          method: "passkey",
          userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605.1",
          lastSeenAt: ago(2000),
          current: false
        }
      ]
    })
  }
  if (path === "/auth/passkeys") {
    return ok({
      passkeys: [{ id: "pk_1", name: "work laptop", backedUp: true, createdAt: ago(9000), lastUsedAt: ago(50) }]
    })
  }
  if (path === "/auth/sign-out") {
    world.signedIn = false
    return ok({})
  }
  if (path === "/auth/setup/link") {
    const link = setupLinks[textField(asked.body, "secret") ?? ""]
    return link === undefined ? refuse(404, "not_found", "Setup link not found.") : ok({ link })
  }
  if (path === "/auth/setup")
    return ["right-secret", "reset-secret"].includes(textField(asked.body, "secret") ?? "")
      ? ok({})
      : refuse(401, "unauthenticated", "The link was used.")
  if (textField(asked.body, "password") !== "correct horse battery")
    return refuse(401, "unauthenticated", "Wrong password.")
  world.signedIn = true
  return ok({})
}
