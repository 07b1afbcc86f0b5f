import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

const refusal = (code: string, message: string) => ({
  status: 403,
  json: { error: { code, message, requestId: "req_test" } }
})

/**
 * Refuses to hand over the Workspace until the person has confirmed with the right password. Returns the passwords that were
 * seen, as right or wrong.
 */
const askingOnce = async (page: Page) => {
  const seen: Array<string> = []
  let confirmed = false
  await page.route("**/auth/confirmation/password", async (route) => {
    const right = route.request().postData()?.includes("correct horse battery") === true
    confirmed = right
    seen.push(right ? "right password" : "wrong password")
    await route.fulfill(right ? { status: 204 } : refusal("permission_denied", "The password is wrong."))
  })
  await page.route("**/ownership", async (route) => {
    seen.push(confirmed ? "hand over" : "asked")
    const member = { subject: "usr_1", role: "owner", status: "active" }
    await route.fulfill(
      confirmed
        ? { status: 200, json: { owner: member, previousOwner: member } }
        : refusal("reauthentication_required", "Confirm first.")
    )
  })
  return seen
}

const handOver = async (page: Page) => {
  await page.getByRole("button", { name: "Hand over" }).first().click()
  const dialog = page.getByRole("dialog", { name: /^Hand over the ownership/ })
  await dialog.getByRole("button", { name: "Hand over", exact: true }).click()
  return dialog
}

describe("Sensitive actions", () => {
  test("a sensitive action waits until it is confirmed by keyboard, and then continues automatically", async () => {
    const { page, faults, go } = await suite.visit()
    const seen = await askingOnce(page)
    await go("/w/acme/settings", ".row-static")
    const action = await handOver(page)
    const question = page.getByRole("dialog", { name: "Confirm that it is you" })
    const password = question.getByLabel("Your password")
    await password.waitFor()
    await password.focus()
    await page.keyboard.type("not it")
    await page.keyboard.press("Enter")
    await question.getByText("The password is wrong.").waitFor()
    await password.fill("correct horse battery")
    await page.keyboard.press("Enter")
    await question.waitFor({ state: "detached" })
    await action.waitFor({ state: "detached" })
    expect(seen).toEqual(["asked", "wrong password", "right password", "hand over"])
    expect(faults.filter((fault) => !fault.includes("403"))).toEqual([])
  })

  test("a sensitive action is not carried out if the person does not confirm", async () => {
    const { page, go } = await suite.visit()
    const seen = await askingOnce(page)
    await go("/w/acme/settings", ".row-static")
    const action = await handOver(page)
    const question = page.getByRole("dialog", { name: "Confirm that it is you" })
    await question.getByLabel("Your password").waitFor()
    await page.keyboard.press("Escape")
    await question.waitFor({ state: "detached" })
    await action.getByText("you did not confirm that it is you").waitFor()
    expect(seen).toEqual(["asked"])
  })

  test("a sensitive action can be confirmed at the provider, which then redirects back to the same page", async () => {
    const { page, go } = await suite.visit()
    await askingOnce(page)
    await go("/w/acme/settings", ".row-static")
    await handOver(page)
    const link = page.getByRole("link", { name: "Confirm with login.acme.example" })
    expect(await link.getAttribute("href")).toBe("/auth/upstream/start?confirm=true&return=%2Fw%2Facme%2Fsettings")
  })
})

describe("Second factor", () => {
  test("the second factor is set up with a first code, shows recovery codes once, and can be turned off", async () => {
    const { page, faults, go } = await suite.visit()
    await go("/account", ".row-static")
    await page.getByRole("button", { name: "Set up", exact: true }).click()
    const dialog = page.getByRole("dialog", { name: "Second factor" })
    await dialog.getByText("JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP").waitFor()
    await dialog.getByLabel("Code").fill("000000")
    await page.keyboard.press("Enter")
    await dialog.getByText("The code is wrong.").waitFor()
    await dialog.getByLabel("Code").fill("123456")
    await page.keyboard.press("Enter")
    const codes = page.getByRole("dialog", { name: "Your recovery codes" })
    await codes.getByText("aaaa-bbbb-cccc-ddd2").waitFor()
    await codes.getByRole("button", { name: "I have saved them" }).click()
    await page.getByText("10 recovery codes left").waitFor()
    expect(await page.content()).not.toContain("aaaa-bbbb-cccc-ddd2")
    await page.getByRole("button", { name: "Turn off", exact: true }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Turn off", exact: true }).click()
    await page.getByRole("button", { name: "Set up", exact: true }).waitFor()
    expect(faults.filter((fault) => !fault.includes("401"))).toEqual([])
  })

  test("the second factor is required at sign-in, after the password", async () => {
    const world = newWorld()
    world.signedIn = false
    const { page, go } = await suite.visit(undefined, world)
    const given: Array<unknown> = []
    await page.route("**/auth/sign-in", async (route) => {
      const { code } = route.request().postDataJSON()
      given.push(code)
      if (code === "123456") return route.fulfill({ status: 200, json: {} })
      const error = { code: "second_factor_required", message: "The code.", requestId: "req_test" }
      return route.fulfill({ status: 401, json: { error } })
    })
    await go("/sign-in")
    await page.getByLabel("E-mail address").fill("mina@acme.example")
    await page.getByLabel("Password").fill("correct horse battery")
    await page.keyboard.press("Enter")
    await page.getByText("Now the code of your second factor.").waitFor()
    const code = page.getByLabel("Code from your authenticator")
    await code.fill("000000")
    await page.keyboard.press("Enter")
    await page.getByText("The code is wrong").waitFor()
    await code.fill("123456")
    await page.keyboard.press("Enter")
    await page.waitForURL((url) => url.pathname !== "/sign-in")
    expect(given).toEqual([undefined, "000000", "123456"])
  })
})
