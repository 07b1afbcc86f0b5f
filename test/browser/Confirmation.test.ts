import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

const refusal = (code: string, message: string) => ({
  status: 403,
  json: { error: { code, message, requestId: "req_test" } }
})

/** The server asks once for the person, and then lets the hand-over through. */
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
  await page.getByRole("button", { name: "Hand over", exact: true }).first().click()
  const dialog = page.getByRole("dialog", { name: /^Hand over the ownership/ })
  await dialog.getByRole("button", { name: "Hand over", exact: true }).click()
  return dialog
}

describe("a sensitive action", () => {
  test("waits for the person, by keyboard, and goes on by itself", async () => {
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
    await question.getByText("The password is not right.").waitFor()
    await password.fill("correct horse battery")
    await page.keyboard.press("Enter")
    await question.waitFor({ state: "detached" })
    await action.waitFor({ state: "detached" })
    expect(seen).toEqual(["asked", "wrong password", "right password", "hand over"])
    expect(faults.filter((fault) => !fault.includes("403"))).toEqual([])
  })

  test("is left undone when the person does not confirm", async () => {
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

  test("can be confirmed at the provider, which leads back to the same page", async () => {
    const { page, go } = await suite.visit()
    await askingOnce(page)
    await go("/w/acme/settings", ".row-static")
    await handOver(page)
    const link = page.getByRole("link", { name: "Confirm with login.acme.example" })
    expect(await link.getAttribute("href")).toBe("/auth/upstream/start?confirm=true&return=%2Fw%2Facme%2Fsettings")
  })
})
