import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { signedOutWords } from "../../src/dashboard/signed-out/Words.ts"
import { joinWords } from "../../src/dashboard/signed-out/JoinWords.ts"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { installWords } from "../../src/dashboard/screens/install/Words.ts"
import { standingWords } from "../../src/dashboard/screens/run/ApprovalStandingWords.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { approvalWords } from "../../src/dashboard/screens/workspace/ApprovalWords.ts"
import { memberWords } from "../../src/dashboard/screens/workspace/MemberWords.ts"
import { workspaceWords } from "../../src/dashboard/screens/workspace/Words.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { it } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { keyboardOf } from "./support/Keyboard.ts"
import { notesRepository } from "./support/NotesRepository.ts"
import { password } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"

type Language = "en" | "ja"

const patience = 60_000
const comment = "fine by me"

const module = `
resource "terraform_data" "greeting" {
  input = "Hello"
}
`

const step = <A>(act: () => Promise<A>) => Effect.promise(act)

/** Performs a person's actions on a page, by keyboard and in the person's language. */
const personIn = (page: Page, language: Language, origin: string) => {
  const keys = keyboardOf(page)
  const { [language]: decision } = decisionWords
  const { [language]: entrance } = signedOutWords
  const { [language]: people } = memberWords
  const { [language]: rules } = approvalWords
  const { [language]: standing } = standingWords
  const { [language]: terms } = vocabulary
  const dialog = page.getByRole("dialog")
  const within = (place: Page | Locator, name: string) => place.getByRole("button", { name, exact: true })
  const labelled = (place: Page | Locator, label: string) => place.getByLabel(new RegExp(`^${label}`)).first()
  const row = (name: string) => page.locator(".row-static", { hasText: name })
  const closed = () => dialog.waitFor({ state: "detached" })
  const review = page.getByTestId("decision")
  const approvals = page.getByTestId("approvals")
  const settings = (handle: string, tab = "") => page.goto(`${origin}/w/${handle}/settings${tab}`)
  const account = async (name: string, address: string) => {
    await keys.type(labelled(page, entrance.displayName), name)
    await keys.type(page.getByLabel(entrance.email), address)
    await keys.type(page.getByLabel(entrance.password, { exact: true }), password)
    await keys.submit()
  }
  return {
    setUp: (link: string) =>
      step(async () => {
        await page.goto(link)
        await account("Mina", "mina@acme.example")
        await page.waitForURL("**/w/*")
        return new URL(page.url()).pathname.split("/")[2] ?? ""
      }),
    invite: (handle: string) =>
      step(async () => {
        await settings(handle)
        await keys.press(within(page, people.invite))
        await keys.press(within(dialog, people.makeLink))
        return (await page.locator(".secret-once code").textContent()) ?? ""
      }),
    join: (link: string) =>
      step(async () => {
        await page.goto(link)
        await page.getByText(joinWords[language].role.member).waitFor()
        await account("Ken", "ken@acme.example")
        await page.waitForURL("**/w/*")
      }),
    makeAdmin: (handle: string, name: string) =>
      step(async () => {
        await settings(handle)
        const role = page.getByLabel(workspaceWords[language].changeRole(name))
        await keys.press(role)
        await keys.type(labelled(dialog, workspaceWords[language].role), "")
        await page.keyboard.press("ArrowDown")
        await keys.press(within(dialog, memberWords[language].changeRole))
        await closed()
        await role.getByText(vocabulary[language].role.admin).waitFor()
      }),
    addTeam: (handle: string, name: string, members: ReadonlyArray<string>) =>
      step(async () => {
        await settings(handle, "/approvals")
        await keys.press(within(page, rules.newTeam))
        await keys.type(labelled(dialog, rules.teamName), name)
        for (const member of members) {
          await keys.type(dialog.getByLabel(member, { exact: true }), "")
          await page.keyboard.press("Space")
        }
        await keys.press(within(dialog, rules.newTeam))
        await closed()
        await row(name).getByText(rules.membersOf(members.length)).waitFor()
      }),
    addRule: (environment: string) =>
      step(async () => {
        await keys.press(within(page, rules.newRule))
        await keys.type(labelled(dialog, rules.environment), environment)
        await keys.type(dialog.getByLabel(rules.team, { exact: true }), "")
        await page.keyboard.press("ArrowDown")
        await keys.press(within(dialog, rules.newRule))
        await closed()
        await row(environment).getByText(rules.ofTeam("sre")).waitFor()
      }),
    /** Removes a member from the team in a second tab, while the review stays open. */
    takeFromTeam: (handle: string, team: string, member: string) =>
      step(async () => {
        await settings(handle, "/approvals")
        await keys.press(within(row(team).last(), rules.edit))
        await keys.type(dialog.getByLabel(member, { exact: true }), "")
        await page.keyboard.press("Space")
        await keys.press(within(dialog, terms.save))
        await closed()
        await row(team).getByText(rules.membersOf(1)).waitFor()
      }),
    install: (url: string) =>
      step(async () => {
        const { [language]: words } = installWords
        await page.goto(`${origin}/new`)
        await labelled(page, words.url).fill(url)
        await within(page, words.read).click()
        await page.getByLabel(words.name, { exact: true }).fill("greeter", { timeout: patience })
        await page.getByLabel(words.environment, { exact: true }).fill("production")
        await within(page, words.makePlan).click()
        await page.waitForURL("**/runs/*", { timeout: patience })
      }),
    planAgain: step(async () => {
      await keys.press(page.locator(".trail").getByRole("link", { name: "greeter" }))
      await keys.press(within(page, capsuleWords[language].plan))
      await page.waitForURL("**/runs/*", { timeout: patience })
    }),
    run: step(() => Promise.resolve(new URL(page.url()).pathname)),
    watchRuns: (handle: string) => step(() => page.goto(`${origin}/w/${handle}/runs`)),
    /** The Run appears in the list that is already open. */
    openRun: (path: string) =>
      step(async () => {
        const link = page.locator(`a[href="${path}"]`).first()
        await link.waitFor({ timeout: patience })
        await keys.press(link)
        await page.waitForURL(`**${path}`)
      }),
    ownRefused: step(async () => {
      await review.getByText(decision.reviewTitle).waitFor({ timeout: patience })
      await approvals.getByText(standing.missing(1, standing.roles.admin, "sre")).waitFor()
      await approvals.getByText(standing.yours(standing.problems.plan_author)).waitFor()
      expect(await within(review, decision.approveAndApply).isDisabled()).toBe(true)
    }),
    approve: step(async () => {
      await review.getByText(decision.reviewTitle).waitFor({ timeout: patience })
      await keys.press(within(review, decision.approveAndApply))
      await keys.type(labelled(dialog, decision.comment), comment)
      await keys.press(within(dialog, decision.approveOnly))
      await closed()
      await review.getByText(decision.approvedTitle).waitFor()
    }),
    seesApproval: step(async () => {
      await review.getByText(decision.approvedTitle).waitFor({ timeout: patience })
      await approvals.getByText(standing.approved("Ken")).waitFor()
      await approvals.getByText(comment).waitFor()
    }),
    askToApply: step(async () => {
      await keys.press(within(review, decision.applyNow))
      await dialog.waitFor()
    }),
    apply: step(async () => {
      const plan = page.url()
      await keys.press(within(dialog, decision.applyNow))
      await page.waitForURL((url) => url.href !== plan)
      await page.locator(".page-name .status-good").waitFor({ timeout: patience })
    }),
    /** Sends the request directly, because the page does not offer it. */
    applyRefused: step(async () => {
      const [status, answer] = await page.evaluate(
        async (path) => {
          const response = await fetch(`/api/v1${path}/apply`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: "{}"
          })
          return [response.status, await response.text()] as const
        },
        new URL(page.url()).pathname.replace(/^.*(?=\/runs\/)/, "")
      )
      expect([status, answer]).toEqual([409, expect.stringContaining("Not applied.")])
    }),
    seesLapse: step(async () => {
      await approvals.getByText(standing.notCounted(standing.problems.team)).waitFor({ timeout: patience })
      await review.getByText(decision.reviewTitle).waitFor()
      expect(await within(review, decision.approveAndApply).isDisabled()).toBe(true)
    })
  }
}

