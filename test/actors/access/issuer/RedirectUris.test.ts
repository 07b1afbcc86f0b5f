import { expect, test } from "bun:test"
import { isRegisteredRedirect, redirectUriFault } from "../../../../actors/access/issuer/RedirectUris.ts"

test.each([
  "https://app.example.com/callback",
  "https://app.example.com/callback?tenant=a",
  "http://127.0.0.1:8080/callback",
  "http://[::1]/callback",
  "http://localhost:3000/callback"
])("the redirect address %s is accepted for every type of client", (uri) => {
  expect([redirectUriFault(uri, "web"), redirectUriFault(uri, "native")]).toEqual([undefined, undefined])
})

test("only native clients may redirect to a custom scheme", () => {
  expect(redirectUriFault("com.example.app:/callback", "native")).toBeUndefined()
  expect(redirectUriFault("com.example.app:/callback", "web")).toContain("only native clients")
})

test.each([
  ["", "no absolute URI"],
  ["/callback", "no absolute URI"],
  ["https://app.example.com/a b", "no absolute URI"],
  ["https://app.example.com/\n", "no absolute URI"],
  ["https://app.example.com/#", "fragment"],
  ["https://app.example.com/#a", "fragment"],
  ["https://user@app.example.com/", "user name or password"],
  ["https://:secret@app.example.com/", "user name or password"],
  ["https://*.example.com/", "wildcard"],
  ["http://app.example.com/", "http outside loopback"],
  ["http://localhost.example.com/", "http outside loopback"],
  ["http://localhost@app.example.com/", "user name or password"],
  ["http://127.0.0.2/", "http outside loopback"],
  ["javascript:alert(1)", "browsers run"],
  ["data:text/html,a", "browsers run"],
  ["file:///a", "browsers run"],
  ["view-source:https://app.example.com", "browsers run"]
])("the redirect address %p is refused: %s", (uri, fault) => {
  expect(redirectUriFault(uri, "web")).toContain(fault)
  expect(redirectUriFault(uri, "native")).toContain(fault)
})

test("redirect URIs are compared character by character", () => {
  const registered = ["https://app.example.com/callback"]
  for (const type of ["web", "native"] as const) {
    expect(isRegisteredRedirect("https://app.example.com/callback", registered, type)).toBe(true)
    for (const given of [
      "https://app.example.com/callback/",
      "https://app.example.com/callback?a",
      "https://app.example.com:443/callback",
      "https://APP.example.com/callback",
      "https://app.example.com/Callback",
      "https://app.example.com"
    ])
      expect([given, isRegisteredRedirect(given, registered, type)]).toEqual([given, false])
  }
})

test("a native client's loopback redirect URI may differ only in its port", () => {
  const registered = ["http://127.0.0.1/callback", "http://[::1]:1/callback"]
  expect(isRegisteredRedirect("http://127.0.0.1:50000/callback", registered, "native")).toBe(true)
  expect(isRegisteredRedirect("http://[::1]:50000/callback", registered, "native")).toBe(true)
  expect(isRegisteredRedirect("http://127.0.0.1:50000/callback", registered, "web")).toBe(false)
  for (const given of [
    "http://127.0.0.1:50000/other",
    "http://127.0.0.1:50000/callback?a",
    "http://127.0.0.2:50000/callback",
    "http://127.0.0.1:50000@evil.example/callback",
    "http://127.0.0.1.evil.example/callback",
    "https://127.0.0.1:50000/callback",
    "http://localhost:50000/callback"
  ])
    expect([given, isRegisteredRedirect(given, registered, "native")]).toEqual([given, false])
})

test("a localhost address registered without a port accepts any development server port", () => {
  for (const type of ["web", "native"] as const) {
    const open = ["http://localhost/callback"]
    for (const given of [
      "http://localhost/callback",
      "http://localhost:3000/callback",
      "http://localhost:5173/callback"
    ])
      expect([given, isRegisteredRedirect(given, open, type)]).toEqual([given, true])
    for (const given of [
      "http://localhost:3000/other",
      "http://localhost:3000/callback?a",
      "http://LOCALHOST:3000/callback",
      "https://localhost:3000/callback",
      "http://127.0.0.1:3000/callback",
      "http://localhost.example.com/callback",
      "http://localhost:3000@evil.example/callback",
      "http://localhost:/callback"
    ])
      expect([given, isRegisteredRedirect(given, open, type)]).toEqual([given, false])
  }
  expect(isRegisteredRedirect("http://localhost:5173/callback", ["http://localhost:3000/callback"], "web")).toBe(false)
})
