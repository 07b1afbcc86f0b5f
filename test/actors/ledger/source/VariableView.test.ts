import { expect, test } from "bun:test"
import { shownDeclaration } from "../../../../actors/ledger/source/VariableView.ts"

const declared = { description: "The size", typeExpression: "number", defaultJson: "3" }

test("a form shows each input as the module declares it, but hides secret defaults", () => {
  expect(shownDeclaration(declared, false)).toEqual(declared)
  expect(shownDeclaration(declared, true)).toEqual({ description: "The size", typeExpression: "number" })
})

test("a form omits values that are too long", () => {
  const [fits, long] = ["x".repeat(2000), "x".repeat(2001)]
  expect(shownDeclaration({ typeExpression: fits, defaultJson: fits }, false)).toEqual({
    typeExpression: fits,
    defaultJson: fits
  })
  expect(shownDeclaration({ typeExpression: long, defaultJson: long }, false)).toEqual({})
})
