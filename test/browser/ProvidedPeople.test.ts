import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { writeFile } from "node:fs/promises"
import type { RequestListener } from "node:http"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { demoProvider } from "../../examples/upstream/Provider.ts"
import { refusalWords } from "../../src/accounts/upstream/UpstreamWords.ts"
import { signedOutWords } from "../../src/dashboard/signed-out/Words.ts"
import { it } from "../support/Effect.ts"
import { loopback } from "../support/LoopbackServer.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { keyboardOf } from "./support/Keyboard.ts"
import { type Language, personIn, step } from "./support/KeyboardPerson.ts"
import { peopleAtOnce } from "./support/PeopleAtOnce.ts"
import { barriers } from "./support/Suite.ts"

const name = "Acme ID"
const secret = "a-secret-of-forty-characters-for-the-test"

/** Starts a server whose people come from a provider. The test decides each person's groups. */
const world = Effect.gen(function* () {
  const groups = new Map<string, ReadonlyArray<string>>()
  const listener: { handle: RequestListener } = { handle: (_, response) => response.end() }
  const issuer = yield* loopback((request, response) => listener.handle(request, response))
  const folder = yield* temporaryFolder
  const [settings, policy] = [`${folder}/settings.json`, `${folder}/policy.json`]
  const upstream = { upstreamOidcIssuer: issuer, upstreamOidcClientId: "svc", upstreamOidcClientSecret: secret }
  yield* step(() => writeFile(settings, JSON.stringify({ ...upstream, upstreamOidcName: name })))
  yield* step(() => writeFile(policy, "{}"))
  const server = yield* peopleAtOnce([`--config=${settings}`, `--policy-file=${policy}`])
  const redirectUri = `${server.network.origin}/auth/upstream/callback`
  const provider = yield* step(() =>
    demoProvider(issuer, { secret, redirectUri, groupsOf: (login) => groups.get(login) ?? [] })
  )
  listener.handle = provider.callback()
  /** Members of the group get the role in the Workspace at their next sign-in. */
  const allow = Effect.fnUntraced(function* (group: string, workspaceId: string, role: "admin" | "viewer") {
    const rules = [{ groups: [group], workspaces: [{ workspaceId, role }] }]
    yield* step(() => writeFile(policy, JSON.stringify({ signIn: { rules } })))
    yield* server.operator("reload")
  })
  return { ...server, allow, groups }
})

/** Signs a person in on the provider's pages by keyboard. */
const visitorIn = (page: Page, language: Language, origin: string) => {
  const keys = keyboardOf(page)
  const { [language]: entrance } = signedOutWords
  const { [language]: refusals } = refusalWords
  const toProvider = async () => {
    await page.goto(`${origin}/sign-in`)
    await keys.press(page.getByRole("link", { name: entrance.orUpstream(name) }))
  }
  const present = async (login: string) => {
    await keys.type(page.locator("input[name=login]"), login)
    await keys.type(page.locator("input[name=password]"), "any")
    await keys.submit()
    await keys.press(page.locator("button[type=submit]"))
  }
  const isRefused = async (reason: "denied" | "unknown_identity") => {
    await page.getByText(refusals[reason].what(name)).waitFor()
    await page.getByText(refusals[reason].next(name)).waitFor()
    expect(await barriers(page)).toEqual([])
  }
  return {
    isRefused: (login: string) =>
      step(async () => {
        await toProvider()
        await present(login)
        await isRefused("unknown_identity")
      }),
    /** The provider still has a session for the person. */
    enters: step(async () => {
      await toProvider()
      await page.waitForURL(`${origin}/w/*`)
    }),
    turnsBack: step(async () => {
      await toProvider()
      await keys.press(page.getByRole("link", { name: "Cancel" }))
      await isRefused("denied")
    })
  }
}

describe.each([
  ["en", "ja"],
  ["ja", "en"]
] as const)("People of a provider, the owner in %s and the people in %s", (first, second) => {
  it.live(
    "people from a provider are refused unless a rule matches, and get the role of their group",
    () =>
      Effect.gen(function* () {
        const { allow, groups, network, open, openPage, setupLink } = yield* world
        const mina = yield* open(first)
        const handle = yield* mina.setUp(setupLink)
        const workspaceId = yield* mina.workspaceId
        const page = yield* openPage(second)
        const ken = visitorIn(page, second, network.origin)
        const kensPage = personIn(page, second, network.origin)

        yield* ken.turnsBack
        groups.set("ken", ["platform"])
        yield* ken.isRefused("ken")
        yield* allow("platform", workspaceId, "admin")
        yield* ken.enters
        yield* mina.settings(handle)
        yield* mina.seesRole("ken@example.com", "admin")
        yield* kensPage.settings(handle)
        yield* kensPage.seesRole("Mina", "owner")

        // svc looks up groups at every sign-in, not only at the first.
        yield* allow("platform", workspaceId, "viewer")
        yield* kensPage.signOut
        yield* ken.enters
        yield* mina.settings(handle)
        yield* mina.seesRole("ken@example.com", "viewer")

        groups.set("ken", [])
        yield* kensPage.signOut
        yield* ken.enters
        yield* mina.seesRemoved("ken@example.com")
        groups.set("ken", ["platform"])
        yield* kensPage.signOut
        yield* ken.enters
        yield* mina.settings(handle)
        yield* mina.seesRole("ken@example.com", "viewer")
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
