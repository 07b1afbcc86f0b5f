import { expect, test } from "bun:test"
import { shownDeclaration } from "../../../../actors/ledger/source/ShownDeclaration.ts"

const declared = { description: "The size", typeExpression: "number", defaultJson: "3" }

test("a form shows what the module declares about an input, but not the default of a secret one", () => {
  expect(shownDeclaration(declared, false)).toEqual(declared)
  expect(shownDeclaration(declared, true)).toEqual({ description: "The size", typeExpression: "number" })
})

test("long values are left out", () => {
  const [fits, long] = ["x".repeat(2000), "x".repeat(2001)]
  expect(shownDeclaration({ typeExpression: fits, defaultJson: fits }, false)).toEqual({
    typeExpression: fits,
    defaultJson: fits
  })
  expect(shownDeclaration({ typeExpression: long, defaultJson: long }, false)).toEqual({})
})
