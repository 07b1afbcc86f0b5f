import { expect, test } from "bun:test"
import { Redacted } from "effect"
import { returnRedirect } from "../../../schema/handoff/ReturnRedirect.ts"

const payload = { hostUrl: "https://svc.example", runId: "run_1", capsuleId: "cap_1" }

test("a return redirect appends the payload exactly (R3)", () => {
  const redirect = returnRedirect({ product: "app", returnUri: "myapp://done" }, payload)
  expect(Redacted.value(redirect)).toBe(
    "myapp://done?host_url=https%3A%2F%2Fsvc.example&product=app&run_id=run_1&capsule_id=cap_1"
  )
})

test("payload values cannot add fields to the return address (R3)", () => {
  const target = { product: "app", returnUri: "https://app.example/cb" }
  const redirect = returnRedirect(target, { ...payload, capsuleId: "cap_1&setup_ticket=x#y" })
  const url = new URL(Redacted.value(redirect))
  expect([...url.searchParams.keys()]).toEqual(["host_url", "product", "run_id", "capsule_id"])
  expect(url.hash).toBe("")
})

test("the return URL contains the ticket, but printed text never does (R3)", () => {
  const redirect = returnRedirect(
    { product: "app", returnUri: "https://app.example" },
    { ...payload, setupTicket: Redacted.make("svct_canary") }
  )
  expect(new URL(Redacted.value(redirect)).searchParams.get("setup_ticket")).toBe("svct_canary")
  expect(`${redirect} ${JSON.stringify(redirect)} ${Bun.inspect(redirect)}`).not.toContain("canary")
})
