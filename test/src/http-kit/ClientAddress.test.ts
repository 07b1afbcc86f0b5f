import { expect, test } from "bun:test"
import { clientAddress, parseAddressRange } from "../../../src/http-kit/ClientAddress.ts"

const trusted = ["10.0.0.0/8", "2001:db8::1"].flatMap((text) => {
  const range = parseAddressRange(text)
  return range === undefined ? [] : [range]
})

test("the client's address is the address of the connection, unless a trusted proxy forwards another address", () => {
  for (const [peer, forwarded, expected] of [
    ["203.0.113.9", null, "203.0.113.9"],
    ["203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["10.1.2.3", null, "10.1.2.3"],
    ["10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["::ffff:10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["2001:db8::1", "198.51.100.1, 10.9.9.9", "198.51.100.1"],
    // The client controls the first values. Each proxy appends a value.
    ["10.1.2.3", "1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1"],
    ["10.1.2.3", "10.7.7.7", "10.1.2.3"],
    ["10.1.2.3", "unknown", "10.1.2.3"],
    ["10.1.2.3", "", "10.1.2.3"]
  ] as const) {
    expect(clientAddress(peer, forwarded, trusted)).toBe(expected)
  }
  expect(clientAddress(undefined, "198.51.100.1", trusted)).toBeUndefined()
  for (const text of ["", "10.0.0.0/33", "proxy", "10.0.0.1/8/8"]) expect(parseAddressRange(text)).toBeUndefined()
})
