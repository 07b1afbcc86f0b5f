import { expect, test } from "bun:test"
import {
  connectionRevoked,
  connectionRotated,
  rotationProblem
} from "../../../../actors/inputs/connection/RotatedConnections.ts"

const use = { connectionVersion: 2 }
const row = { status: "verified", version: 2 } as const

test("a plan keeps its credentials while the Connection's values are unchanged", () => {
  expect(rotationProblem(use, row)).toBeUndefined()
  expect(rotationProblem(use, { ...row, status: "expired" })).toBeUndefined()
  expect(rotationProblem(use, { ...row, version: 3 })).toBe(connectionRotated)
  expect(rotationProblem(use, { ...row, version: 1 })).toBe(connectionRotated)
})

test("a plan that does not record a version is treated as created with the Connection's first values", () => {
  expect(rotationProblem(undefined, { ...row, version: 1 })).toBeUndefined()
  expect(rotationProblem(undefined, row)).toBe(connectionRotated)
})

test("a revoked Connection is reported as revoked, not as rotated, and a removed Connection is not reported", () => {
  expect(rotationProblem(use, { ...row, status: "revoked", version: 3 })).toBe(connectionRevoked)
  expect(rotationProblem(use, undefined)).toBeUndefined()
})