/**
 * Removes the expected refusals, and the invitation page's failed request about the signed-in person, from the list of
 * faults.
 */
const unexpected = (faults: ReadonlyArray<string>) => faults.filter((text) => !/status of 4(?:01|09)/.test(text))

describe.each([
  ["en", "ja"],
  ["ja", "en"]
] as const)("Approval by two people, the owner in %s and the approver in %s", (first, second) => {
  it.live(
    "a rule rejects the author's approval and accepts a team member's approval, which lapses when the membership ends",
    () =>
      Effect.gen(function* () {
        const repository = yield* notesRepository(module)
        const { network, setupLink } = yield* realServer(repository.origin, ["--runner-isolation=off"])
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const open = (language: Language) =>
          step(() => browser.open({ language, theme: language === "en" ? "light" : "dark" }))
        const [owners, approvers] = yield* Effect.all([open(first), open(second)])
        const owner = personIn(owners.page, first, network.origin)
        const approver = personIn(approvers.page, second, network.origin)

        const handle = yield* owner.setUp(setupLink)
        yield* approver.join(yield* owner.invite(handle))
        yield* owner.makeAdmin(handle, "Ken")
        yield* owner.addTeam(handle, "sre", ["Mina", "Ken"])
        yield* owner.addRule("production")

        yield* approver.watchRuns(handle)
        yield* owner.install(repository.url)
        yield* approver.openRun(yield* owner.run)
        yield* owner.ownRefused
        yield* approver.approve
        yield* owner.seesApproval
        yield* owner.askToApply
        yield* owner.apply

        yield* approver.watchRuns(handle)
        yield* owner.planAgain
        yield* approver.openRun(yield* owner.run)
        yield* approver.approve
        yield* owner.seesApproval
        const tab = yield* step(() => owners.page.context().newPage())
        yield* personIn(tab, first, network.origin).takeFromTeam(handle, "sre", "Ken")
        yield* owner.seesLapse
        yield* owner.applyRefused
        expect([owners.faults, approvers.faults].map(unexpected)).toEqual([[], []])
      }).pipe(Effect.provide(NodeServices.layer)),
    300_000
  )
})
