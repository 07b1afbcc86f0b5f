import { describe, expect } from "bun:test"
import { writeFile } from "node:fs/promises"
import type { RequestListener } from "node:http"
import { Effect } from "effect"
import { demoProvider } from "../../examples/upstream/Provider.ts"
import { it } from "../support/Effect.ts"
import { loopback } from "../support/LoopbackServer.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { startBrowser } from "./support/Browser.ts"
import { password, personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { barriers, darkJapanese, lightEnglish } from "./support/Suite.ts"
import { joinWords } from "../../src/dashboard/signed-out/JoinWords.ts"

/** No server listens at this address, because the test needs no Git server. */
const noGit = "http://127.0.0.1:9"

const patience = 20_000

/** Starts the real server, with its owner in one browser context and a second person in another. */
const twoPeople = Effect.fnUntraced(function* (flags: ReadonlyArray<string> = []) {
  const { network, setupLink } = yield* realServer(noGit, flags)
  const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const { page } = yield* Effect.promise(() => browser.open(lightEnglish))
  yield* setUp(page, setupLink)
  const second = yield* Effect.promise(() => browser.open(darkJapanese))
  return {
    network,
    owner: { ...personAt(page, patience), page },
    guest: { ...personAt(second.page, patience), ...second }
  }
})
type Owner = Effect.Success<ReturnType<typeof twoPeople>>["owner"]

/** Creates an open invitation link. Focuses the button, and from then on uses only the keyboard. */
const inviteByKeyboard = Effect.fnUntraced(function* ({ page, step }: Owner, origin: string) {
  yield* step(() => page.goto(`${origin}/`))
  yield* step(() => page.waitForURL("**/w/*"))
  const handle = new URL(page.url()).pathname.split("/")[2] ?? ""
  yield* step(() => page.goto(`${origin}/w/${handle}/settings`))
  yield* step(() => page.getByRole("button", { name: "Invite", exact: true }).focus())
  yield* step(() => page.keyboard.press("Enter"))
  yield* step(() => page.getByRole("dialog").getByLabel("Good for").waitFor())
  expect(
    yield* Effect.promise(() => page.getByLabel("Role", { exact: true }).locator("option").allTextContents())
  ).toEqual(["Viewer", "Member", "Admin", "Owner"])
  yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Make a link", exact: true }).focus())
  yield* step(() => page.keyboard.press("Enter"))
  yield* step(() => page.locator(".secret-once code").waitFor())
  const link = (yield* Effect.promise(() => page.locator(".secret-once code").textContent())) ?? ""
  yield* step(() => page.keyboard.press("Escape"))
  return { handle, link }
})

describe("Invitation links", () => {
  it.live(
    "accepting an invitation by keyboard shows the Workspace and role, and creates an account and a membership",
    () =>
      Effect.gen(function* () {
        const { guest, network, owner } = yield* twoPeople()
        const { handle, link } = yield* inviteByKeyboard(owner, network.origin)
        expect(new URL(link).pathname).toBe("/join")
        yield* owner.see("Anybody with the link")

        const words = joinWords.ja
        yield* guest.step(() => guest.page.goto(link))
        yield* guest.see(words.invitedBy("Mina"))
        yield* guest.see(words.role.member)
        expect(guest.page.url()).not.toContain("svci_")
        expect(yield* Effect.promise(() => barriers(guest.page))).toEqual([])
        yield* guest.step(() => guest.page.getByLabel(/^名前/).fill("Ken"))
        yield* guest.type("メールアドレス", "ken@acme.example")
        yield* guest.type("パスワード", password)
        yield* guest.step(() => guest.page.keyboard.press("Enter"))
        yield* guest.step(() => guest.page.waitForURL(`**/w/${handle}`))

        yield* owner.step(() => owner.page.reload())
        const row = owner.page.locator(".row-static", { hasText: "ken@acme.example" })
        yield* owner.step(() => row.getByText("Active").waitFor())
        yield* owner.see("Accepted")

        yield* guest.step(() => guest.page.goto(link))
        yield* guest.heading(words.refusedTitle)

        yield* guest.step(() => guest.page.goto(`${network.origin}/w/${handle}/settings`))
        yield* guest.press("退出")
        yield* guest.pressInDialog("退出")
        yield* guest.step(() => guest.page.waitForURL((url) => url.pathname !== `/w/${handle}/settings`))
        yield* owner.step(() => owner.page.reload())
        yield* owner.step(() => row.getByText("Removed").waitFor())
      }),
    240_000
  )

  it.live(
    "an invitation can be declined, and survives sign-in without exposing its secret in an address",
    () =>
      Effect.gen(function* () {
        const { guest, network, owner } = yield* twoPeople()
        const words = joinWords.ja
        const first = yield* inviteByKeyboard(owner, network.origin)
        yield* guest.step(() => guest.page.goto(first.link))
        yield* guest.press(words.decline)
        yield* guest.see(words.declined)
        yield* owner.step(() => owner.page.reload())
        yield* owner.see("Declined")

        const { link } = yield* inviteByKeyboard(owner, network.origin)
        yield* guest.step(() => guest.page.goto(link))
        yield* guest.press(words.haveAccount)
        yield* guest.step(() => guest.page.waitForURL("**/sign-in?return=/join"))
        // The owner is already a member, so opening the link as the owner does not consume it.
        yield* guest.type("メールアドレス", "mina@acme.example")
        yield* guest.type("パスワード", password)
        yield* guest.press("サインイン")
        yield* guest.see(words.signedInAs("mina@acme.example"))
        yield* guest.press(words.accept)
        yield* guest.see("The person is a member of this Workspace already.")
      }),
    240_000
  )

  it.live(
    "an invitation is accepted through the upstream provider, without exposing its secret in an address",
    () =>
      Effect.gen(function* () {
        const listener: { handle: RequestListener } = { handle: (_, response) => response.end() }
        const issuer = yield* loopback((request, response) => listener.handle(request, response))
        const folder = yield* temporaryFolder
        const config = `${folder}/settings.json`
        const upstream = {
          upstreamOidcIssuer: issuer,
          upstreamOidcClientId: "svc",
          upstreamOidcClientSecret: "a-secret-of-forty-characters-for-the-test"
        }
        yield* Effect.promise(() => writeFile(config, JSON.stringify({ ...upstream, upstreamOidcName: "Acme ID" })))
        const { guest, network, owner } = yield* twoPeople([`--config=${config}`])
        const provider = yield* Effect.promise(() =>
          demoProvider(issuer, {
            secret: upstream.upstreamOidcClientSecret,
            redirectUri: `${network.origin}/auth/upstream/callback`
          })
        )
        listener.handle = provider.callback()
        const { handle, link } = yield* inviteByKeyboard(owner, network.origin)
        yield* guest.step(() => guest.page.goto(link))
        yield* guest.step(() => guest.page.getByRole("button", { name: joinWords.ja.byProvider("Acme ID") }).focus())
        yield* guest.step(() => guest.page.keyboard.press("Enter"))
        yield* guest.step(() => guest.page.locator("input[name=login]").fill("ken"))
        yield* guest.step(() => guest.page.locator("input[name=password]").fill("any"))
        yield* guest.step(() => guest.page.keyboard.press("Enter"))
        yield* guest.step(() => guest.page.locator("button[type=submit]").click())
        yield* guest.step(() => guest.page.waitForURL(`${network.origin}/w/${handle}*`))
        yield* owner.step(() => owner.page.reload())
        const row = owner.page.locator(".row-static", { hasText: "ken@example.com" })
        yield* owner.step(() => row.getByText("Active").waitFor())
      }),
    240_000
  )
})
