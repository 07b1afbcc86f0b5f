import { describe, expect, test } from "bun:test"
import { hostAddress, isPublicAddress } from "../../../runner/git/AddressPolicy.ts"

describe("AddressPolicy", () => {
  for (const address of [
    "1.1.1.1",
    "93.184.216.34",
    "172.15.255.255",
    "172.32.0.1",
    "100.63.0.1",
    "2606:4700::1111",
    "2a00::1"
  ])
    test(`the address policy treats ${address} as public`, () => expect(isPublicAddress(address)).toBe(true))

  for (const address of [
    "0.0.0.0",
    "0.1.2.3",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "not an address",
    ""
  ])
    test(`the address policy does not treat ${JSON.stringify(address)} as public`, () =>
      expect(isPublicAddress(address)).toBe(false))

  test("the address policy distinguishes IP addresses from host names", () => {
    expect(hostAddress("[::1]")).toBe("::1")
    expect(hostAddress("127.0.0.1")).toBe("127.0.0.1")
    expect(hostAddress("localhost")).toBeUndefined()
  })
})
