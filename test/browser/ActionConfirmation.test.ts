import { describe, expect, test } from "bun:test"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

describe("Action confirmations", () => {
  test("an action is shown with the program that requested it, and approved after the person confirms their identity", async () => {
    const { page, faults, go } = await suite.visit()
    const sent: Array<unknown> = []
    let confirmed = false
    await page.route("**/auth/confirmation/password", async (route) => {
      confirmed = true
      await route.fulfill({ status: 204 })
    })
    await page.route("**/auth/confirmation/decide", async (route) => {
      sent.push(route.request().postDataJSON())
      const error = { code: "reauthentication_required", message: "Confirm first.", requestId: "req_test" }
      await route.fulfill(confirmed ? { status: 204 } : { status: 403, json: { error } })
    })
    await go("/confirm?code=BCDF-GHJK", ".form-actions .button-primary")
    const shown = await page.locator(".facts").innerText()
    for (const fact of ["Create a new webhook secret", "acme", "infrastructure", "svc-cli", "BCDF-GHJK"]) {
      expect(shown).toContain(fact)
    }
    await page.getByRole("button", { name: "Approve" }).click()
    const question = page.getByRole("dialog", { name: "Confirm that it is you" })
    await question.getByLabel("Your password").fill("correct horse battery")
    await page.keyboard.press("Enter")
    await page.getByText("The program continues automatically.").waitFor()
    const approval = { userCode: "BCDF-GHJK", decision: "approve" }
    expect(sent).toEqual([approval, approval])
    expect(faults.filter((fault) => !fault.includes("403"))).toEqual([])
  })

  test("a person can find an action by typing its code, and then deny the action", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go("/confirm", "input")
    await page.getByLabel("Code that the program shows").fill("ZZZZ-ZZZZ")
    await page.keyboard.press("Enter")
    await page.getByText("No action waits for this code.").waitFor()
    await page.getByRole("button", { name: "Enter another code" }).click()
    await page.getByLabel("Code that the program shows").fill("BCDF-GHJK")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Deny" }).click()
    await page.getByText("The request was refused, and nothing was changed.").waitFor()
    expect(api.changes.map(({ method, path }) => `${method} ${path}`)).toContain("POST /auth/confirmation/decide")
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([])
  })
})
