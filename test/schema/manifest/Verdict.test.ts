import { expect, test } from "bun:test"
import { Schema } from "effect"
import { linkVerdict, manifestVerdict, sourceOptionsVerdict, Verdict } from "../../../schema/manifest/Verdict.ts"
import { bytes, endpoint, fullModule, manifest, oidc } from "./ManifestFixture.ts"
import { validOptions } from "./SourceOptionsFixture.ts"

test("the verdict on a valid document contains its version", () => {
  expect(manifestVerdict(bytes(manifest("svc.com/v2.4", fullModule)))).toEqual({
    status: "valid",
    apiVersion: "svc.com/v2.4",
    diagnostics: []
  })
  expect(sourceOptionsVerdict(bytes(validOptions))).toEqual({
    status: "valid",
    apiVersion: "install.svc.com/v1alpha1",
    diagnostics: []
  })
  expect(linkVerdict("https://svc.example/install?git=https%3A%2F%2Fg.example%2Fa")).toEqual({
    status: "valid",
    diagnostics: []
  })
})

test("the verdict on a valid document lists the modules that are always rejected", () => {
  const bound = oidc({ deliver: { bindings: { accountsUrl: "A", issuerUrl: "B", clientId: "C", redirectUri: "D" } } })
  expect(manifestVerdict(bytes(manifest("svc.com/v2.3", { requires: [endpoint(), bound] })))).toMatchObject({
    status: "valid",
    diagnostics: [
      {
        path: "/install/modules/./requires/1/deliver/bindings",
        code: "oidc_bindings_need_v2_4",
        message: expect.stringContaining("svc.com/v2.4")
      }
    ]
  })
})

test("the verdict on an invalid document contains the reasons, and the version if it was recognised", () => {
  expect(manifestVerdict(bytes({ ...manifest("svc.com/v1"), $schema: "x" }))).toEqual({
    status: "invalid",
    apiVersion: "svc.com/v1",
    diagnostics: [{ path: "/$schema", code: "unknown_field", message: "This version has no such field; remove it." }]
  })
  expect(manifestVerdict(new Uint8Array())).toMatchObject({
    status: "invalid",
    diagnostics: [{ path: "", code: "json_syntax" }]
  })
  expect(sourceOptionsVerdict(bytes({}))).toMatchObject({ status: "invalid" })
  expect(linkVerdict("https://svc.example/install?product=app")).toMatchObject({ status: "invalid" })
})

test("a verdict contains only JSON values", () => {
  const verdict = manifestVerdict(bytes({ ...manifest("svc.com/v1"), kind: 1 }))
  expect(Schema.decodeUnknownSync(Verdict)(JSON.parse(JSON.stringify(verdict)))).toEqual(verdict)
})
