import { expect, test } from "bun:test"
import { httpsForm, isReadable } from "../../../schema/git/HttpsForm.ts"

test("an ssh address is converted to https", () => {
  expect(httpsForm("git@github.com:acme/shop.git")).toBe("https://github.com/acme/shop.git")
  expect(httpsForm(" git@git.acme.example:infra/deep/shop ")).toBe("https://git.acme.example/infra/deep/shop")
  expect(httpsForm("ssh://git@git.acme.example:2222/infra/shop.git")).toBe("https://git.acme.example/infra/shop.git")
  for (const text of [
    "https://github.com/acme/shop.git",
    "git@github.com",
    "a b:c",
    "C:/windows",
    "",
    "git@host.example:/x"
  ])
    expect([text, httpsForm(text)]).toEqual([text, undefined])
})

test("svc can read only a complete https address without credentials", () => {
  expect(isReadable(" https://github.com/acme/shop.git")).toBe(true)
  for (const text of [
    "https://github.com",
    "git@github.com:acme/shop.git",
    "https://user:secret@host.example/x",
    "hello"
  ])
    expect([text, isReadable(text)]).toEqual([text, false])
})
